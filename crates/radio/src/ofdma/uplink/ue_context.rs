//! What the base station has of a UE: its estimate of the UE's buffer, and grants that are under way.

use std::collections::VecDeque;

use nodeb_air::UserRadio;
use nodeb_air::mac::band::{Row, Run};
use nodeb_air::mac::harq::block::Rules;
use nodeb_air::mac::multiplexing::ByChannel;
use nodeb_air::mac::outer_loop::{Correction, FirstAnswer, OuterLoop};
use nodeb_base::rng::{Stream, Streams, uniform};
use nodeb_base::units::Time;

use super::buffer::BufferEstimate;
use super::configured::{ConfiguredGrant, ConfiguredTally};
use super::headroom::HeadroomEstimate;
use super::ue::Block;
use super::{UplinkRules, UplinkUser};
use crate::ofdma::standard::{Format, Standard};

#[derive(Clone, Copy, Debug)]
pub enum UlReport {
    /// Scheduling request.
    Request,
    /// Buffer status report; `begun` is the first TTI of its block.
    Buffer { octets: ByChannel, headroom: Option<(u8, u16)>, begun: u64 },
    /// Block given up, which was first sent in `begun`.
    Nothing { begun: u64 },
}

#[derive(Clone, Copy, Debug)]
pub struct Sounding {
    /// Linear.
    pub row: Row,
    /// At least [`Standard::LEAST_BLOCKS`], which it is before the first power headroom report, if there are reports.
    pub blocks: u16,
}

#[derive(Clone, Copy, Debug)]
struct Grant {
    /// Of the first transmission.
    at: u64,
    /// Of data that the block has room for.
    octets: u32,
    /// [`UeContext::estimate_since`] when the block was granted.
    estimate_since: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ContextTally {
    pub grants: u64,
    /// Sum of linear effective SNRs of all transmissions.
    pub snr: f64,
    pub transmissions: u64,
    pub first_failures: u64,
    pub given_up: u64,
    pub bytes_delivered: u64,
}

#[derive(Debug)]
pub struct UeContext {
    /// Index among the cell's.
    formats: usize,
    /// Of the category.
    most_bits: u32,
    decoding: Stream,
    /// Of SNRs in dB.
    correction: Option<Correction<f64>>,
    /// Octets assumed after a request or ahead of data.
    first_grant: u32,
    buffer: BufferEstimate,
    /// Since which the estimate has been above 0. A grant for all octets sets it to 0; the next request, report
    /// or grant ahead starts a new period.
    pub estimate_since: u64,
    /// The estimate is assumed without a request or report.
    pub is_ahead: bool,
    /// The estimate is assumed after a request.
    pub is_requested: bool,
    pub configured: Option<ConfiguredGrant>,
    pub configured_tally: ConfiguredTally,
    /// As far as the base station has neither received nor given up the blocks.
    granted: VecDeque<Grant>,
    /// First TTI of the block with the latest report.
    reported_in: Option<u64>,
    /// `None` if the base station has the headroom without reports.
    headroom: Option<HeadroomEstimate>,
    pub tally: ContextTally,
}

impl UeContext {
    pub fn new(setup: &UplinkUser, rules: &UplinkRules, user: &UserRadio, streams: &Streams) -> Self {
        Self {
            formats: setup.formats,
            most_bits: setup.block_bits,
            decoding: streams.stream("user", user.id, "uplink decoding"),
            correction: rules.outer_loop.as_ref().map(OuterLoop::correction_db),
            first_grant: rules.first_grant,
            buffer: BufferEstimate::new(&setup.bearers),
            estimate_since: 0,
            is_ahead: false,
            is_requested: false,
            configured: None,
            configured_tally: ConfiguredTally::default(),
            granted: VecDeque::new(),
            reported_in: None,
            headroom: rules.headroom.is_some().then(HeadroomEstimate::default),
            tally: ContextTally::default(),
        }
    }

