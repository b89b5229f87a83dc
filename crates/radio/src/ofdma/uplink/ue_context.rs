//! What the base station has of a UE: its estimate of the UE's buffer, and grants that are under way.

use std::collections::VecDeque;

use nodeb_air::UserRadio;
use nodeb_air::mac::band::{Row, Run};
use nodeb_air::mac::harq::block::Rules;
use nodeb_air::mac::outer_loop::{Correction, FirstAnswer, OuterLoop};
use nodeb_base::rng::{Stream, Streams, uniform};
use nodeb_base::units::Time;

use super::configured::{ConfiguredGrant, ConfiguredTally};
use super::headroom::HeadroomEstimate;
use super::ue::Block;
use super::{UplinkRules, UplinkUser};
use crate::ofdma::standard::{Format, Standard};

#[derive(Clone, Copy, Debug)]
pub enum UlReport {
    /// Scheduling request.
    Request,
    /// Buffer status report; `begun` is the first subframe of its block.
    Buffer { octets: u64, headroom: Option<(u8, u16)>, begun: u64 },
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
    /// From [`Self::estimate_since`] to the scheduler's deadline.
    pub delay_budget: u64,
    /// Octets assumed after a request or ahead of data.
    first_grant: u32,
    /// Octets that wait at the UE, without those granted.
    pub estimated_buffer: u32,
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
    /// First subframe of the block with the latest report.
    reported_in: Option<u64>,
    /// `None` if the base station has the headroom without reports.
    headroom: Option<HeadroomEstimate>,
    pub tally: ContextTally,
}

impl UeContext {
    pub fn new<S: Standard>(
        setup: &UplinkUser,
        rules: &UplinkRules,
        user: &UserRadio,
        streams: &Streams,
    ) -> Self {
        Self {
            formats: setup.formats,
            most_bits: setup.block_bits,
            decoding: streams.stream("user", user.id, "uplink decoding"),
            correction: rules.outer_loop.as_ref().map(OuterLoop::correction_db),
            delay_budget: user.ue.delay_budget.0 / S::TTI.0,
            first_grant: rules.first_grant,
            estimated_buffer: 0,
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
        (self.estimated_buffer, self.configured) = (0, None);
    }

    pub fn masks_requests(&self) -> bool {
        self.configured.as_ref().is_some_and(|grant| grant.masks_requests)
    }

    /// Request or report, `UP_FEEDBACK_AFTER` TTIs before it could lead to a grant, by which the block in `tti` was granted; 0
    /// at the earliest.
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
                    self.estimated_buffer = 0;
                }
                self.is_requested |= self.estimated_buffer == 0;
                self.grant_ahead(tti, false);
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
                let on_the_way: u32 = later.map(|grant| grant.octets).sum();
                self.set_estimate(S::reported_octets(octets).saturating_sub(on_the_way), tti);
                (self.is_ahead, self.is_requested) = (false, false);
            }
        }
        false
    }

    fn set_estimate(&mut self, octets: u32, tti: u64) {
        if self.estimated_buffer == 0 {
            self.estimate_since = tti;
        }
        self.estimated_buffer = octets;
    }

    // Clause: TS 36.321, 5.4.1: grants ahead of data
    /// For the first grant's octets, unless the estimate is above 0 already.
    pub fn grant_ahead(&mut self, tti: u64, is_ahead: bool) {
        if self.estimated_buffer == 0 {
            self.set_estimate(self.first_grant, tti);
            self.is_ahead = is_ahead;
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
        self.estimated_buffer + S::UP_OVERHEAD
    }

    pub fn grant<S: Standard>(&mut self, at: u64, octets: u32) {
        self.tally.grants += 1;
        let (octets, estimate_since) = (octets.saturating_sub(S::UP_OVERHEAD), self.estimate_since);
        self.estimated_buffer = self.estimated_buffer.saturating_sub(octets);
        self.is_requested &= self.estimated_buffer > 0;
        self.granted.push_back(Grant { at, octets, estimate_since });
    }
}

#[cfg(test)]
mod tests {
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

    // Tests the feature: buffer status reports (worked example)
    /// Reports omit the octets of their own block, and later grants are subtracted, so the estimate is what
    /// is left, up to the width of the report's level and the room for headers.
    #[test]
    fn the_base_station_estimates_what_is_left_and_not_granted() {
        let (lte, params) = (Lte::default(), Scheduled::default());
        let user = UserRadio::default();
        let users = std::slice::from_ref(&user);
        for bytes in [40, 300, 1_400] {
            let streams = Streams::new(1, 0);
            let UplinkSetup { cell, formats, rules, users: mut setups, numerology, .. } =
                lte.uplink(&params, users, &streams, lte.shared(users));
            let (band, antennas) = (formats[0].band(), Antennas::ONE);
            let carrier = Carrier { cell: &cell, band, numerology, antennas, steps: None, fading: "uplink" };
            let setup = setups.remove(0);
            let mut context = UeContext::new::<Formats>(&setup, &rules, &user, &streams);
            let mut ue = Ue::new(setup, &rules, &user, carrier, streams, &mut Responses::default());
            for number in 0..20 {
                ue.rlc.push(Time::ZERO, Packet::new(number, bytes), 0);
            }
            context.on_report::<Formats>(UlReport::Request, 4);
            let mut send = |context: &mut UeContext, tti: u64, octets: u32| {
                context.grant::<Formats>(tti, octets);
                let before = ue.rlc.waiting();
                let format = Format { mcs: 10, bits: 8 * octets, layers: 1 };
                let block = ue.fill::<Formats>(tti, format, 4, context.requested_at::<Formats>(tti));
                assert_eq!(block.report, ue.rlc.waiting());
                assert!(block.report < before, "the block's data still wait");
                block
            };
            let buffer =
                |block: &Block| UlReport::Buffer { octets: block.report, headroom: None, begun: block.begun };
            let first = send(&mut context, 8, 120);
            context.on_report::<Formats>(buffer(&first), 12);
            let [second, third] = [16, 17].map(|tti| send(&mut context, tti, 200));
            context.on_report::<Formats>(buffer(&second), 20);
            let (left, estimate) = (third.report as u32, context.estimated_buffer);
            let level = assumed(second.report) - second.report as u32;
            assert!(
                estimate.abs_diff(left) <= level + Formats::UP_OVERHEAD,
                "{bytes}: {estimate}, not {left} +- {level}"
            );
        }
    }
}
