use nodeb_air::UserRadio;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::tally::Tally;
use nodeb_air::mac::band::{Groups, MAX_GROUPS, Row};
use nodeb_air::mac::harq::block::{self, Answer, Draws, Rules, SentBlock};
use nodeb_air::mac::harq::processes::Processes;
use nodeb_air::mac::multiplexing::{self, LogicalChannels};
use nodeb_air::mac::outer_loop::{Correction, OuterLoop};
use nodeb_air::rlc::lte::Filled;
use nodeb_base::context::Context;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;

use super::{DownlinkUser, LinkRules};
use crate::ofdma::channel::{Carrier, Channel, Responses};
use crate::ofdma::numbered::emit_numbers;
use crate::ofdma::reports::{Report, ReportRules};
use crate::ofdma::standard::{CQIS, Format, Standard};

pub const HEADERS: f32 = multiplexing::HEADERS as f32;

#[derive(Clone, Copy, Debug)]
struct Sent {
    format: Format,
    /// Of the first transmission.
    resource_blocks: u16,
}

/// Its SNR is the effective one.
type Block = block::Block<Sent>;

/// One, or two on different layers.
#[derive(Clone, Debug, Default)]
pub struct Blocks([Option<Block>; 2]);

impl Blocks {
    fn add(&mut self, block: Block) {
        let free = self.0.iter_mut().find(|place| place.is_none());
        debug_assert!(free.is_some(), "a third block");
        if let Some(place) = free {
            *place = Some(block);
        }
    }

    fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    fn iter(&self) -> impl Iterator<Item = &Block> {
        self.0.iter().flatten()
    }

    fn layers(&self) -> u8 {
        self.iter().map(|block| block.format.format.layers).sum()
    }

    pub fn resource_blocks(&self) -> u16 {
        self.iter().map(|block| block.format.resource_blocks).max().unwrap_or(0)
    }
}

#[derive(Debug)]
pub struct User {
    pub channel: Channel,
    pub report: Report,
    pub processes: Processes<Blocks>,
    pub bearers: LogicalChannels,
    pub tally: Tally,
    /// Of reported SNRs in dB.
    correction: Option<Correction<f64>>,
    /// Recorded bit rates determine the blocks, which cannot fail.
    has_rates: bool,
    /// Index among the cell's.
    formats: usize,
    next_block: u64,
    /// Largest block of the category.
    block_bits: u32,
    /// Largest of the category.
    tti_bits: u32,
    draws: Box<Draws>,
}

impl User {
    pub fn new(
        setup: DownlinkUser,
        links: &LinkRules,
        user: &UserRadio,
        carrier: Carrier,
        streams: Streams,
        responses: &mut Responses,
    ) -> Self {
        let DownlinkUser { bearers, formats, block_bits, tti_bits, antennas } = setup;
        let has_rates = user.ue.channel.facts().has_rates;
        let report = if has_rates {
            Report::new(ReportRules { delay: 0, cycle: 1 }, user.id, 1)
        } else {
            Report::new(links.reports, user.id, antennas.receive)
        };
        Self {
            channel: Channel::new(&user.ue.channel, carrier, user.id, &streams, responses),
            report,
            processes: Processes::new(links.processes, u64::MAX),
            bearers,
            tally: Tally::default(),
            correction: links.outer_loop.as_ref().map(OuterLoop::correction_db),
            has_rates,
            formats,
            next_block: 0,
            block_bits,
            tti_bits,
            draws: Box::new(Draws::new(user.id, &streams)),
        }
    }

    /// True if the report is a new one.
    pub fn measure<S: Standard>(&mut self, tti: u64, cell: &Cell<S>) -> bool {
        let Self { report, channel, .. } = self;
        report.refresh(tti, channel, cell.sequence, &cell.formats[self.formats])
    }

    pub fn cqi_at<S: Standard>(&self, snr: f32, cell: &Cell<S>) -> u8 {
        cell.formats[self.formats].cqi(snr)
    }

