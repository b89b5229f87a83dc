use std::f64::consts::PI;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Distance;

use super::super::Loss;
use super::super::sight::Sight;
use super::{Environment, LIGHT_M_PER_S, check_range};

params! {
    /// Parameters of the rural macro cell (RMa) of TR 38.901.
    pub struct Rma {
        /// Carrier frequency in GHz, 0.5 to 30.
        pub frequency_ghz: f64 = 2.0,
        /// Height of the base station's antenna, 10 m to 150 m.
        pub base_height: Distance = Distance::from_metres(35),
        /// Height of the phone's antenna, 1 m to 10 m.
        pub phone_height: Distance = Distance(1_500),
        /// Average width of the streets, 5 m to 50 m.
        pub street_width: Distance = Distance::from_metres(20),
        /// Average height of the buildings, 5 m to 50 m.
        pub building_height: Distance = Distance::from_metres(5),
    }
}

impl Checked for Rma {
    fn check(&self, check: &mut Check) {
        let metres = |from, to| Distance::from_metres(from)..=Distance::from_metres(to);
        check_range(check, "frequency_ghz", self.frequency_ghz, 0.5..=30.0);
        check_range(check, "base_height", self.base_height, metres(10, 150));
        check_range(check, "phone_height", self.phone_height, metres(1, 10));
        check_range(check, "street_width", self.street_width, metres(5, 50));
        check_range(check, "building_height", self.building_height, metres(5, 50));
    }
}

impl Rma {
    /// Note 5 of table 7.4.1-1.
    fn breakpoint_m(&self) -> f64 {
        let heights = self.base_height.as_metres() * self.phone_height.as_metres();
        2.0 * PI * heights * self.frequency_ghz * 1e9 / LIGHT_M_PER_S
    }

    fn near_db(&self, slant_m: f64) -> f64 {
        let height = self.building_height.as_metres();
        let power = libm::pow(height, 1.72);
        20.0 * libm::log10(40.0 * PI * slant_m * self.frequency_ghz / 3.0)
            + (0.03 * power).min(10.0) * libm::log10(slant_m)
            - (0.044 * power).min(14.77)
            + 0.002 * libm::log10(height) * slant_m
    }
}

impl Environment for Rma {
    const OBSTRUCTED_SIGMA_DB: f64 = 8.0;
    const CORRELATION_M: f64 = 60.0;

    fn rise_m(&self) -> f64 {
        self.base_height.as_metres() - self.phone_height.as_metres()
    }

    fn sight_probability(&self, metres: f64) -> f64 {
        libm::exp(-(metres - 10.0).max(0.0) / 1_000.0)
    }

    fn clear(&self, metres: f64, slant_m: f64, _: Sight) -> Loss {
        let breakpoint = self.breakpoint_m();
        if metres <= breakpoint {
            return Loss { db: self.near_db(slant_m), sigma_db: Some(4.0) };
        }
        let db = self.near_db(breakpoint) + 40.0 * libm::log10(slant_m / breakpoint);
        Loss { db, sigma_db: Some(6.0) }
    }

    fn obstructed_db(&self, slant_m: f64) -> f64 {
        let [base, phone, street, building] =
            [self.base_height, self.phone_height, self.street_width, self.building_height]
                .map(Distance::as_metres);
        let (log_base, log_phone) = (libm::log10(base), libm::log10(11.75 * phone));
        let ratio = building / base;
        161.04 - 7.1 * libm::log10(street) + 7.5 * libm::log10(building)
            - (24.37 - 3.7 * ratio * ratio) * log_base
            + (43.42 - 3.1 * log_base) * (libm::log10(slant_m) - 3.0)
            + 20.0 * libm::log10(self.frequency_ghz)
            - (3.2 * log_phone * log_phone - 4.97)
    }
}
