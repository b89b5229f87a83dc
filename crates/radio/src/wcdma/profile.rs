use nodeb_base::params;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::registry;
use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

registry! {
    /// Power delay profile, as a scenario names it.
    "profile" ProfileSpec = EqualPaths {
        /// Paths of equal mean power (channel model A of `hossain`).
        "equal_paths" => EqualPaths(EqualPaths),
        /// Vehicular B of ITU-R M.1225, for large cells (channel model B of `hossain`).
        "vehicular_b" => VehicularB(VehicularB),
        /// Paths with user-defined mean powers.
        "taps" => Taps(Taps),
    }
}

impl ProfileSpec {
    /// With a sum of 1.
    pub fn shares(&self) -> Vec<f64> {
        match self {
            Self::EqualPaths(params) => normalized(&vec![1.0; params.paths.get() as usize]),
            Self::VehicularB(params) => normalized(&params.powers()),
            Self::Taps(params) => normalized(&params.powers),
        }
    }
}

/// With a sum of 1.
pub fn normalized(powers: &[f64]) -> Vec<f64> {
    let total: f64 = powers.iter().sum();
    powers.iter().map(|power| power / total).collect()
}

params! {
    /// Paths of equal mean power, which fade independently.
    #[derive(Eq)]
    pub struct EqualPaths {
        /// Number of paths of equal mean power.
        pub paths: NonZeroU32 = NonZeroU32::new(4).expect("a positive constant"),
    }
}

/// A larger value must be a typing error.
const MAX_PATHS: u32 = 100;

impl Checked for EqualPaths {
    fn check(&self, check: &mut Check) {
        check.at_most("paths", self.paths.get(), MAX_PATHS);
    }
}

params! {
    /// Taps of Vehicular B (ITU-R M.1225). Taps that are close in time form one path.
    #[derive(Eq)]
    pub struct VehicularB {
        /// Distance in time below which successive taps form one path with their total power.
        /// Default: 260 ns, a chip at 3.84 Mcps, with which all six taps are separate paths.
        pub resolution: Duration = Duration(260),
    }
}

/// Delay in ns and power in dB (ITU-R M.1225, annex 2, table 5).
const VEHICULAR_B: [(u64, f64); 6] =
    [(0, -2.5), (300, 0.0), (8_900, -12.8), (12_900, -10.0), (17_100, -25.2), (20_000, -16.0)];

impl Checked for VehicularB {}

impl VehicularB {
    fn powers(&self) -> Vec<f64> {
        let mut powers: Vec<f64> = Vec::new();
        let mut last = None;
        for (delay, db) in VEHICULAR_B {
            let power = libm::pow(10.0, db / 10.0);
            match powers.last_mut() {
                Some(path) if last.is_some_and(|last| delay - last < self.resolution.0) => *path += power,
                _ => powers.push(power),
            }
            last = Some(delay);
        }
        powers
    }
}

/// Power delay profile with user-defined mean powers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Taps {
    /// Mean power of each path on a linear scale. Only the ratios of the powers matter, as each is
    /// divided by their sum.
    pub powers: Vec<f64>,
}

/// Deviation of a sum of powers from 1 without a warning.
const SUM_TOLERANCE: f64 = 1e-6;

impl Checked for Taps {
    fn check(&self, check: &mut Check) {
        let total: f64 = self.powers.iter().sum();
        let possible = self.powers.iter().all(|power| power.is_finite() && *power >= 0.0);
        check.require(possible && total > 0.0 && total.is_finite(), "powers", || {
            "the powers are negative or all 0; expected powers of at least 0 with a sum above 0, such as [0.5, 0.3, 0.2]".to_owned()
        });
        check.advise((total - 1.0).abs() < SUM_TOLERANCE, "powers", || {
            format!("the powers of the paths sum to {total} instead of 1; each is divided by the sum")
        });
        check.require(self.powers.len() <= MAX_PATHS as usize, "powers", || {
            format!("{} paths are too many; expected at most {MAX_PATHS}", self.powers.len())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vehicular_b(resolution_ns: u64) -> Vec<f64> {
        ProfileSpec::VehicularB(VehicularB { resolution: Duration(resolution_ns) }).shares()
    }

    #[test]
    fn shares_sum_to_one() {
        let own = ProfileSpec::Taps(Taps { powers: vec![3.0, 0.0, 1.0] });
        assert_eq!(own.shares(), [0.75, 0.0, 0.25]);
        for profile in [ProfileSpec::default(), ProfileSpec::VehicularB(VehicularB::default()), own] {
            assert!((profile.shares().iter().sum::<f64>() - 1.0).abs() < 1e-12, "{profile:?}");
        }
    }

    #[test]
    fn taps_closer_than_the_resolution_are_one_path() {
        let resolved = vehicular_b(260);
        assert_eq!(resolved.len(), 6);
        assert!((resolved[1] - 0.573_7).abs() < 1e-4, "{resolved:?}");
        let merged = vehicular_b(610);
        assert_eq!(merged.len(), 5);
        assert!((merged[0] - resolved[0] - resolved[1]).abs() < 1e-12, "{merged:?}");
        assert_eq!(vehicular_b(1_000_000).len(), 1);
    }
}
