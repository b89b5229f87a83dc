//! CQI reports of a phone, one CQI for each group of resource blocks (TS 36.213, 7.2).
//!
//! Not modelled: subbands larger than a group, the differential coding of their CQIs, and errors of reports.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::channel::Channel;
use super::formats::Formats;
use crate::cell::doppler::JakesSequence;
use crate::mac::band::{MAX_GROUPS, Row};
use crate::mac::outer_loop::OuterLoop;

params! {
    /// Parameters of CQI reports on LTE.
    pub struct GroupReports {
        /// Time from a measurement to the use of its report at the base station, in whole TTIs.
        pub delay: Duration = Duration::from_millis(8),
        /// Time between two measurements of a phone, in whole TTIs; phones measure in turn.
        pub cycle: Duration = Duration::from_millis(10),
        /// Outer loop. Default: none, reports are used unchanged.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub outer_loop: Option<OuterLoop>,
    }
}

/// Length of a TTI (TS 36.211, 4.1).
pub const TTI: Duration = Duration::from_millis(1);

impl Checked for GroupReports {
    fn check(&self, check: &mut Check) {
        check.at_most("delay", self.delay, Duration::from_secs(10));
        let whole = self.cycle.0 > 0 && self.cycle.0.is_multiple_of(TTI.0);
        check.require(whole && self.cycle <= Duration::from_secs(10), "cycle", || {
            format!("{} is not a number of whole TTIs; expected 1 ms, 2 ms, ... 10 s", self.cycle)
        });
        if let Some(outer_loop) = &self.outer_loop {
            check.within("outer_loop", |check| outer_loop.check(check));
        }
    }
}

/// Report that the base station knows of a phone.
#[derive(Debug)]
pub struct Report {
    /// Delay of a report in TTIs.
    delay: u64,
    /// Number of TTIs between two measurements.
    cycle: u64,
    /// Number of TTIs by which the phone's measurements follow multiples of `cycle`.
    offset: u64,
    /// TTI of the last measurement; `u64::MAX` before the first one.
    measured: u64,
    /// Smallest linear SNR of the CQI of each group, 0 for CQI 0.
    pub snr: Row,
    /// CQI of each group.
    pub cqis: [u8; MAX_GROUPS],
    /// Mean CQI of all groups.
    pub cqi: f32,
}

impl Report {
    /// Creates the reports of user `id`. There is none before the first TTI in which one is used.
    pub fn new(params: &GroupReports, id: u64) -> Self {
        let cycle = (params.cycle.0 / TTI.0).max(1);
        Self {
            delay: params.delay.0.div_ceil(TTI.0),
            cycle,
            offset: id % cycle,
            measured: u64::MAX,
            snr: [0.0; MAX_GROUPS],
            cqis: [0; MAX_GROUPS],
            cqi: 0.0,
        }
    }

    /// Returns the TTI of the measurement that the base station uses in TTI `tti`: the last one at least the delay
    /// earlier. Before that, the phone has measured in TTI 0.
    fn measurement_for(&self, tti: u64) -> u64 {
        let latest = tti.saturating_sub(self.delay);
        latest.saturating_sub((latest + self.cycle - self.offset) % self.cycle)
    }

    /// Brings the report up to date for TTI `tti`. Returns true if it is a new one.
    #[inline]
    pub fn refresh(
        &mut self,
        tti: u64,
        channel: &mut Channel,
        sequence: &JakesSequence,
        formats: &Formats,
    ) -> bool {
        let at = self.measurement_for(tti);
        if at == self.measured {
            return false;
        }
        self.measured = at;
        let mut snr = [0.0; MAX_GROUPS];
        channel.snr(sequence, at, &mut snr);
        let (mut sum, groups) = (0, formats.band().groups());
        for (group, snr) in snr.into_iter().enumerate().take(groups) {
            let cqi = formats.cqi(snr);
            self.cqis[group] = cqi;
            self.snr[group] = if cqi > 0 { formats.snr_of(cqi) } else { 0.0 };
            sum += u32::from(cqi);
        }
        self.cqi = sum as f32 / groups as f32;
        true
    }
}
