//! Multipath profiles: the tapped delay lines of ITU-R M.1225 and of 3GPP specifications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Path of a multipath profile: its delay and mean power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tap {
    /// Delay in ns relative to the first path, at least 0.
    pub delay_ns: f64,
    /// Mean power in dB, -200 to 200. Only differences between taps matter.
    pub power_db: f64,
}

/// Multipath profile of the radio channel between terminal and base station.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// One path without fading: white noise only.
    #[default]
    Static,
    /// Pedestrian A at 3 km/h (ITU-R M.1225, outdoor to indoor and pedestrian, channel A).
    PedestrianA,
    /// Vehicular A at 120 km/h (ITU-R M.1225, vehicular, channel A).
    VehicularA,
    /// Vehicular B at 120 km/h (ITU-R M.1225, vehicular, channel B).
    VehicularB,
    /// Case 1 at 3 km/h (TS 25.104, annex B.2).
    Case1,
    /// Case 2 at 3 km/h (TS 25.104, annex B.2).
    Case2,
    /// Case 3 at 120 km/h (TS 25.104, annex B.2).
    Case3,
    /// User-defined paths with Rayleigh fading, 1 to 64.
    Taps(Vec<Tap>),
}

impl Profile {
    /// Powers of predefined profiles are those of the standard, in dB and not normalised.
    pub fn taps(&self) -> Vec<Tap> {
        let published: &[(f64, f64)] = match self {
            Self::Static => &[(0.0, 0.0)],
            Self::PedestrianA => &[(0.0, 0.0), (110.0, -9.7), (190.0, -19.2), (410.0, -22.8)],
            Self::VehicularA => {
                &[(0.0, 0.0), (310.0, -1.0), (710.0, -9.0), (1090.0, -10.0), (1730.0, -15.0), (2510.0, -20.0)]
            }
            Self::VehicularB => &[
                (0.0, -2.5),
                (300.0, 0.0),
                (8900.0, -12.8),
                (12_900.0, -10.0),
                (17_100.0, -25.2),
                (20_000.0, -16.0),
            ],
            Self::Case1 => &[(0.0, 0.0), (976.0, -10.0)],
            Self::Case2 => &[(0.0, 0.0), (976.0, 0.0), (20_000.0, 0.0)],
            Self::Case3 => &[(0.0, 0.0), (260.0, -3.0), (521.0, -6.0), (781.0, -9.0)],
            Self::Taps(taps) => return taps.clone(),
        };
        published.iter().map(|&(delay_ns, power_db)| Tap { delay_ns, power_db }).collect()
    }

    /// For which the profile is defined: 0 for `Static`, 3 km/h for user-defined taps.
    pub fn speed_kmh(&self) -> f64 {
        match self {
            Self::Static => 0.0,
            Self::PedestrianA | Self::Case1 | Self::Case2 | Self::Taps(_) => 3.0,
            Self::VehicularA | Self::VehicularB | Self::Case3 => 120.0,
        }
    }

    pub fn fades(&self) -> bool {
        *self != Self::Static
    }

    /// Checks that there are 1 to 64 taps with delays of at least 0 ns and powers of -200 to 200
    /// dB.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of taps, a delay or a power is out of range.
    pub fn check(&self) -> Result<()> {
        let taps = self.taps();
        if taps.is_empty() || taps.len() > 64 {
            return Err(Error::config("taps", format!("1 to 64 taps, not {}", taps.len())));
        }
        for (at, tap) in taps.iter().enumerate() {
            if !(tap.delay_ns >= 0.0 && tap.delay_ns.is_finite()) {
                return Err(Error::config(format!("taps[{at}].delay_ns"), "a finite delay of 0 ns or more"));
            }
            if !(-200.0..=200.0).contains(&tap.power_db) {
                return Err(Error::config(format!("taps[{at}].power_db"), "a power of -200 to 200 dB"));
            }
        }
        Ok(())
    }
}
