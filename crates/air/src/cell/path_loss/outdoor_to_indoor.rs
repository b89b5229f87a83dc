//! Path loss from outdoors to indoors and for pedestrians (ITU-R M.1225, annex 2, 1.2.1.2; TR 101
//! 112, B.1.4.1.2): `40 log10(d / km) + 30 log10(f / MHz) + 49` dB, without line of sight.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;

params! {
    /// Parameters of the outdoor-to-indoor and pedestrian model of path loss.
    pub struct OutdoorToIndoor {
        /// Carrier frequency in MHz.
        pub frequency_mhz: f64 = 2_000.0,
    }
}

impl Checked for OutdoorToIndoor {
    fn check(&self, check: &mut Check) {
        check.range("frequency_mhz", self.frequency_mhz, 100.0..=10_000.0);
    }
}

impl OutdoorToIndoor {
    pub fn loss_db(&self, log_km: f64) -> f64 {
        40.0 * log_km + 30.0 * libm::log10(self.frequency_mhz) + 49.0
    }
}
