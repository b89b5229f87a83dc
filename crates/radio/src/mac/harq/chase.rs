//! Chase combining: the receiver adds up the soft values of identical transmissions.
//!
//! Frederiksen & Kolding, "Performance and modeling of WCDMA/HSDPA transmission/H-ARQ schemes",
//! VTC 2002 Fall: the SNR of n equal transmissions is `n eta^(n-1)` times that of one, with a
//! combining efficiency eta of about 0.93.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Probability;

use super::LAST_DISTINCT;

params! {
    /// Parameters of Chase combining.
    pub struct Chase {
        /// Share of the ideal gain that each further transmission keeps.
        pub efficiency: Probability = Probability(0.93),
    }
}

impl Checked for Chase {
    fn check(&self, check: &mut Check) {
        check.require(self.efficiency.0 >= 0.9, "efficiency", || {
            format!("at {} combining would lose more than it gains; expected 0.9 to 1", self.efficiency.0)
        });
    }
}

impl Chase {
    /// SNR (linear, per symbol) of `n` transmissions of SNR `snr` each.
    pub fn combined_snr(&self, snr: f64, n: u32) -> f64 {
        snr * f64::from(n) * libm::pow(self.efficiency.0, f64::from(n - 1))
    }

    /// SNR of `n` transmissions, of which the last has `snr` and those before have `before` together:
    /// [`Self::combined_snr`] where they may differ. After the last that counts for itself what is there
    /// is kept, and more adds to it.
    pub fn add(&self, before: f64, snr: f64, n: u32) -> f64 {
        let kept = if n <= LAST_DISTINCT { self.efficiency.0 * before } else { before };
        kept + libm::pow(self.efficiency.0, f64::from(n.min(LAST_DISTINCT) - 1)) * snr
    }
}
