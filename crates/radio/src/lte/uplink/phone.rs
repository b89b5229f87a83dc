//! Phone on the scheduled uplink: its own state, and its state at the base station.

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

/// Size in octets of the subheader that MAC puts in front of an RLC PDU of 128 octets or more (TS 36.321,
/// 6.1.2). It is counted for all PDUs.
const SUBHEADER: u32 = 3;

/// Octets of a grant that carry no data: report, subheader and the smallest RLC header.
pub const OVERHEAD: u32 = REPORT + SUBHEADER + 2;

/// Number of resource blocks that a phone may use whatever its power, with less power on each if necessary. It is the
/// smallest number on which blocks of all MCSs have room for data.
const LEAST_BLOCKS: u16 = 4;

/// Transport block that a phone sends.
#[derive(Clone, Debug)]
pub struct Block {
    /// Number of the block among those of the phone, from 0.
    pub number: u64,
    /// Numbers of the RLC PDUs in the block; empty if it is padding alone.
    pub units: Range<u64>,
    /// Octets of the block that are not padding.
    pub bytes: u32,
    format: Format,
    /// Number of transmissions of the block so far.
    pub transmissions: u32,
    /// Effective linear SNR after all transmissions so far.
    snr: f64,
    /// Random number uniform in [0, 1) that decides the first transmission. If decoding uses one random number per
    /// block, this number decides all transmissions.
    draw: f64,
    /// Buffer status report in the block: number of octets that waited after the block was filled.
    pub report: u64,
    /// Power headroom report in the block, as its level and the number of the block's resource blocks.
    pub headroom: Option<(u8, u16)>,
    /// Subframe of the block's first transmission.
    pub begun: u64,
    /// Time of the request or report because of which the base station granted the block. If it granted ahead
    /// of data, the time is four subframes before it assumed data, but at least 0. For a block of a
    /// configured grant after its first one, the time is the start of the block.
    pub asked: Time,
}

/// Information that the base station receives about a phone.
#[derive(Clone, Copy, Debug)]
pub enum Heard {
    /// Scheduling request received.
    Request,
    /// Buffer status report of `octets` octets received, in the block first sent in subframe `begun`, and the power
    /// headroom report of the block, if it has one.
    Report { octets: u64, headroom: Option<(u8, u16)>, begun: u64 },
    /// Block given up, which was first sent in subframe `begun`.
    Nothing { begun: u64 },
}

/// State that all phones of a cell share.
#[derive(Debug)]
pub struct Cell<'a> {
    pub lte: &'a Lte,
    pub formats: &'a [Formats],
    pub sequence: &'a JakesSequence,
}

/// SNRs of a phone at the base station, and the number of resource blocks that the phone's power allows.
#[derive(Clone, Copy, Debug)]
pub struct Sounding {
    /// Linear SNR of each group.
    pub row: Row,
    /// Largest number of resource blocks that the power allows, at least [`LEAST_BLOCKS`]. With power headroom reports,
    /// this is by the last report received, and [`LEAST_BLOCKS`] before the first one.
    pub blocks: u16,
}

/// Grant of resource blocks for a new block.
#[derive(Clone, Copy, Debug)]
struct Grant {
    /// Subframe of the block's first transmission.
    at: u64,
    /// Number of octets of data for which the block has room.
    octets: u32,
    /// Value of [`Phone::known_since`] when the block was granted.
    known_since: u64,
}

/// Phone on the uplink.
#[derive(Debug)]
pub struct Phone {
    channel: Channel,
    /// Power control; `None` for a phone without a position.
    power: Option<PowerControl>,
    /// Power headroom reports; `None` if the base station has the headroom without reports.
    pub headroom: Option<Headroom>,
    /// Linear factor of the SNRs of a phone without a position.
    offset: f32,
    pub rlc: Entity,
    pub tally: UplinkTally,
    /// Index of the phone's transport formats among those of the cell.
    formats: usize,
    /// Largest block that the phone's category can send, in bits.
    most_bits: u32,
    decoding: Stream,
    requesting: Stream,
    /// Subframes in which the phone can send a request.
    requests: Recurrence,
    /// Subframe of the phone's next scheduling request, `u64::MAX` if none is due.
    request_at: u64,
    /// Subframe in which the phone requests again if it sends no new block until then. `u64::MAX` if its last
    /// block reported no waiting octets, after the phone has requested again, and before the first block.
    again_at: u64,
    /// Subframe since which data that the phone has not reported have waited for a grant; `None` if there are none.
    wanted: Option<u64>,
    /// Whether the phone's last block reported waiting octets, so that it needs no request until [`Self::again_at`].
    has_reported: bool,
    /// Number of octets that wait at the phone by the base station's estimate, without those that it has granted.
    pub known: u32,
    /// Subframe since which `known` has been above 0 without a break. A grant for all these octets sets `known` to 0;
    /// the next request, report or grant ahead of data starts a new period.
    pub known_since: u64,
    /// Whether `known` is an assumption without a request or report.
    pub is_ahead: bool,
    /// Whether `known` is what the base station assumes after a request.
    pub is_requested: bool,
    /// Configured grant of the phone, which has recurring resource blocks.
    pub reserved: Option<Reserved>,
    /// Counters of the configured grants.
    pub reserved_tally: ReservedTally,
    /// Grants whose blocks have been neither received nor given up, as far as the base station has processed the
    /// blocks.
    granted: VecDeque<Grant>,
    /// Subframe of the first transmission of the block with the latest buffer status report at the base station; `None`
    /// before the first report.
    reported_in: Option<u64>,
    /// Correction of SNRs by the outer loop, in dB; `None` without an outer loop.
    correction: Option<Correction<f64>>,
    /// Number of subframes from [`Self::known_since`] to the scheduler's deadline.
    pub delay_budget: u64,
}

