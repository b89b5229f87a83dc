//! A user of the downlink: channel, state at the base station and receiver.

use std::ops::Range;

use nodeb_base::rng::{Stream, Streams, uniform};

use super::super::Lte;
use super::super::category::Category;
use super::super::channel::{Carrier, Channel, Responses};
use super::super::cqi::CQIS;
use super::super::formats::{Format, Formats};
use super::super::reports::{Report, TTI};
use super::super::timing::DOWN_RETRANSMISSION_AFTER;
use crate::UserRadio;
use crate::cell::doppler::JakesSequence;
use crate::cell::tally::Tally;
use crate::mac::band::{Groups, MAX_GROUPS};
use crate::mac::harq::Decoding;
use crate::mac::harq::processes::Processes;
use crate::pdcp::Transmit;
use crate::rlc::bytes::{Entity, Filled, Framing};

/// Size in octets of the subheader that MAC puts in front of an RLC PDU: two octets, and a third one if the PDU
/// has 128 octets or more (TS 36.321, 6.1.2). The larger one is counted for all PDUs.
const SUBHEADER: u32 = 3;

/// Estimate in octets of the headers of a block beyond those of RLC's own estimate, so that a short remainder gets a
/// block with room for them.
pub const HEADERS: f32 = 8.0;

/// Transport block in a HARQ process.
#[derive(Clone, Debug)]
pub struct Block {
    /// Numbers of the RLC PDUs in the block.
    pub units: Range<u64>,
    /// Octets of the block that are not padding.
    pub bytes: u32,
    number: u64,
    format: Format,
    /// Number of resource blocks of the first transmission.
    pub resource_blocks: u16,
    transmissions: u32,
    /// Effective linear SNR after all transmissions so far.
    snr: f64,
    decoded: bool,
    /// Random number uniform in [0, 1) that decides the first transmission. If decoding uses one random number per
    /// block, this number decides all transmissions.
    draw: f64,
}

/// Block that was sent, with the result of the transmission.
#[derive(Clone, Debug)]
pub struct SentBlock {
    pub number: u64,
    pub units: Range<u64>,
    pub bytes: u32,
    /// Number of transmissions of the block so far.
    pub transmission: u32,
    pub failed: bool,
    /// Final outcome of the block, if this transmission decides it: true if the phone decoded the block for the
    /// first time, false if it is sent no more although it is not decoded. `None` otherwise.
    pub settled: Option<bool>,
}

/// User of the downlink.
#[derive(Debug)]
pub struct User {
    pub channel: Channel,
    pub report: Report,
    pub processes: Processes<Block>,
    pub rlc: Entity,
    pub tally: Tally,
    /// Correction of the outer loop, a factor of reported SNRs in dB.
    shift_db: f64,
    /// Index of the phone's transport formats among those of the cell.
    formats: usize,
    /// Largest block that the phone's category can receive, in bits.
    most_bits: u32,
    /// Number of TTIs that a packet may wait before its deadline.
    pub delay_budget: u64,
    draws: Box<Draws>,
}

/// Random streams of a user, in a box as they are large and only used for transmissions.
#[derive(Debug)]
struct Draws {
    decoding: Stream,
    feedback: Stream,
}

/// Largest correction of the outer loop in either direction, in dB.
const LARGEST_SHIFT_DB: f64 = 6.0;

impl User {
    /// Creates a user with empty queues.
    pub fn new(
        params: &Lte,
        user: &UserRadio,
        carrier: Carrier,
        streams: Streams,
        responses: &mut Responses,
    ) -> Self {
        let queue = params.queue.build(params.peak_rate(), streams.stream("user", user.id, "radio queue"));
        let framing = Framing::new(params.sn_length, SUBHEADER);
        let category = Category::of(user.ue.category).map_or(u32::MAX, |category| category.down_block_bits);
        Self {
            channel: Channel::new(&user.ue.channel, carrier, user.id, &streams, responses),
            report: Report::new(&params.cqi, user.id),
            processes: Processes::new(params.processes.get(), u64::MAX),
            rlc: params.rlc.build(framing, Transmit::new(queue, params.discard_timer)),
            tally: Tally::default(),
            shift_db: 0.0,
            formats: params.formats_of(user.ue.category),
            most_bits: category,
            delay_budget: user.ue.delay_budget.0 / TTI.0,
            draws: Box::new(Draws {
                decoding: streams.stream("user", user.id, "decoding"),
                feedback: streams.stream("user", user.id, "feedback"),
            }),
        }
    }

    /// Brings the report up to date for TTI `tti`. Returns true if it is a new one.
    pub fn measure(&mut self, tti: u64, cell: &Cell) -> bool {
        let Self { report, channel, .. } = self;
        report.refresh(tti, channel, cell.sequence, &cell.formats[self.formats])
    }