    pub fn close(&mut self) {
        self.buffer.clear();
        self.configured = None;
    }

    pub fn masks_requests(&self) -> bool {
        self.configured.as_ref().is_some_and(|grant| grant.masks_requests)
    }

    /// Request or report, `UP_FEEDBACK_AFTER` TTIs before it could lead to a grant, by which the block in `tti` was
    /// granted; 0 at the earliest.
    pub fn requested_at<S: Standard>(&self, tti: u64) -> Time {
        let grant = self.granted.iter().find(|grant| grant.at == tti);
        let since = grant.map_or(0, |grant| grant.estimate_since);
        Time(since.saturating_sub(S::UP_FEEDBACK_AFTER) * S::TTI.0)
    }

    /// A block of the configured grant, which ends after `release_after` consecutive blocks without data.
    pub fn use_configured(&mut self, has_data: bool) {
        self.configured_tally.blocks += 1;
        self.configured_tally.empty += u64::from(!has_data);
        if self.configured.as_mut().is_some_and(|grant| grant.sent(has_data)) {
            self.configured = None;
            self.configured_tally.releases += 1;
        }
    }

    pub fn configure(&mut self, grant: ConfiguredGrant) {
        self.configured = Some(grant);
        self.configured_tally.activations += 1;
    }

    /// True if the block is decoded; `row` has linear SNRs.
    pub fn decode<S: Standard>(
        &mut self,
        block: &mut Block,
        row: &Row,
        run: Run,
        formats: &[S],
        rules: &Rules,
    ) -> bool {
        let formats = &formats[self.formats];
        let snr = formats.effective_snr_of(block.format.mcs, row, run);
        if block.transmissions == 0 {
            block.draw = uniform(&mut self.decoding);
        }
        block.transmissions += 1;
        block.snr = rules.combining.add(block.snr, f64::from(snr), block.transmissions);
        let draw = rules.decoding.draw(block.transmissions, block.draw, &mut self.decoding);
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

    /// `report` can lead to a grant from `tti` on. True if the configured grant ends.
    pub fn on_report<S: Standard>(&mut self, report: UlReport, tti: u64) -> bool {
        match report {
            // A request is superfluous if a granted block is filled after it, as the block has a report.
            UlReport::Request if self.granted.iter().any(|grant| grant.at + S::UP_FEEDBACK_AFTER > tti) => {}
            UlReport::Request => {
                if self.is_ahead {
                    self.buffer.clear();
                }
                self.is_requested |= self.estimated_buffer() == 0;
                self.assume(true, tti);
            }
            UlReport::Nothing { begun } => {
                self.granted.retain(|grant| grant.at != begun);
                if self.configured.as_ref().is_some_and(|grant| grant.recurs(begun)) {
                    self.configured = None;
                    self.configured_tally.withdrawals += 1;
                    return true;
                }
            }
            UlReport::Buffer { octets, headroom, begun } => {
                if let (Some(estimate), Some((level, blocks))) = (&mut self.headroom, headroom) {
                    estimate.on_report(S::least_headroom_db(level), blocks, begun);
                }
                self.granted.retain(|grant| grant.at != begun);
                // The report of a block that was retransmitted may follow that of a later block.
                if self.reported_in.is_some_and(|last| last > begun) {
                    return false;
                }
                self.reported_in = Some(begun);
                let later = self.granted.iter().filter(|grant| grant.at > begun);
                let granted = later.map(|grant| grant.octets).sum();
                self.begin_estimate(tti);
                let reported = octets.map(|octets| S::reported_octets(u64::from(octets)));
                self.buffer.report(&reported, granted);
                (self.is_ahead, self.is_requested) = (false, false);
            }
        }
        false
    }

    /// Octets that wait at the UE, without those granted.
    pub fn estimated_buffer(&self) -> u32 {
        self.buffer.octets()
    }

    fn begin_estimate(&mut self, tti: u64) {
        if self.estimated_buffer() == 0 {
            self.estimate_since = tti;
        }
    }

    /// Octets of the first grant, after a request or ahead of data.
    fn assume(&mut self, is_requested: bool, tti: u64) {
        self.begin_estimate(tti);
        if self.buffer.assume(is_requested, self.first_grant) {
            self.is_ahead = !is_requested;
        }
    }

    /// Octets within prioritized rates at the start of TTI `at`, each with its priority.
    pub fn claims<S: Standard>(&mut self, at: u64) -> impl Iterator<Item = (u8, u32)> {
        self.buffer.claims(Time(at * S::TTI.0))
    }

    pub fn deadline(&self) -> u64 {
        self.estimate_since + self.buffer.delay_budget()
    }

    // Clause: TS 36.321, 5.4.1: grants ahead of data
    /// For the first grant's octets, unless the estimate is above 0 already.
    pub fn grant_ahead(&mut self, tti: u64) {
        if self.estimated_buffer() == 0 {
            self.assume(false, tti);
        }
    }

    /// By [`Ue::received`](super::ue::Ue::received).
    pub fn sounding<S: Standard>(&self, (row, blocks): (Row, u16)) -> Sounding {
        let blocks = match &self.headroom {
            None => blocks,
            Some(headroom) => headroom.blocks().unwrap_or(0).max(S::LEAST_BLOCKS),
        };
        Sounding { row, blocks }
    }

    /// The largest block; `None` if the smallest is too large for the category.
    pub fn select<S: Standard>(&self, run: Run, row: &Row, formats: &[S]) -> Option<Format> {
        let factor = self.correction.as_ref().map_or(1.0, Correction::factor);
        formats[self.formats].select(run, row, factor, self.most_bits)
    }

    /// For the whole estimate, with headers and reports.
    pub fn needed_octets<S: Standard>(&self) -> u32 {
        self.estimated_buffer().saturating_add(self.overhead::<S>())
    }

    /// Octets of a block that are not for data.
    pub fn overhead<S: Standard>(&self) -> u32 {
        let longer = if self.buffer.waiting() > 1 { S::LONG_BUFFER_REPORT - S::BUFFER_REPORT } else { 0 };
        S::UP_OVERHEAD + longer
    }

    pub fn grant<S: Standard>(&mut self, at: u64, octets: u32) {
        self.tally.grants += 1;
        let octets = octets.saturating_sub(self.overhead::<S>());
        self.buffer.grant(octets, Time(at * S::TTI.0));
        self.is_requested &= self.estimated_buffer() > 0;
        self.granted.push_back(Grant { at, octets, estimate_since: self.estimate_since });
    }
}

#[cfg(test)]
mod tests {
    use nodeb_air::bearer::Bearer;
    use nodeb_base::packet::Packet;

