//! At the phone itself, and at the base station.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::rng::{Stream, Streams, uniform};
use nodeb_base::units::Time;

use super::super::Lte;
use super::super::category::Category;
use super::super::channel::{Carrier, Channel, Responses};
use super::super::formats::{Format, Formats};
use super::super::reports::TTI;
use super::super::timing::{Recurrence, UP_FEEDBACK_AFTER};
use super::headroom::{self, HEADROOM_REPORT, Headroom};
use super::params::Scheduled;
use super::power::{Power, PowerControl};
use super::report::{REPORT, assumed};
use super::reserved::{Reserved, ReservedTally};
use super::tally::UplinkTally;
use crate::UserRadio;
use crate::cell::doppler::JakesSequence;
use crate::mac::band::{MAX_GROUPS, Row, Run};
use crate::mac::outer_loop::{Correction, FirstAnswer, OuterLoop};
use crate::pdcp::Transmit;
use crate::rlc::bytes::{Entity, Framing};

/// Octets of the MAC subheader of a PDU of 128 octets or more (TS 36.321, 6.1.2), counted for all PDUs.
const SUBHEADER: u32 = 3;

/// Report, subheader and the smallest RLC header.
pub const OVERHEAD: u32 = REPORT + SUBHEADER + 2;

/// Allowed whatever a phone's power, with less on each if necessary: the smallest number on which blocks of
/// all MCSs have room for data.
const LEAST_BLOCKS: u16 = 4;

#[derive(Clone, Debug)]
pub struct Block {
    /// Among those of the phone.
    pub number: u64,
    /// RLC PDUs; empty if the block is padding alone.
    pub units: Range<u64>,
    /// Without padding.
    pub bytes: u32,
    format: Format,
    pub transmissions: u32,
    /// Effective and linear, after all transmissions so far.
    snr: f64,
    /// Uniform in [0, 1); decides the first transmission, or all if decoding uses one number per block.
    draw: f64,
    /// Octets that waited after the block was filled.
    pub report: u64,
    /// Level, and number of the block's resource blocks.
    pub headroom: Option<(u8, u16)>,
    /// Subframe of the first transmission.
    pub begun: u64,
    /// As `Decided::asked`.
    pub asked: Time,
}

#[derive(Clone, Copy, Debug)]
pub enum Heard {
    /// Scheduling request.
    Request,
    /// `begun` is the first subframe of the block.
    Report { octets: u64, headroom: Option<(u8, u16)>, begun: u64 },
    /// Block given up, which was first sent in `begun`.
    Nothing { begun: u64 },
}

#[derive(Debug)]
pub struct Cell<'a> {
    pub lte: &'a Lte,
    pub formats: &'a [Formats],
    pub sequence: &'a JakesSequence,
}

#[derive(Clone, Copy, Debug)]
pub struct Sounding {
    /// Linear.
    pub row: Row,
    /// At least [`LEAST_BLOCKS`], which it is before the first power headroom report, if there are reports.
    pub blocks: u16,
}

#[derive(Clone, Copy, Debug)]
struct Grant {
    /// Of the first transmission.
    at: u64,
    /// Of data that the block has room for.
    octets: u32,
    /// [`Phone::known_since`] when the block was granted.
    known_since: u64,
}

