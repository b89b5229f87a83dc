//! Log-distance path loss: proportional to a power of the distance.
//!
//! Defaults: the macro cell of TR 101 112 (UMTS 30.03), B.1.4.1.3, and TR 25.848, table A.3, `128.1 + 37.6
//! log10(d / km)` dB at 2 GHz with the antenna 15 m above the roofs.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;

params! {
    /// Parameters of log-distance path loss, which grows with a power of the distance.
    pub struct LogDistance {
        /// Path loss in dB at a distance of 1 km.
        pub at_1km_db: f64 = 128.1,
        /// Exponent with which the path loss grows with distance; 2 in free space.
        pub exponent: f64 = 3.76,
    }
}

impl Checked for LogDistance {
    fn check(&self, check: &mut Check) {
        check.range("at_1km_db", self.at_1km_db, 0.0..=300.0);
        check.range("exponent", self.exponent, 1.0..=8.0);
    }
}

impl LogDistance {
    pub fn loss_db(&self, log_km: f64) -> f64 {
        self.at_1km_db + 10.0 * self.exponent * log_km
    }
}