    use super::*;
    use crate::lte::Lte;
    use crate::lte::formats::Formats;
    use crate::lte::uplink::params::Scheduled;
    use crate::lte::uplink::report::assumed;
    use crate::ofdma::channel::{Carrier, Responses};
    use crate::ofdma::layers::Antennas;
    use crate::ofdma::uplink::UplinkSetup;
    use crate::ofdma::uplink::ue::Ue;

    struct Phone {
        ue: Ue,
        context: UeContext,
    }

    fn phone(bearers: Vec<Bearer>) -> Phone {
        let (lte, params, streams) = (Lte::default(), Scheduled::default(), Streams::new(1, 0));
        let user = UserRadio { bearers, ..UserRadio::default() };
        let users = std::slice::from_ref(&user);
        let UplinkSetup { cell, formats, rules, users: mut setups, numerology, .. } =
            lte.uplink(&params, users, &streams, lte.shared(users));
        let (band, antennas) = (formats[0].band(), Antennas::ONE);
        let carrier = Carrier { cell: &cell, band, numerology, antennas, steps: None, fading: "uplink" };
        let setup = setups.remove(0);
        let context = UeContext::new(&setup, &rules, &user, &streams);
        Phone { ue: Ue::new(setup, &rules, &user, carrier, streams, &mut Responses::default()), context }
    }

