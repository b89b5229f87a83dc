//! COST 231-Hata: Hata's model for 1.5 to 2 GHz (COST Action 231, "Digital mobile radio towards future
//! generation systems", final report, 1999, section 4.4.1).

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Distance;

params! {
    /// Parameters of COST 231-Hata, a model of path loss for macro cells.
    pub struct Cost231Hata {
        /// Carrier frequency in MHz, 1500 to 2000.
        pub frequency_mhz: f64 = 2_000.0,
        /// Height of the Node B's antenna, 30 m to 200 m.
        pub base_height: Distance = Distance::from_metres(30),
        /// Height of the phone's antenna, 1 m to 10 m.
        pub phone_height: Distance = Distance(1_500),
        /// Whether the area is a metropolitan centre, which adds 3 dB.
        pub metropolitan: bool = false,
    }
}

impl Checked for Cost231Hata {
    fn check(&self, check: &mut Check) {
        check.require((1_500.0..=2_000.0).contains(&self.frequency_mhz), "frequency_mhz", || {
            format!("{} MHz is outside the model's range; expected 1500 to 2000", self.frequency_mhz)
        });
        check.require((30.0..=200.0).contains(&self.base_height.as_metres()), "base_height", || {
            format!("{} is outside the model's range; expected 30 m to 200 m", self.base_height)
        });
        check.require((1.0..=10.0).contains(&self.phone_height.as_metres()), "phone_height", || {
            format!("{} is outside the model's range; expected 1 m to 10 m", self.phone_height)
        });
    }
}

impl Cost231Hata {
    pub fn loss_db(&self, log_km: f64) -> f64 {
        let log_f = libm::log10(self.frequency_mhz);
        let log_h = libm::log10(self.base_height.as_metres());
        let phone = (1.1 * log_f - 0.7) * self.phone_height.as_metres() - (1.56 * log_f - 0.8);
        let centre = if self.metropolitan { 3.0 } else { 0.0 };
        46.3 + 33.9 * log_f - 13.82 * log_h - phone + (44.9 - 6.55 * log_h) * log_km + centre
    }
}
