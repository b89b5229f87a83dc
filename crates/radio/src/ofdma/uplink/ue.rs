use std::ops::Range;

use nodeb_air::UserRadio;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::mac::band::{MAX_GROUPS, Row};
use nodeb_air::mac::multiplexing::{ByChannel, LogicalChannels};
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;

use super::headroom::{self, HeadroomReporter};
use super::power::{Power, PowerControl};
use super::requests::Requests;
use super::{UplinkRules, UplinkUser};
use crate::ofdma::channel::{Carrier, Channel, Responses};
use crate::ofdma::standard::{Format, Standard};

#[derive(Clone, Debug)]
pub struct Block {
    /// Among those of the UE.
    pub number: u64,
    /// RLC PDUs; empty if the block is padding alone.
    pub units: Range<u64>,
    /// Without padding.
    pub bytes: u32,
    pub format: Format,
    pub transmissions: u32,
    /// Effective and linear, after all transmissions so far.
    pub snr: f64,
    /// Uniform in [0, 1); decides the first transmission, or all if decoding uses one number per block.
    pub draw: f64,
    /// Octets that waited after the block was filled.
    pub report: ByChannel,
    /// Level, and number of the block's resource blocks.
    pub headroom: Option<(u8, u16)>,
    /// TTI of the first transmission.
    pub begun: u64,
    /// As `Decided::requested_at`.
    pub requested_at: Time,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct UeTally {
    pub blocks: u64,
    pub granted_bytes: u64,
    pub padding_bytes: u64,
    pub packets_dropped: u64,
}

/// What happens at the UE itself; `bearers` has both ends.
#[derive(Debug)]
pub struct Ue {
    channel: Channel,
    /// `None` for a UE without a position.
    power: Option<PowerControl>,
    /// Linear factor of the SNRs of a UE without a position.
    offset: f32,
    /// `None` if the base station has the headroom without reports.
    pub headroom: Option<HeadroomReporter>,
    pub bearers: LogicalChannels,
    pub requests: Requests,
    /// Highest priority with octets in the last report.
    reported: Option<u8>,
    pub tally: UeTally,
}

impl Ue {
    pub fn new(
        setup: UplinkUser,
        rules: &UplinkRules,
        user: &UserRadio,
        carrier: Carrier,
        streams: Streams,
        responses: &mut Responses,
    ) -> Self {
        Self {
            channel: Channel::new(&user.ue.channel, carrier, user.id, &streams, responses),
            power: user.ue.channel.facts().has_place.then_some(rules.power),
            offset: rules.snr_offset,
            headroom: rules.headroom.map(HeadroomReporter::new),
            bearers: setup.bearers,
            requests: Requests::new(setup.requests, user.id, &streams),
            reported: None,
            tally: UeTally::default(),
        }
    }

    /// `u64::MAX` if there is none.
    pub fn ends(&self) -> u64 {
        self.channel.ends()
    }

    /// Data of a higher priority than all that were reported need a report (TS 36.321, 5.4.5); `is_masked` by a
    /// configured grant.
    pub fn await_grant(&mut self, tti: u64, is_masked: bool) {
        let Self { requests, bearers, .. } = self;
        let reported = self.reported.unwrap_or(u8::MAX);
        if bearers.highest_waiting().is_some_and(|priority| priority < reported) {
            requests.report_again();
        }
        requests.await_grant(tti, || bearers.highest_waiting().is_some(), is_masked);
    }

    /// Whether the base station receives the scheduling request; `None` if none is sent.
    pub fn request(&mut self, tti: u64) -> Option<bool> {
        let Self { requests, bearers, .. } = self;
        requests.send(tti, || bearers.highest_waiting().is_some())
    }

    /// On `blocks` resource blocks; cancels the scheduling request.
    pub fn fill<S: Standard>(&mut self, tti: u64, format: Format, blocks: u16, requested_at: Time) -> Block {
        let octets = format.bits / 8;
        let headroom = self.report_headroom::<S>(tti, blocks);
        let waiting = self.bearers.waiting().into_iter().filter(|octets| *octets > 0).count();
        let buffer = if waiting > 1 { S::LONG_BUFFER_REPORT } else { S::BUFFER_REPORT };
        let reports = buffer + if headroom.is_some() { S::HEADROOM_REPORT } else { 0 };
        let filled = self.bearers.fill(Time(tti * S::TTI.0), octets.saturating_sub(reports));
        let (bytes, report) = (filled.bytes() + reports, self.bearers.waiting());
        self.reported = self.bearers.highest_waiting();
        self.requests.cancel(tti, self.reported.is_some());
        self.tally.blocks += 1;
        self.tally.granted_bytes += u64::from(octets);
        self.tally.padding_bytes += u64::from(octets.saturating_sub(bytes));
        Block {
            number: self.tally.blocks - 1,
            units: filled.units,
            bytes,
            format,
            transmissions: 0,
            snr: 0.0,
            draw: 0.0,
            report,
            headroom,
            begun: tti,
            requested_at,
        }
    }

    /// Level and `blocks`, if a report is due; the highest level without a position.
    fn report_headroom<S: Standard>(&mut self, tti: u64, blocks: u16) -> Option<(u8, u16)> {
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
            (S::headroom_level(headroom_db), blocks)
        })
    }

    /// Linear SNRs at the base station, on `blocks` resource blocks.
    pub fn send(&mut self, tti: u64, blocks: u16, sequence: &JakesSequence) -> Row {
        let (row, _) = self.received(tti, blocks, sequence);
        self.count_limited(tti, blocks);
        row
    }

    /// Only with power headroom reports.
    fn count_limited(&mut self, tti: u64, blocks: u16) {
        let (Some(headroom), Some(power)) = (&mut self.headroom, &self.power) else { return };
        let wanted_dbm = power.wanted_dbm(power.path_loss_db(self.channel.mean_snr(tti)));
        let is_limited = headroom::headroom_db(power.largest_dbm, wanted_dbm, blocks) < 0.0;
        headroom.tally.limited += u64::from(is_limited);
    }

    /// Linear SNRs at the base station, at the power of PUSCH, and the resource blocks that the power allows. If it
    /// does not suffice for `least`, the SNRs are those at less power on each.
    pub fn received(&mut self, tti: u64, least: u16, sequence: &JakesSequence) -> (Row, u16) {
        let mut row = [0.0; MAX_GROUPS];
        self.channel.snr(sequence, tti, 1, &mut row);
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
}