impl Phone {
    /// Creates a phone with an empty queue.
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

    /// Returns the first subframe in which the phone has no channel, `u64::MAX` if there is none.
    pub fn ends(&self) -> u64 {
        self.channel.ends()
    }

    /// Ends requests and grants with the phone's channel.
    pub fn close(&mut self) {
        (self.request_at, self.again_at, self.known, self.reserved) = (u64::MAX, u64::MAX, 0, None);
    }

    /// Returns the subframe in which [`Self::request`] has an effect next, `u64::MAX` if there is none.
    pub fn ready(&self) -> u64 {
        self.request_at.min(self.again_at)
    }

    /// Starts the phone's wait for a grant in subframe `tti`, if data wait that it has not reported and it does not
    /// wait yet. Schedules a request, unless a configured grant masks requests.
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
    /// Sends a request in subframe `tti` if one is due. Returns whether the base station receives it, or `None` if none
    /// is sent.
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

    /// Fills a block of a format in subframe `tti` with data and a report, and cancels the phone's request.
    /// The block has `blocks` resource blocks. `is_reserved` is true for a block of a configured grant after its first
    /// one.
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

    /// Returns the power headroom report of a new block in subframe `tti` on `blocks` resource blocks, if one is due, as
    /// its level and `blocks`. A phone without a position has the highest level.
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

    /// Counts a block of the configured grant. Ends the grant if it has had `release_after` consecutive blocks without
    /// data.
    fn use_reserved(&mut self, has_data: bool) {
        self.reserved_tally.blocks += 1;
        self.reserved_tally.empty += u64::from(!has_data);
        if self.reserved.as_mut().is_some_and(|reserved| reserved.sent(has_data)) {
            self.reserved = None;
            self.reserved_tally.releases += 1;
        }
    }

    /// Gives the phone a configured grant.
    pub fn configure(&mut self, reserved: Reserved) {
        self.reserved = Some(reserved);
        self.reserved_tally.activations += 1;
    }

    /// Ends the phone's configured grant, if it has one, in subframe `tti`. If the phone waits for a block, it requests one
    /// from the next subframe on.
    pub fn release(&mut self, tti: u64) {
        self.reserved = None;
        if let Some(wanted) = self.wanted {
            self.request_at = self.request_at.min(self.requests.next(wanted.max(tti + 1)));
        }
    }

    /// Sends a block on `run` in subframe `tti`. Returns true if the base station decodes it.
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

    /// Updates the base station's state of the phone by the information `heard`, which can lead to a grant from
    /// subframe `tti` on.
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

    /// Sets the base station's estimate of the octets that wait at the phone, in subframe `tti`.
    fn believe(&mut self, octets: u32, tti: u64) {
        if self.known == 0 {
            self.known_since = tti;
        }
        self.known = octets;
    }

    // Clause: TS 36.321, 5.4.1: grants ahead of data
    /// Sets the base station's estimate of the octets that wait to `octets` in subframe `tti`, unless the estimate is
    /// above 0 already. `is_ahead` is true if the phone has sent no request.
    pub fn grant_ahead(&mut self, octets: u32, tti: u64, is_ahead: bool) {
        if self.known == 0 {
            self.believe(octets, tti);
            self.is_ahead = is_ahead;
        }
    }

    /// Returns the SNRs of the phone in subframe `tti` at the power of PUSCH, and the number of resource blocks that the
    /// base station may grant by the phone's power.
    pub fn measure(&mut self, tti: u64, cell: &Cell) -> Sounding {
        let (row, blocks) = self.received(tti, LEAST_BLOCKS, cell);
        let blocks = match &self.headroom {
            None => blocks,
            Some(headroom) => headroom.known_blocks().unwrap_or(0).max(LEAST_BLOCKS),
        };
        Sounding { row, blocks }
    }

    /// Counts a transmission on `blocks` resource blocks in subframe `tti` if the power for them is limited. Has no
    /// effect without power headroom reports.
    fn count_limited(&mut self, tti: u64, blocks: u16) {
        let (Some(headroom), Some(power)) = (&mut self.headroom, &self.power) else { return };
        let wanted_dbm = power.wanted_dbm(power.path_loss_db(self.channel.mean_snr(tti)));
        let is_limited = headroom::headroom_db(power.largest_dbm, wanted_dbm, blocks) < 0.0;
        headroom.tally.limited += u64::from(is_limited);
    }

    /// Returns the SNRs of the phone in subframe `tti`, and the number of resource blocks that its power allows. This
    /// number is at least `least`: if the power does not suffice for so many, the SNRs are those at less power per
    /// resource block.
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

    /// Returns the format of the largest block on `run` that the SNRs in `row` allow, or `None` if the smallest one is too
    /// large for the phone's category.
    pub fn select(&self, run: Run, row: &Row, cell: &Cell) -> Option<Format> {
        let factor = self.correction.as_ref().map_or(1.0, Correction::factor);
        cell.formats[self.formats].select(run, row, factor, self.most_bits)
    }

    /// Returns the size in octets of a block for all octets in `known`, including headers and reports.
    pub fn wanted_octets(&self) -> u32 {
        self.known + OVERHEAD
    }

    /// Records that the base station grants a block of `octets` octets, which the phone sends first in subframe `at`.
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
    /// A report does not count the octets of its own block. The base station subtracts the octets of later grants. So
    /// its estimate is the number of octets left at the phone, up to the width of the report's level and the room for
    /// headers.
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
