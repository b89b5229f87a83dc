use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Distance;

use super::super::Loss;
use super::super::sight::Sight;
use super::{Environment, TwoSlopes, advise_height, check_range, sight_in_streets};

params! {
    /// Parameters of the urban micro cell in a street canyon (UMi) of TR 38.901.
    pub struct Umi {
        /// Carrier frequency in GHz, 0.5 to 100.
        pub frequency_ghz: f64 = 2.0,
        /// Height of the base station's antenna, 1.5 m to 150 m. TR 38.901 has 10 m only, so other
        /// heights give a warning.
        pub base_height: Distance = Distance::from_metres(10),
        /// Height of the phone's antenna, 1.5 m to 22.5 m.
        pub phone_height: Distance = Distance(1_500),
    }
}

impl Checked for Umi {
    fn check(&self, check: &mut Check) {
        check_range(check, "frequency_ghz", self.frequency_ghz, 0.5..=100.0);
        check_range(check, "base_height", self.base_height, Distance(1_500)..=Distance::from_metres(150));
        check_range(check, "phone_height", self.phone_height, Distance(1_500)..=Distance(22_500));
        advise_height(check, self.base_height, Distance::from_metres(10));
    }
}

/// Table 7.4.1-1.
const CLEAR: TwoSlopes = TwoSlopes { at_1m: 32.4, slope: 21.0, breakpoint: 9.5 };
/// Effective environment height.
const GROUND_M: f64 = 1.0;

impl Environment for Umi {
    const OBSTRUCTED_SIGMA_DB: f64 = 7.82;
    const CORRELATION_M: f64 = 50.0;

    fn rise_m(&self) -> f64 {
        self.base_height.as_metres() - self.phone_height.as_metres()
    }

    fn sight_probability(&self, metres: f64) -> f64 {
        sight_in_streets(metres, 36.0)
    }

    fn clear(&self, metres: f64, slant_m: f64, _: Sight) -> Loss {
        let heights = [self.base_height, self.phone_height].map(Distance::as_metres);
        let db = CLEAR.loss_db(metres, slant_m, self.frequency_ghz, heights, GROUND_M);
        Loss { db, sigma_db: Some(4.0) }
    }

    fn obstructed_db(&self, slant_m: f64) -> f64 {
        let lift = 0.3 * (self.phone_height.as_metres() - 1.5);
        22.4 + 35.3 * libm::log10(slant_m) + 21.3 * libm::log10(self.frequency_ghz) - lift
    }
}