    /// Returns the least number of bytes in a resource block at each CQI, NaN for CQI 0.
    pub fn block_bytes<'a>(&self, cell: &Cell<'a>) -> &'a [f32; CQIS as usize] {
        cell.formats[self.formats].block_bytes()
    }

    /// Passes the answers to first transmissions that are known in TTI `tti` to the outer loop.
    pub fn listen(&mut self, tti: u64, params: &Lte) {
        let Some(outer_loop) = &params.cqi.outer_loop else { return };
        let p = outer_loop.target_bler.0;
        let shift = &mut self.shift_db;
        self.processes.take_answers(tti, |acknowledged| {
            let change = if acknowledged { outer_loop.step_db * p / (1.0 - p) } else { -outer_loop.step_db };
            *shift = (*shift + change).clamp(-LARGEST_SHIFT_DB, LARGEST_SHIFT_DB);
        });
    }

    /// Fills a new block on `groups` in TTI `tti` and sends it. Returns `None` if nothing fits.
    pub fn send_new(&mut self, tti: u64, groups: Groups, cell: &Cell) -> Option<SentBlock> {
        let factor = if self.shift_db == 0.0 { 1.0 } else { libm::pow(10.0, self.shift_db / 10.0) as f32 };
        let formats = &cell.formats[self.formats];
        let format = formats.select_by_cqis(tti, groups, &self.report.cqis, factor, self.most_bits)?;
        let filled: Filled = self.rlc.fill(cell.params.beginning(tti), format.bits / 8);
        if filled.units.is_empty() {
            return None;
        }
        let (index, number) = self.processes.begin(tti)?;
        let block = Block {
            bytes: filled.bytes(),
            units: filled.units,
            number,
            format,
            resource_blocks: formats.band().blocks_in(groups),
            transmissions: 0,
            snr: 0.0,
            decoded: false,
            draw: uniform(&mut self.draws.decoding),
        };
        Some(self.transmit(tti, groups, index, block, cell))
    }

    /// Retransmits the block that is due in TTI `tti` on `groups`. Returns `None` if no retransmission is due.
    pub fn send_again(&mut self, tti: u64, groups: Groups, cell: &Cell) -> Option<SentBlock> {
        let (index, block) = self.processes.take_retransmission(tti)?;
        Some(self.transmit(tti, groups, index, block, cell))
    }

    fn transmit(
        &mut self,
        tti: u64,
        groups: Groups,
        index: usize,
        mut block: Block,
        cell: &Cell,
    ) -> SentBlock {
        let params = cell.params;
        block.transmissions += 1;
        let had_been_decoded = block.decoded;
        let snr = self.receive(tti, groups, &mut block, cell);
        let failed = !block.decoded;
        let is_new = block.transmissions == 1;
        self.tally.sent(f64::from(snr), self.report.cqi, is_new, failed);

        let error = if block.decoded { params.ack_error } else { params.nack_error };
        let is_wrong = error.0 > 0.0 && uniform(&mut self.draws.feedback) < error.0;
        let acknowledged = block.decoded != is_wrong;
        let may_retransmit = params.max_transmissions.is_none_or(|most| block.transmissions < most.get());
        let is_retransmitted = !acknowledged && may_retransmit;
        let is_settled = block.decoded && !had_been_decoded || !block.decoded && !is_retransmitted;
        let sent = SentBlock {
            number: block.number,
            units: block.units.clone(),
            bytes: block.bytes,
            transmission: block.transmissions,
            failed,
            settled: is_settled.then_some(block.decoded),
        };
        let answer = (is_new && params.cqi.outer_loop.is_some()).then_some(acknowledged);
        let at = tti + DOWN_RETRANSMISSION_AFTER;
        self.processes.sent(index, block.number, at, is_retransmitted.then_some(block), answer);
        sent
    }

    /// Decodes a block after a transmission, unless it was decoded before. Returns the effective linear SNR of the
    /// transmission.
    fn receive(&mut self, tti: u64, groups: Groups, block: &mut Block, cell: &Cell) -> f32 {
        let mut row = [0.0; MAX_GROUPS];
        self.channel.snr_of(cell.sequence, tti, groups, &mut row);
        let formats = &cell.formats[self.formats];
        let snr = formats.effective_snr(block.format.mcs, &row, groups);
        if block.decoded {
            return snr;
        }
        let params = cell.params;
        block.snr = params.combining.add(block.snr, f64::from(snr), block.transmissions);
        let draw = match params.decoding {
            Decoding::Independent if block.transmissions > 1 => uniform(&mut self.draws.decoding),
            Decoding::Independent | Decoding::OneNumber => block.draw,
        };
        block.decoded = draw >= formats.bler(tti, groups, block.format, block.snr as f32);
        snr
    }

    /// Returns the TTI by which the user's next packet should arrive: the TTI since which the packet waits, plus
    /// the delay budget. If no packet waits, the first term is 0.
    pub fn deadline(&self) -> u64 {
        self.rlc.waits_since().unwrap_or(0) + self.delay_budget
    }
}

/// State that all users of a cell share.
#[derive(Debug)]
pub struct Cell<'a> {
    pub params: &'a Lte,
    pub formats: &'a [Formats],
    pub sequence: &'a JakesSequence,
}