#[derive(Debug)]
pub struct Phone {
    channel: Channel,
    /// `None` for a phone without a position.
    power: Option<PowerControl>,
    /// `None` if the base station has the headroom without reports.
    pub headroom: Option<Headroom>,
    /// Linear factor of the SNRs of a phone without a position.
    offset: f32,
    pub rlc: Entity,
    pub tally: UplinkTally,
    /// Index among the cell's.
    formats: usize,
    /// Of the category.
    most_bits: u32,
    decoding: Stream,
    requesting: Stream,
    /// Subframes for requests.
    requests: Recurrence,
    /// `u64::MAX` if none is due.
    request_at: u64,
    /// The phone then requests again unless it sent a new block; `u64::MAX` if its last block reported no
    /// octets, after the repeated request, and before the first block.
    again_at: u64,
    /// Subframe since which unreported data have waited for a grant.
    wanted: Option<u64>,
    /// The last block reported octets, so that no request is needed until [`Self::again_at`].
    has_reported: bool,
    /// Octets that wait by the base station's estimate, without those granted.
    pub known: u32,
    /// Since which `known` has been above 0. A grant for all octets sets it to 0; the next request, report or
    /// grant ahead starts a new period.
    pub known_since: u64,
    /// `known` is assumed without a request or report.
    pub is_ahead: bool,
    /// `known` is assumed after a request.
    pub is_requested: bool,
    pub reserved: Option<Reserved>,
    pub reserved_tally: ReservedTally,
    /// As far as the base station has neither received nor given up the blocks.
    granted: VecDeque<Grant>,
    /// First subframe of the block with the latest report at the base station.
    reported_in: Option<u64>,
    /// Of SNRs in dB.
    correction: Option<Correction<f64>>,
    /// From [`Self::known_since`] to the scheduler's deadline.
    pub delay_budget: u64,
}

impl Phone {
    pub fn new(
        lte: &Lte,
        params: &Scheduled,
        user: &UserRadio,
        carrier: Carrier,
        streams: Streams,
        responses: &mut Responses,
    ) -> Self {
        let queue = params
            .queue
            .build(params.peak_rate(lte.bandwidth), streams.stream("user", user.id, "uplink queue"));
        let framing = Framing::new(lte.sn_length, SUBHEADER);
        let category = Category::of(user.ue.category).ok();
        Self {
            channel: Channel::new(&user.ue.channel, carrier, user.id, &streams, responses),
            power: user.ue.channel.facts().has_place.then(|| params.power_control()),
            headroom: params.headroom.as_ref().map(Headroom::new),
            offset: libm::pow(10.0, params.snr_offset_db / 10.0) as f32,
            rlc: lte.rlc.build(framing, Transmit::new(queue, lte.discard_timer)),
            tally: UplinkTally::default(),
            formats: usize::from(category.is_some_and(|category| category.up_64qam)),
            most_bits: category.map_or(u32::MAX, |category| category.up_block_bits),
            decoding: streams.stream("user", user.id, "uplink decoding"),
            requesting: streams.stream("user", user.id, "uplink requests"),
            requests: params.requests_of(user.id),
            request_at: u64::MAX,
            again_at: u64::MAX,
            wanted: None,
            has_reported: false,
            known: 0,
            known_since: 0,
            is_ahead: false,
            is_requested: false,
            reserved: None,
            reserved_tally: ReservedTally::default(),
            granted: VecDeque::new(),
            reported_in: None,
            correction: params.outer_loop.as_ref().map(OuterLoop::correction_db),
            delay_budget: user.ue.delay_budget.0 / TTI.0,
        }
    }

    /// `u64::MAX` if there is none.
    pub fn ends(&self) -> u64 {
        self.channel.ends()
    }

    pub fn close(&mut self) {
        (self.request_at, self.again_at, self.known, self.reserved) = (u64::MAX, u64::MAX, 0, None);
    }

    /// When [`Self::request`] has an effect next, else `u64::MAX`.
    pub fn ready(&self) -> u64 {
        self.request_at.min(self.again_at)
    }

    /// Only for unreported data; schedules a request unless a configured grant masks requests.
    pub fn want(&mut self, tti: u64) {
        if !self.has_reported && self.wanted.is_none() && self.rlc.waiting() > 0 {
            self.wanted = Some(tti);
            if !self.reserved.as_ref().is_some_and(|reserved| reserved.masks_requests) {
                self.request_at = self.requests.next(tti);
            }
        }
    }

    // Clause: TS 36.213, 10.1.5; TS 36.321, 5.4.4: scheduling requests
    // Simplified: no `sr-ProhibitTimer`, and no random access after lost requests
    /// Whether the base station receives it; `None` if none is sent.
    pub fn request(&mut self, tti: u64, params: &Scheduled) -> Option<bool> {
        if self.again_at <= tti {
            self.again_at = u64::MAX;
            self.has_reported = false;
            self.want(tti);
            // SR masking (logicalChannelSR-Mask) suppresses only requests that new data trigger (TS 36.321, 5.4.5).
            if self.wanted.is_some() {
                self.request_at = self.requests.next(tti);
            }
        }
        if self.request_at > tti {
            return None;
        }
        self.request_at = self.requests.next(tti + 1);
        self.tally.requests += 1;
        Some(params.request_error.0 == 0.0 || uniform(&mut self.requesting) >= params.request_error.0)
    }