    /// On one layer; NaN for CQI 0.
    pub fn block_bytes<'a, S: Standard>(&self, cell: &Cell<'a, S>) -> &'a [f32; CQIS as usize] {
        cell.formats[self.formats].block_bytes()
    }

    /// Of all resource blocks, at the recorded bit rate.
    pub fn recorded_bits(&self, tti: u64) -> Option<u32> {
        if self.has_rates { self.channel.recorded().map(|recorded| recorded.bits(tti)) } else { None }
    }

    /// ACKs and NACKs of first transmissions, for the outer loop.
    pub fn listen(&mut self, tti: u64) {
        if let Some(correction) = &mut self.correction {
            self.processes.take_answers(tti, |answer| correction.on_answer(answer));
        }
    }

    /// If the data do not fit, moves groups from `spare` to the blocks.
    pub fn send_new<S: Standard>(
        &mut self,
        tti: u64,
        mut groups: Groups,
        spare: &mut Groups,
        cell: &Cell<S>,
        sent: &mut Vec<SentBlock>,
    ) {
        while let Some(group) = spare.into_iter().find(|group| self.report.cqis[*group] > 0)
            && !self.fits(tti, groups, self.report.layers, cell)
        {
            spare.remove(group);
            groups.insert(group);
        }
        let mut blocks = Blocks::default();
        let layers = self.layers_of_new(tti, groups, cell);
        for of_block in layers.into_iter().filter(|layers| *layers > 0) {
            if let Some(block) = self.new_block(tti, groups, of_block, layers[0] + layers[1], cell) {
                blocks.add(block);
            }
        }
        if !blocks.is_empty()
            && let Some((index, _)) = self.processes.begin(tti)
        {
            self.transmit(tti, groups, index, &mut blocks, cell, sent);
        }
    }

    /// If only one block is due and the report allows more layers, the other layers carry a new block.
    pub fn send_again<S: Standard>(
        &mut self,
        tti: u64,
        groups: Groups,
        cell: &Cell<S>,
        sent: &mut Vec<SentBlock>,
    ) {
        let Some((index, mut blocks)) = self.processes.take_retransmission(tti) else { return };
        let taken = blocks.layers();
        let layers = self.report.layers.saturating_sub(taken).min(S::MAX_BLOCK_LAYERS);
        if layers > 0
            && blocks.iter().count() == 1
            && self.bearers.sendable() > 0
            && let Some(block) = self.new_block(tti, groups, layers, taken + layers, cell)
        {
            blocks.add(block);
        }
        self.transmit(tti, groups, index, &mut blocks, cell, sent);
    }

    pub fn emit_numbers(&mut self, ctx: &mut Context, user: usize) {
        emit_numbers(ctx, user, &mut self.bearers);
    }

    /// Those of the report, or one layer if all data fit in it; 0 for no second block.
    fn layers_of_new<S: Standard>(&self, tti: u64, groups: Groups, cell: &Cell<S>) -> [u8; 2] {
        const ONE: [u8; 2] = [1, 0];
        let layers = self.report.layers;
        if layers == 1 || self.fits(tti, groups, 1, cell) {
            return ONE;
        }
        S::layers_of_blocks(layers).unwrap_or(ONE)
    }

    fn fits<S: Standard>(&self, tti: u64, groups: Groups, layers: u8, cell: &Cell<S>) -> bool {
        let of_blocks = S::layers_of_blocks(layers).into_iter().flatten().filter(|of_block| *of_block > 0);
        let formats = of_blocks.filter_map(|of_block| self.select(tti, groups, of_block, layers, cell));
        let bits: u32 = formats.map(|format| format.bits).sum();
        self.bearers.sendable() as f32 + HEADERS <= bits as f32 / 8.0
    }

    /// `of` layers are sent in the TTI; `None` if even the smallest block is too large for the category.
    #[inline]
    fn select<S: Standard>(
        &self,
        tti: u64,
        groups: Groups,
        layers: u8,
        of: u8,
        cell: &Cell<S>,
    ) -> Option<Format> {
        if let Some(bits) = self.recorded_bits(tti) {
            let band = cell.formats[self.formats].band();
            let share = f64::from(band.blocks_in(groups)) / f64::from(band.blocks_in(band.all()));
            return Some(Format { mcs: 0, bits: (f64::from(bits) * share) as u32, layers: 1 });
        }
        let factor = self.correction.as_ref().map_or(1.0, Correction::factor);
        let most_bits = self.block_bits.min(self.tti_bits / u32::from(of) * u32::from(layers));
        let formats = &cell.formats[self.formats];
        formats.select_by_cqis(tti, groups, layers, &self.report.cqis, factor, most_bits)
    }

    /// `of` layers are sent in the TTI.
    #[inline]
    fn new_block<S: Standard>(
        &mut self,
        tti: u64,
        groups: Groups,
        layers: u8,
        of: u8,
        cell: &Cell<S>,
    ) -> Option<Block> {
        let format = self.select(tti, groups, layers, of, cell)?;
        let filled: Filled = self.bearers.fill(Time(tti * S::TTI.0), format.bits / 8);
        if filled.units.is_empty() {
            return None;
        }
        self.next_block += 1;
        let resource_blocks = cell.formats[self.formats].band().blocks_in(groups);
        let format = Sent { format, resource_blocks };
        let size = filled.bytes();
        Some(Block::new(self.next_block - 1, filled.units, size, format, &mut self.draws))
    }

    // Clause: TS 36.213, 7.3; TS 36.321, 5.3.2: HARQ timing of the downlink
    fn transmit<S: Standard>(
        &mut self,
        tti: u64,
        groups: Groups,
        index: usize,
        blocks: &mut Blocks,
        cell: &Cell<S>,
        sent: &mut Vec<SentBlock>,
    ) {
        let (mut row, layers) = ([0.0; MAX_GROUPS], blocks.layers());
        self.channel.snr_of(cell.sequence, tti, layers, groups, &mut row);
        self.tally.sent_on(layers);
        let (mut oldest, mut answer) = (u64::MAX, None);
        for (place, of_place) in blocks.0.iter_mut().enumerate() {
            let Some(block) = of_place else { break };
            oldest = oldest.min(block.number);
            let (outcome, Answer { acknowledged, is_retransmitted }) =
                self.transmit_block(tti, groups, block, &row, place, cell);
            if outcome.is_new && self.correction.is_some() {
                answer = answer.or_else(|| Some(self.processes.first_answer(tti, acknowledged)));
            }
            if !is_retransmitted {
                *of_place = None;
            }
            sent.push(outcome);
        }
        if blocks.0[0].is_none() && blocks.0[1].is_some() {
            blocks.0.swap(0, 1);
        }
        let at = tti + S::DOWN_RETRANSMISSION_AFTER;
        if blocks.is_empty() {
            // Without moving blocks, which are large.
            self.processes.sent(index, oldest, at, None, answer);
        } else {
            self.processes.sent(index, oldest, at, Some(std::mem::take(blocks)), answer);
        }
    }

    /// `place` is 1 for the second block of the TTI.
    #[inline]
    fn transmit_block<S: Standard>(
        &mut self,
        tti: u64,
        groups: Groups,
        block: &mut Block,
        row: &Row,
        place: usize,
        cell: &Cell<S>,
    ) -> (SentBlock, Answer) {
        let (formats, rules, format) = (&cell.formats[self.formats], cell.rules, block.format.format);
        let snr = formats.effective_snr(format.mcs, row, groups);
        let is_certain = self.has_rates;
        let (sent, answer) = block.send(rules, &mut self.draws, |block, draws| {
            block.combine(f64::from(snr), rules);
            is_certain || block.draw(rules, draws) >= formats.bler(tti, groups, format, block.snr as f32)
        });
        if place == 0 {
            self.tally.sent(f64::from(snr), self.report.cqi, sent.is_new, sent.failed);
        } else {
            self.tally.sent_beside(sent.is_new, sent.failed);
        }
        (sent, answer)
    }
}

#[derive(Debug)]
pub struct Cell<'a, S> {
    pub rules: &'a Rules,
    pub formats: &'a [S],
    pub sequence: &'a JakesSequence,
}
