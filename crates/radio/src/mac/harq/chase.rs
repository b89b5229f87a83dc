//! Chase combining: the receiver adds the soft values of identical transmissions.
//!
//! Frederiksen & Kolding, "Performance and modeling of WCDMA/HSDPA transmission/H-ARQ schemes", VTC
//! 2002 Fall: the SNR of n equal transmissions is `n eta^(n-1)` times that of a single
//! transmission, with a combining efficiency eta of about 0.93.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Probability;

use super::LAST_DISTINCT;

params! {
    /// Parameters of Chase combining, by which the receiver adds up the energy of all
    /// transmissions.
    pub struct Chase {
        /// Combining efficiency: share of the ideal gain that each further transmission keeps, 0.9 to 1.
        pub efficiency: Probability = Probability(0.93),
    }
}

impl Checked for Chase {
    fn check(&self, check: &mut Check) {
        check.require(self.efficiency.0 >= 0.9, "efficiency", || {
            format!(
                "{} is out of range, as combining would lose more than it gains; expected 0.9 to 1",
                self.efficiency.0
            )
        });
    }
}

impl Chase {
    /// Returns the SNR (linear, per symbol) after combining `n` transmissions that each have the
    /// SNR `snr`.
    pub fn combined_snr(&self, snr: f64, n: u32) -> f64 {
        snr * f64::from(n) * libm::pow(self.efficiency.0, f64::from(n - 1))
    }

    /// Returns the SNR after transmission number `n` with SNR `snr`, if combining the earlier
    /// transmissions gave the SNR `before`. After transmission [`LAST_DISTINCT`], the combining
    /// loss does not grow further; until then the result for equal SNRs is [`Self::combined_snr`].
    pub fn add(&self, before: f64, snr: f64, n: u32) -> f64 {
        let kept = if n <= LAST_DISTINCT { self.efficiency.0 * before } else { before };
        kept + libm::pow(self.efficiency.0, f64::from(n.min(LAST_DISTINCT) - 1)) * snr
    }
}