    // Tests the feature: buffer status reports (worked example)
    /// Reports omit the octets of their own block, and later grants are subtracted, so the estimate is what
    /// is left, up to the width of the report's level and the room for headers.
    #[test]
    fn the_base_station_estimates_what_is_left_and_not_granted() {
        for bytes in [40, 300, 1_400] {
            let Phone { mut ue, mut context } = phone(vec![Bearer::default()]);
            for number in 0..20 {
                ue.bearers.push(Time::ZERO, Packet::new(number, bytes), 0);
            }
            context.on_report::<Formats>(UlReport::Request, 4);
            let mut send = |context: &mut UeContext, tti: u64, octets: u32| {
                context.grant::<Formats>(tti, octets);
                let before = ue.bearers.waiting();
                let format = Format { mcs: 10, bits: 8 * octets, layers: 1 };
                let block = ue.fill::<Formats>(tti, format, 4, context.requested_at::<Formats>(tti));
                assert_eq!(block.report, ue.bearers.waiting());
                assert!(block.report[0] < before[0], "the block's data still wait");
                block
            };
            let buffer =
                |block: &Block| UlReport::Buffer { octets: block.report, headroom: None, begun: block.begun };
            let first = send(&mut context, 8, 120);
            context.on_report::<Formats>(buffer(&first), 12);
            let [second, third] = [16, 17].map(|tti| send(&mut context, tti, 200));
            context.on_report::<Formats>(buffer(&second), 20);
            let (left, estimate) = (third.report[0], context.estimated_buffer());
            let level = assumed(u64::from(second.report[0])) - second.report[0];
            assert!(
                estimate.abs_diff(left) <= level + Formats::UP_OVERHEAD,
                "{bytes}: {estimate}, not {left} +- {level}"
            );
        }
    }

    // Tests the feature: buffer status reports (worked example)
    /// Each class has an estimate of its own; only data of a higher class than all reported are requested again.
    #[test]
    fn reports_have_the_octets_of_each_bearer() {
        let bearer = |qci| Bearer { qci, ..Bearer::default() };
        let Phone { mut ue, mut context } = phone(vec![bearer(9), bearer(5)]);
        let push = |ue: &mut Ue, number, bearer| {
            assert!(ue.bearers.push(Time::ZERO, Packet { bearer, ..Packet::new(number, 1_000) }, 0));
        };
        let format = Format { mcs: 10, bits: 800, layers: 1 };
        (0..3).for_each(|number| push(&mut ue, number, 0));
        ue.await_grant(0, false);
        assert!(ue.requests.ready() < u64::MAX);
        let block = ue.fill::<Formats>(20, format, 4, Time::ZERO);
        assert!(block.report[0] == 0 && block.report[1] > 2_900);
        push(&mut ue, 3, 0);
        ue.await_grant(21, false);
        let again_at = ue.requests.ready();
        assert!(again_at > 100, "data of the same class are not requested");
        push(&mut ue, 4, 1);
        ue.await_grant(22, false);
        assert!(ue.requests.ready() < again_at);
        let block = ue.fill::<Formats>(30, format, 4, Time::ZERO);
        assert!(block.report[0] > 900 && block.report[1] > 3_900, "{:?}", block.report);
        let report = UlReport::Buffer { octets: block.report, headroom: None, begun: 30 };
        context.on_report::<Formats>(report, 34);
        assert_eq!(context.deadline(), 34 + 100);
        let before = context.estimated_buffer();
        context.grant::<Formats>(38, block.report[0] + 200);
        assert_eq!(context.deadline(), 34 + 300, "the higher class has its grant");
        assert!(before - context.estimated_buffer() > block.report[0]);
    }
}
