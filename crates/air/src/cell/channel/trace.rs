use nodeb_base::params;
use std::sync::Arc;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, Rate};

use super::shared::{self, Decibels};
use super::{ChannelFacts, ChannelParams};
use crate::numerology::Numerology;

pub use nodeb_net::AtEnd;

params! {
    /// Recording of a user's channel from TTI 0. A recording has SNRs or bit rates, or on `lte` CQIs.
    /// On `hsdpa`, SNRs may have CQIs beside them, and the SNRs after two and three transmissions of a
    /// block. `nodeb import` writes such files.
    pub struct Trace {
        /// Path of a recording that contains the lists, relative to the folder of the scenario
        /// file.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// Behaviour at the end of the recording. Default: none, the run must not be longer than
        /// the recording.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub at_end: Option<AtEnd>,
        /// Bit rate of each TTI, instead of SNRs: the size of the TTI's block is this rate times the
        /// TTI, 2 ms on `hsdpa` and 1 ms on `lte`, and the block cannot fail. On `lte`, a part of the
        /// resource blocks carries the same part of the rate.
        #[serde(skip_serializing_if = "shared::is_empty")]
        pub rates: Arc<Vec<Rate>>,
        /// SNR of each TTI in dB: on `hsdpa` that of HS-PDSCH before despreading, on `lte` that of
        /// a resource element.
        pub snrs_db: Decibels,
        /// SNR in dB after two transmissions of a block, listed by the TTI of the second one, on
        /// `hsdpa` only. Default: computed by combining.
        #[serde(skip_serializing_if = "<[f64]>::is_empty")]
        pub second_db: Decibels,
        /// SNR in dB after three transmissions of a block, listed by the TTI of the third one, on
        /// `hsdpa` only. Default: computed by combining.
        #[serde(skip_serializing_if = "<[f64]>::is_empty")]
        pub third_db: Decibels,
        /// CQI measured in each TTI. On `hsdpa` 0 to 30, beside SNRs. On `lte` 0 to 15, instead of SNRs,
        /// and the SNR is the middle of those at which phones report the CQI. Default: computed from the
        /// SNR.
        #[serde(skip_serializing_if = "shared::is_empty")]
        pub cqi: Arc<Vec<u8>>,
    }
}

impl ChannelParams for Trace {
    fn facts(&self) -> ChannelFacts {
        let (has_rates, has_cqis) = (!self.rates.is_empty(), !self.cqi.is_empty());
        let has_snrs = !self.snrs_db.is_empty();
        let combined = [("second_db", &self.second_db), ("third_db", &self.third_db)];
        let combined_snrs = combined.into_iter().find(|(_, snrs)| !snrs.is_empty()).map(|(key, _)| key);
        let ends = self.at_end.is_none();
        ChannelFacts { has_rates, has_cqis, has_snrs, combined_snrs, ends, ..ChannelFacts::default() }
    }

    fn unread(&self) -> Option<String> {
        let file = self.unread_file()?;
        Some(format!("the recording `{file}` has not been read; expected its contents as lists"))
    }

    fn check_during(&self, duration: Duration, numerology: Numerology, check: &mut Check) {
        let lasts = Duration(self.ttis() * numerology.tti.0);
        let is_short = self.unread_file().is_none() && self.at_end.is_none() && lasts < duration;
        check.require(!is_short, "at_end", || {
            format!("the recording ends at {lasts}, the run at {duration}; expected `loop` or `stop`")
        });
    }
}

impl Trace {
    /// The caller must read the file, because this crate reads none.
    pub fn unread_file(&self) -> Option<&str> {
        self.file.as_deref().filter(|_| self.ttis() == 0)
    }

    pub fn ttis(&self) -> u64 {
        self.snrs_db.len().max(self.rates.len()).max(self.cqi.len()) as u64
    }
}

impl Checked for Trace {
    fn check(&self, check: &mut Check) {
        check.require(self.file.is_some() || self.ttis() > 0, "snrs_db", || {
            "the list is empty; expected at least one SNR, `rates`, or a `file`".to_owned()
        });
        for (key, is_empty) in [("snrs_db", self.snrs_db.is_empty()), ("cqi", self.cqi.is_empty())] {
            check.require(self.rates.is_empty() || is_empty, "rates", || {
                format!("`rates` and `{key}` cannot be combined; leave one of them out")
            });
        }
        let invalid = self.rates.iter().find(|rate| rate.0 > 1_000_000_000_000);
        check.require(invalid.is_none(), "rates", || {
            format!("{} is out of range; expected at most 1 Tbps", invalid.copied().unwrap_or_default())
        });
        let lists =
            [("snrs_db", &self.snrs_db), ("second_db", &self.second_db), ("third_db", &self.third_db)];
        for (key, list) in lists {
            let invalid = list.iter().position(|snr| snr.is_nan() || snr.abs() > 200.0);
            check.require(invalid.is_none(), key, || {
                let at = invalid.unwrap_or_default();
                format!("entry {at} is {}; expected an SNR from -200 to 200 dB", list[at])
            });
        }
        let lengths =
            [("second_db", self.second_db.len()), ("third_db", self.third_db.len()), ("cqi", self.cqi.len())];
        for (key, length) in lengths {
            let has_partner = key != "cqi" || !self.snrs_db.is_empty();
            check.require(length == 0 || length == self.snrs_db.len() || !has_partner, key, || {
                format!("{length} values for {} SNRs; expected one each", self.snrs_db.len())
            });
        }
        let invalid = self.cqi.iter().position(|cqi| *cqi > 30);
        check.require(invalid.is_none(), "cqi", || {
            let at = invalid.unwrap_or_default();
            format!("entry {at} is {}; expected a CQI from 0 to 30", self.cqi[at])
        });
    }
}

