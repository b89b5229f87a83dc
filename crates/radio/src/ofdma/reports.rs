//! One CQI for each group of resource blocks, and the number of layers (TS 36.213, 7.2). Not modelled:
//! subbands larger than a group, the differential coding of their CQIs, and errors of reports.

use std::ops::Range;

use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::mac::band::MAX_GROUPS;

use super::Standard;
use super::channel::Channel;

/// In TTIs.
#[derive(Clone, Copy, Debug)]
pub struct ReportRules {
    /// From a measurement to the use of its report.
    pub delay: u64,
    /// Between two measurements.
    pub cycle: u64,
}

// Clause: TS 36.213, 7.2.1: CQI reports
// Simplified: a CQI for each group of resource blocks, without errors and without load on the uplink
#[derive(Debug)]
pub struct Report {
    /// In TTIs.
    delay: u64,
    /// TTIs between two measurements.
    cycle: u64,
    /// TTIs after multiples of `cycle`.
    offset: u64,
    /// `u64::MAX` before the first measurement.
    measured: u64,
    /// That the phone can receive.
    most_layers: u8,
    /// Rank indicator; all layers have the same CQIs.
    pub layers: u8,
    /// 0 to 15.
    pub cqis: [u8; MAX_GROUPS],
    pub cqi: f32,
}

impl Report {
    /// All CQIs are 0 until the first call of [`Self::refresh`].
    pub fn new(ReportRules { delay, cycle }: ReportRules, id: u64, most_layers: u8) -> Self {
        Self {
            delay,
            cycle,
            offset: id % cycle,
            measured: u64::MAX,
            most_layers,
            layers: 1,
            cqis: [0; MAX_GROUPS],
            cqi: 0.0,
        }
    }

    /// The last one at least `delay` TTIs earlier, else that of TTI 0.
    fn measurement_for(&self, tti: u64) -> u64 {
        let latest = tti.saturating_sub(self.delay);
        latest.saturating_sub((latest + self.cycle - self.offset) % self.cycle)
    }

    /// All TTIs with the report of `tti`; some may be missing with the report of TTI 0.
    pub fn validity(&self, tti: u64) -> Range<u64> {
        if tti < self.delay + self.offset {
            return 0..self.delay + self.offset;
        }
        let begin = self.measurement_for(tti) + self.delay;
        begin..begin + self.cycle
    }

    /// Upper bound of the linear SNRs in the report of `tti`; `None` if it takes as long as the report, or if
    /// this is the present one.
    pub fn peak(&self, tti: u64, channel: &mut Channel, sequence: &JakesSequence) -> Option<f32> {
        let at = self.measurement_for(tti);
        if at == self.measured { None } else { channel.peak(sequence, at) }
    }

    /// True if it comes from another measurement.
    #[inline]
    pub fn refresh<S: Standard>(
        &mut self,
        tti: u64,
        channel: &mut Channel,
        sequence: &JakesSequence,
        formats: &S,
    ) -> bool {
        let at = self.measurement_for(tti);
        if at == self.measured {
            return false;
        }
        self.measured = at;
        let mut snr = [0.0; MAX_GROUPS];
        channel.snr(sequence, at, 1, &mut snr);
        (self.layers, self.cqis) = (1, snr.map(|snr| formats.cqi(snr)));
        if self.most_layers > 1 {
            self.choose_layers(channel, sequence, formats);
        }
        let groups = formats.band().groups();
        let sum: u32 = self.cqis[..groups].iter().map(|cqi| u32::from(*cqi)).sum();
        self.cqi = sum as f32 / groups as f32;
        true
    }

    /// If several numbers have this rate, the lowest one is chosen.
    fn choose_layers<S: Standard>(&mut self, channel: &mut Channel, sequence: &JakesSequence, formats: &S) {
        let mut highest = formats.bytes(&self.cqis);
        for layers in 2..=self.most_layers {
            let mut snr = [0.0; MAX_GROUPS];
            channel.snr(sequence, self.measured, layers, &mut snr);
            let cqis = snr.map(|snr| formats.cqi(snr));
            let rate = f32::from(layers) * formats.bytes(&cqis);
            if rate > highest {
                (highest, self.layers, self.cqis) = (rate, layers, cqis);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: CQI reports (worked example)
    #[test]
    fn a_report_is_valid_until_the_next_one_is_used() {
        for (delay, cycle) in [(0, 1), (0, 7), (3, 10), (8, 10), (25, 4)] {
            for id in 0..12 {
                let report = Report::new(ReportRules { delay, cycle }, id, 1);
                for tti in 0..100 {
                    let (valid, at) = (report.validity(tti), report.measurement_for(tti));
                    assert!(valid.contains(&tti), "{report:?}, TTI {tti}: {valid:?}");
                    assert!(valid.clone().all(|other| report.measurement_for(other) == at));
                    assert!(at == 0 || report.measurement_for(valid.end) > at);
                }
            }
        }
    }
}