    /// Cancels the phone's request; `is_reserved` for a block of a configured grant after its first one.
    pub fn fill(
        &mut self,
        tti: u64,
        format: Format,
        blocks: u16,
        is_reserved: bool,
        params: &Scheduled,
    ) -> Block {
        let octets = format.bits / 8;
        let headroom = self.report_headroom(tti, blocks);
        let reports = REPORT + if headroom.is_some() { HEADROOM_REPORT } else { 0 };
        let filled = self.rlc.fill(Time(tti * TTI.0), octets.saturating_sub(reports));
        let (bytes, report) = (filled.bytes() + reports, self.rlc.waiting());
        if let Some(wanted) = self.wanted.take() {
            self.tally.answered += 1;
            self.tally.waited.0 += tti.saturating_sub(wanted) * TTI.0;
        }
        self.request_at = u64::MAX;
        self.has_reported = report > 0;
        let again = params.request_again.0 / TTI.0;
        self.again_at = if report > 0 { tti + again } else { u64::MAX };
        self.tally.blocks += 1;
        self.tally.granted_bytes += u64::from(octets);
        self.tally.padding_bytes += u64::from(octets.saturating_sub(bytes));
        let draw = uniform(&mut self.decoding);
        let grant = self.granted.iter().find(|grant| grant.at == tti);
        let known_since = grant.map_or(0, |grant| grant.known_since).saturating_sub(UP_FEEDBACK_AFTER);
        let asked = Time(if is_reserved { tti } else { known_since } * TTI.0);
        if is_reserved || self.reserved.as_ref().is_some_and(|reserved| reserved.begins == tti) {
            self.use_reserved(!filled.units.is_empty());
        }
        Block {
            number: self.tally.blocks - 1,
            units: filled.units,
            bytes,
            format,
            transmissions: 0,
            snr: 0.0,
            draw,
            report,
            headroom,
            begun: tti,
            asked,
        }
    }

    /// Level and `blocks`, if a report is due; the highest level without a position.
    fn report_headroom(&mut self, tti: u64, blocks: u16) -> Option<(u8, u16)> {
        let headroom = self.headroom.as_mut()?;
        let (loss_db, headroom_db) = match &self.power {
            None => (0.0, f64::INFINITY),
            Some(power) => {
                let loss_db = power.path_loss_db(self.channel.mean_snr(tti));
                (loss_db, headroom::headroom_db(power.largest_dbm, power.wanted_dbm(loss_db), blocks))
            }
        };
        headroom.is_due(tti, loss_db).then(|| {
            headroom.report(tti, loss_db, headroom_db);
            (headroom::level(headroom_db), blocks)
        })
    }

    /// The grant ends after `release_after` consecutive blocks without data.
    fn use_reserved(&mut self, has_data: bool) {
        self.reserved_tally.blocks += 1;
        self.reserved_tally.empty += u64::from(!has_data);
        if self.reserved.as_mut().is_some_and(|reserved| reserved.sent(has_data)) {
            self.reserved = None;
            self.reserved_tally.releases += 1;
        }
    }

    pub fn configure(&mut self, reserved: Reserved) {
        self.reserved = Some(reserved);
        self.reserved_tally.activations += 1;
    }

    /// A phone that waits for a block requests one from the next subframe on.
    pub fn release(&mut self, tti: u64) {
        self.reserved = None;
        if let Some(wanted) = self.wanted {
            self.request_at = self.request_at.min(self.requests.next(wanted.max(tti + 1)));
        }
    }

