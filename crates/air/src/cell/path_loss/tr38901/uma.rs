use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Distance;

use super::super::Loss;
use super::super::sight::Sight;
use super::{Environment, TwoSlopes, advise_height, check_range, sight_in_streets};

params! {
    /// Parameters of the urban macro cell (UMa) of TR 38.901.
    pub struct Uma {
        /// Carrier frequency in GHz, 0.5 to 100.
        pub frequency_ghz: f64 = 2.0,
        /// Height of the base station's antenna, 22.5 m to 150 m. TR 38.901 has 25 m only, so other
        /// heights give a warning.
        pub base_height: Distance = Distance::from_metres(25),
        /// Height of the phone's antenna, 1.5 m to 22.5 m.
        pub phone_height: Distance = Distance(1_500),
    }
}

impl Checked for Uma {
    fn check(&self, check: &mut Check) {
        check_range(check, "frequency_ghz", self.frequency_ghz, 0.5..=100.0);
        check_range(check, "base_height", self.base_height, Distance(22_500)..=Distance::from_metres(150));
        check_range(check, "phone_height", self.phone_height, Distance(1_500)..=Distance(22_500));
        advise_height(check, self.base_height, Distance::from_metres(25));
    }
}

/// Table 7.4.1-1.
const CLEAR: TwoSlopes = TwoSlopes { at_1m: 28.0, slope: 22.0, breakpoint: 9.0 };
/// Apart from the usual 1 m.
const LOWEST_ROOF_M: f64 = 12.0;
/// Height of a floor.
const FLOOR_M: f64 = 3.0;

impl Uma {
    /// `C(d, h)` of tables 7.4.1-1 and 7.4.2-1: 0 for phones up to 13 m high, and up to 18 m away.
    fn high_floor(&self, metres: f64) -> f64 {
        let above = (self.phone_height.as_metres() - 13.0).max(0.0);
        if metres <= 18.0 {
            return 0.0;
        }
        let far = libm::pow(metres / 100.0, 3.0) * libm::exp(-metres / 150.0);
        1.25 * libm::pow(above / 10.0, 1.5) * far
    }

    /// 1 m, or one of the floors from 12 m to 1.5 m below the phone (note 1 of table 7.4.1-1).
    fn ground_m(&self, metres: f64, sight: Sight) -> f64 {
        let [roof, floor] = sight.ground;
        if roof < 1.0 / (1.0 + self.high_floor(metres)) {
            return 1.0;
        }
        let highest = self.phone_height.as_metres() - 1.5;
        let floors = ((highest - LOWEST_ROOF_M) / FLOOR_M).floor().max(0.0) + 1.0;
        LOWEST_ROOF_M + FLOOR_M * (floor * floors).floor()
    }
}

impl Environment for Uma {
    const OBSTRUCTED_SIGMA_DB: f64 = 6.0;
    const CORRELATION_M: f64 = 50.0;

    fn rise_m(&self) -> f64 {
        self.base_height.as_metres() - self.phone_height.as_metres()
    }

    fn sight_probability(&self, metres: f64) -> f64 {
        sight_in_streets(metres, 63.0) * (1.0 + self.high_floor(metres))
    }

    fn clear(&self, metres: f64, slant_m: f64, sight: Sight) -> Loss {
        let heights = [self.base_height, self.phone_height].map(Distance::as_metres);
        let ground_m = self.ground_m(metres, sight);
        let db = CLEAR.loss_db(metres, slant_m, self.frequency_ghz, heights, ground_m);
        Loss { db, sigma_db: Some(4.0) }
    }

    fn obstructed_db(&self, slant_m: f64) -> f64 {
        let lift = 0.6 * (self.phone_height.as_metres() - 1.5);
        13.54 + 39.08 * libm::log10(slant_m) + 20.0 * libm::log10(self.frequency_ghz) - lift
    }
}