/// Recorded channel of one user, from which the values of each TTI are read.
#[derive(Debug)]
pub struct Player {
    at_end: AtEnd,
    snrs: [Decibels; 3],
    cqi: Arc<Vec<u8>>,
    rates: Arc<Vec<Rate>>,
    lines: u64,
}

impl Player {
    pub fn new(params: &Trace) -> Self {
        Self {
            at_end: params.at_end.unwrap_or(AtEnd::Stop),
            snrs: [&params.snrs_db, &params.second_db, &params.third_db].map(Clone::clone),
            cqi: params.cqi.clone(),
            rates: params.rates.clone(),
            lines: params.ttis(),
        }
    }

    /// `u64::MAX` if the recording loops.
    pub fn ends(&self) -> u64 {
        match self.at_end {
            AtEnd::Stop => self.lines,
            AtEnd::Loop => u64::MAX,
        }
    }

    fn line(&self, tti: u64) -> Option<usize> {
        match self.at_end {
            AtEnd::Stop => (tti < self.lines).then_some(tti as usize),
            AtEnd::Loop => tti.checked_rem(self.lines).map(|line| line as usize),
        }
    }

    /// Returns 0 if rates were recorded instead, and after the end of a recording that does not loop.
    pub fn snr(&self, tti: u64) -> f32 {
        self.line(tti).and_then(|line| self.snrs[0].linear().get(line)).copied().unwrap_or(0.0)
    }

    /// Returns 0 if SNRs were recorded instead, and after the end of a recording that does not loop.
    pub fn rate(&self, tti: u64) -> u64 {
        self.line(tti).and_then(|line| self.rates.get(line)).map_or(0, |rate| rate.0)
    }

    pub fn cqi(&self, tti: u64) -> Option<u8> {
        if self.cqi.is_empty() {
            return None;
        }
        Some(self.line(tti).map_or(0, |line| self.cqi[line]))
    }

    pub fn combined(&self, tti: u64, transmission: u32) -> Option<f32> {
        let list = self.snrs[transmission.clamp(1, 3) as usize - 1].linear();
        if list.is_empty() {
            return None;
        }
        Some(self.line(tti).map_or(0.0, |line| list[line]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(at_end: AtEnd) -> Player {
        Player::new(&Trace {
            at_end: Some(at_end),
            snrs_db: vec![0.0, 10.0].into(),
            second_db: vec![3.0, 13.0].into(),
            third_db: vec![5.0, 20.0].into(),
            cqi: Arc::new(vec![16, 26]),
            ..Trace::default()
        })
    }

    #[test]
    fn a_recording_loops_or_stops() {
        let snrs = |at_end| [0, 1, 2, 3].map(|tti| player(at_end).snr(tti).round() as u32);
        assert_eq!(snrs(AtEnd::Loop), [1, 10, 1, 10]);
        assert_eq!(snrs(AtEnd::Stop), [1, 10, 0, 0]);
        assert_eq!(player(AtEnd::Stop).cqi(5), Some(0));
        assert_eq!(player(AtEnd::Loop).cqi(5), Some(26));
        assert_eq!([AtEnd::Stop, AtEnd::Loop].map(|at_end| player(at_end).ends()), [2, u64::MAX]);
    }

    #[test]
    fn recorded_combining_is_used() {
        let combined = |n| player(AtEnd::Loop).combined(1, n).unwrap();
        assert!((combined(1) - 10.0).abs() < 1e-5 && (combined(2) - 19.952_62).abs() < 1e-3);
        assert!((combined(3) - 100.0).abs() < 1e-3 && (combined(7) - 100.0).abs() < 1e-3);
        let plain = Player::new(&Trace { snrs_db: vec![1.0].into(), ..Trace::default() });
        assert_eq!((plain.combined(0, 2), plain.cqi(0)), (None, None));
    }
}