    /// True if the base station decodes it.
    pub fn send(&mut self, tti: u64, run: Run, block: &mut Block, cell: &Cell) -> bool {
        let formats = &cell.formats[self.formats];
        let (row, _) = self.received(tti, run.blocks, cell);
        self.count_limited(tti, run.blocks);
        let snr = formats.effective_snr_of(block.format.mcs, &row, run);
        block.transmissions += 1;
        block.snr = cell.lte.combining.add(block.snr, f64::from(snr), block.transmissions);
        let draw = cell.lte.decoding.draw(block.transmissions, block.draw, &mut self.decoding);
        let decoded = draw >= formats.bler_of(run, block.format, block.snr as f32);
        self.tally.transmissions += 1;
        self.tally.snr += f64::from(snr);
        if block.transmissions == 1 {
            self.tally.first_failures += u64::from(!decoded);
            if let Some(correction) = &mut self.correction {
                let under_way = self.granted.len() as u8;
                correction.on_answer(FirstAnswer { acknowledged: decoded, under_way });
            }
        }
        decoded
    }

    /// `heard` can lead to a grant from `tti` on.
    pub fn hear(&mut self, heard: Heard, tti: u64, params: &Scheduled) {
        match heard {
            // A request is superfluous if a granted block is filled after it, as the block has a report.
            Heard::Request if self.granted.iter().any(|grant| grant.at + UP_FEEDBACK_AFTER > tti) => {}
            Heard::Request => {
                if self.is_ahead {
                    self.known = 0;
                }
                self.is_requested |= self.known == 0;
                self.grant_ahead(params.first_grant.0 as u32, tti, false);
            }
            Heard::Nothing { begun } => {
                self.granted.retain(|grant| grant.at != begun);
                if self.reserved.as_ref().is_some_and(|reserved| reserved.recurs(begun)) {
                    self.reserved_tally.withdrawals += 1;
                    self.release(tti);
                }
            }
            Heard::Report { octets, headroom, begun } => {
                if let (Some(known), Some((level, blocks))) = (&mut self.headroom, headroom) {
                    known.hear(level, blocks, begun);
                }
                self.granted.retain(|grant| grant.at != begun);
                // The report of a block that was retransmitted may follow that of a later block.
                if self.reported_in.is_some_and(|last| last > begun) {
                    return;
                }
                self.reported_in = Some(begun);
                let later = self.granted.iter().filter(|grant| grant.at > begun);
                let on_the_way: u32 = later.map(|grant| grant.octets).sum();
                self.believe(assumed(octets).saturating_sub(on_the_way), tti);
                (self.is_ahead, self.is_requested) = (false, false);
            }
        }
    }

    fn believe(&mut self, octets: u32, tti: u64) {
        if self.known == 0 {
            self.known_since = tti;
        }
        self.known = octets;
    }

    // Clause: TS 36.321, 5.4.1: grants ahead of data
    /// Unless the estimate is above 0 already.
    pub fn grant_ahead(&mut self, octets: u32, tti: u64, is_ahead: bool) {
        if self.known == 0 {
            self.believe(octets, tti);
            self.is_ahead = is_ahead;
        }
    }

    /// At the power of PUSCH.
    pub fn measure(&mut self, tti: u64, cell: &Cell) -> Sounding {
        let (row, blocks) = self.received(tti, LEAST_BLOCKS, cell);
        let blocks = match &self.headroom {
            None => blocks,
            Some(headroom) => headroom.known_blocks().unwrap_or(0).max(LEAST_BLOCKS),
        };
        Sounding { row, blocks }
    }

    /// Only with power headroom reports.
    fn count_limited(&mut self, tti: u64, blocks: u16) {
        let (Some(headroom), Some(power)) = (&mut self.headroom, &self.power) else { return };
        let wanted_dbm = power.wanted_dbm(power.path_loss_db(self.channel.mean_snr(tti)));
        let is_limited = headroom::headroom_db(power.largest_dbm, wanted_dbm, blocks) < 0.0;
        headroom.tally.limited += u64::from(is_limited);
    }

