//! Frederiksen & Kolding, "Performance and modeling of WCDMA/HSDPA transmission/H-ARQ schemes", VTC 2002
//! Fall: the SNR of n equal transmissions is `n eta^(n-1)` times that of one, with an efficiency eta of about
//! 0.93.

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
    /// `n eta^(n-1) snr`, linear, per symbol.
    pub fn combined_snr(&self, snr: f64, n: u32) -> f64 {
        snr * f64::from(n) * libm::pow(self.efficiency.0, f64::from(n - 1))
    }

    /// After transmission [`LAST_DISTINCT`] the combining loss does not grow further; until then equal SNRs
    /// give [`Self::combined_snr`].
    pub fn add(&self, before: f64, snr: f64, n: u32) -> f64 {
        let kept = if n <= LAST_DISTINCT { self.efficiency.0 * before } else { before };
        kept + libm::pow(self.efficiency.0, f64::from(n.min(LAST_DISTINCT) - 1)) * snr
    }
}
