//! The source is "Study on channel model for frequencies from 0.5 to 100 GHz", Release 17, tables 7.4.1-1
//! (path loss, shadowing) and 7.4.2-1 (probability of line of sight).

pub mod rma;
pub mod uma;
pub mod umi;

use std::fmt::Display;
use std::ops::RangeInclusive;

use nodeb_base::check::Check;
use nodeb_base::units::Distance;

use super::sight::Sight;
use super::{Loss, NEAREST_M};

#[cfg(test)]
mod tests;

/// Formulas with and without line of sight are both valid up to here (table 7.4.1-1).
pub const REACH: Distance = Distance::from_metres(5_000);

/// As rounded in the notes of table 7.4.1-1.
const LIGHT_M_PER_S: f64 = 3e8;

pub trait Environment {
    /// Table 7.4.1-1.
    const OBSTRUCTED_SIGMA_DB: f64;
    /// Table 7.6.3.1-2.
    const CORRELATION_M: f64;

    /// Height of the base station's antenna above the phone's.
    fn rise_m(&self) -> f64;

    /// Table 7.4.2-1.
    fn sight_probability(&self, metres: f64) -> f64;

    /// At the horizontal distance `metres` and the distance `slant_m` between the antennas.
    fn clear(&self, metres: f64, slant_m: f64, sight: Sight) -> Loss;

    /// Table 7.4.1-1, without taking at least the loss with line of sight.
    fn obstructed_db(&self, slant_m: f64) -> f64;

    /// Below 10 m the loss is that at 10 m.
    fn loss(&self, metres: f64, sight: Sight) -> Loss {
        let valid_m = metres.max(NEAREST_M);
        let slant_m = libm::hypot(valid_m, self.rise_m());
        let clear = self.clear(valid_m, slant_m, sight);
        if sight.is_clear(self.sight_probability(metres)) {
            return clear;
        }
        let db = clear.db.max(self.obstructed_db(slant_m));
        Loss { db, sigma_db: Some(Self::OBSTRUCTED_SIGMA_DB) }
    }
}

/// Range of table 7.4.1-1.
fn check_range<T: Copy + PartialOrd + Display>(
    check: &mut Check,
    key: &str,
    value: T,
    range: RangeInclusive<T>,
) {
    check.require(range.contains(&value), key, || {
        let (from, to) = (range.start(), range.end());
        format!("{value} is out of range; expected {from} to {to} (TR 38.901, table 7.4.1-1)")
    });
}

/// `usual` is the only height in table 7.4.1-1.
fn advise_height(check: &mut Check, value: Distance, usual: Distance) {
    check.advise(value == usual, "base_height", || {
        format!("TR 38.901, table 7.4.1-1, is for antennas at {usual} only, not {value}")
    });
}

/// Path loss with line of sight (table 7.4.1-1, UMa and UMi).
struct TwoSlopes {
    /// dB at 1 m and 1 GHz.
    at_1m: f64,
    /// dB per decade before the breakpoint.
    slope: f64,
    /// dB on the logarithm of the squared distance between the antennas at the breakpoint.
    breakpoint: f64,
}

impl TwoSlopes {
    /// Heights of base station and phone, and the effective environment height (note 1 of table 7.4.1-1).
    fn loss_db(&self, metres: f64, slant_m: f64, ghz: f64, heights_m: [f64; 2], ground_m: f64) -> f64 {
        let [base, phone] = heights_m;
        let breakpoint = 4.0 * (base - ground_m) * (phone - ground_m) * ghz * 1e9 / LIGHT_M_PER_S;
        let at_1m_db = self.at_1m + 20.0 * libm::log10(ghz);
        if metres <= breakpoint {
            return at_1m_db + self.slope * libm::log10(slant_m);
        }
        let (far, rise) = (breakpoint * breakpoint, (base - phone) * (base - phone));
        at_1m_db + 40.0 * libm::log10(slant_m) - self.breakpoint * libm::log10(far + rise)
    }
}

/// Table 7.4.2-1, UMa and UMi; 1 up to 18 m.
fn sight_in_streets(metres: f64, decay_m: f64) -> f64 {
    let near = (18.0 / metres).min(1.0);
    near + libm::exp(-metres / decay_m) * (1.0 - near)
}