    /// If the power does not suffice for `least` resource blocks, the SNRs are those at less power on each.
    fn received(&mut self, tti: u64, least: u16, cell: &Cell) -> (Row, u16) {
        let mut row = [0.0; MAX_GROUPS];
        self.channel.snr(cell.sequence, tti, 1, &mut row);
        let (factor, blocks) = match &self.power {
            None => (self.offset, u16::MAX),
            Some(power) => {
                let Power { block_mw, blocks } = power.of(self.channel.mean_snr(tti), least);
                (block_mw, blocks)
            }
        };
        for snr in &mut row {
            *snr *= factor;
        }
        (row, blocks)
    }

    /// The largest block; `None` if the smallest is too large for the category.
    pub fn select(&self, run: Run, row: &Row, cell: &Cell) -> Option<Format> {
        let factor = self.correction.as_ref().map_or(1.0, Correction::factor);
        cell.formats[self.formats].select(run, row, factor, self.most_bits)
    }

    /// For all of `known`, with headers and reports.
    pub fn wanted_octets(&self) -> u32 {
        self.known + OVERHEAD
    }

    pub fn grant(&mut self, at: u64, octets: u32) {
        self.tally.grants += 1;
        let (octets, known_since) = (octets.saturating_sub(OVERHEAD), self.known_since);
        self.known = self.known.saturating_sub(octets);
        self.is_requested &= self.known > 0;
        self.granted.push_back(Grant { at, octets, known_since });
    }
}

#[cfg(test)]
mod tests {
    use nodeb_base::packet::Packet;

    use super::*;
    use crate::lte::block_size;
    use crate::lte::layers::Antennas;
    use crate::lte::mcs::McsTable;

    // Tests the feature: power of PUSCH (standard's table)
    #[test]
    fn blocks_of_all_mcss_have_room_for_data_on_the_least_resource_blocks() {
        let octets =
            |mcs, blocks| block_size::bits(McsTable::Up.row(mcs)?.size_index, blocks, 1).map(|bits| bits / 8);
        assert!((0..=28).all(|mcs| octets(mcs, LEAST_BLOCKS) > Some(OVERHEAD)));
        assert_eq!(octets(0, LEAST_BLOCKS - 1), Some(OVERHEAD), "no room");
    }

    // Tests the feature: buffer status reports (worked example)
    /// Reports omit the octets of their own block, and later grants are subtracted, so the estimate is what
    /// is left, up to the width of the report's level and the room for headers.
    #[test]
    fn the_base_station_believes_what_is_left_and_not_granted() {
        let (lte, params) = (Lte::default(), Scheduled::default());
        let (cell, band) = (lte.cell.uplink(params.noise_dbm()), lte.bandwidth.band());
        let carrier = Carrier {
            cell: &cell,
            band: &band,
            numerology: lte.numerology(),
            antennas: Antennas::ONE,
            steps: None,
            fading: "uplink",
        };
        let user = UserRadio::default();
        for bytes in [40, 300, 1_400] {
            let streams = Streams::new(1, 0);
            let mut phone = Phone::new(&lte, &params, &user, carrier, streams, &mut Responses::default());
            for number in 0..20 {
                phone.rlc.push(Time::ZERO, Packet::new(number, bytes), 0);
            }
            phone.hear(Heard::Request, 4, &params);
            let send = |phone: &mut Phone, tti: u64, octets: u32| {
                phone.grant(tti, octets);
                let before = phone.rlc.waiting();
                let block =
                    phone.fill(tti, Format { mcs: 10, bits: 8 * octets, layers: 1 }, 4, false, &params);
                assert_eq!(block.report, phone.rlc.waiting());
                assert!(block.report < before, "the block's data still wait");
                block
            };
            let first = send(&mut phone, 8, 120);
            phone.hear(
                Heard::Report { octets: first.report, headroom: None, begun: first.begun },
                12,
                &params,
            );
            let [second, third] = [16, 17].map(|tti| send(&mut phone, tti, 200));
            phone.hear(
                Heard::Report { octets: second.report, headroom: None, begun: second.begun },
                20,
                &params,
            );
            let (left, known) = (third.report as u32, phone.known);
            let level = assumed(second.report) - second.report as u32;
            assert!(known.abs_diff(left) <= level + OVERHEAD, "{bytes}: {known}, not {left} +- {level}");
        }
    }
}
