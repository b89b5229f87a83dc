//! The profiles are those of ITU-R M.1225, annex 2, tables 4 (outdoor to indoor and pedestrian) and 5
//! (vehicular). A receiver resolves paths that are at least one chip apart: each path is assigned to the
//! nearest chip, and paths assigned to the same chip form one path with their total power (their sum is again
//! Rayleigh distributed). The extended profiles of LTE are those of TS 36.101, tables B.2.1-2 to B.2.1-4 (and
//! TS 36.104, annex B.2). Where the channel depends on frequency, [`Profile::delays`] returns all paths,
//! however close.

use nodeb_base::check::Check;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Speed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::doppler::{JakesSequence, Ray};
use crate::numerology::Numerology;

/// Path of a power-delay profile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tap {
    /// Delay of the path after the first path.
    pub delay: Duration,
    /// Mean power in dB, relative to the other paths.
    pub power_db: f64,
}

/// Power-delay profile, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// One path: flat Rayleigh fading.
    Flat,
    /// Outdoor to indoor and pedestrian, channel A (ITU-R M.1225).
    #[default]
    PedestrianA,
    /// Outdoor to indoor and pedestrian, channel B (ITU-R M.1225).
    PedestrianB,
    /// Vehicular, channel A (ITU-R M.1225).
    VehicularA,
    /// Vehicular, channel B (ITU-R M.1225).
    VehicularB,
    /// Extended Pedestrian A of LTE.
    ExtendedPedestrianA,
    /// Extended Vehicular A of LTE.
    ExtendedVehicularA,
    /// Extended Typical Urban of LTE.
    ExtendedTypicalUrban,
}

impl Profile {
    // Clause: TS 36.101, B.2.1: delay profiles EPA, EVA and ETU
    /// Delay in nanoseconds and mean power in dB.
    fn table(self) -> &'static [(u64, f64)] {
        match self {
            Self::Flat => &[(0, 0.0)],
            Self::PedestrianA => &[(0, 0.0), (110, -9.7), (190, -19.2), (410, -22.8)],
            Self::PedestrianB => {
                &[(0, 0.0), (200, -0.9), (800, -4.9), (1_200, -8.0), (2_300, -7.8), (3_700, -23.9)]
            }
            Self::VehicularA => {
                &[(0, 0.0), (310, -1.0), (710, -9.0), (1_090, -10.0), (1_730, -15.0), (2_510, -20.0)]
            }
            Self::VehicularB => {
                &[(0, -2.5), (300, 0.0), (8_900, -12.8), (12_900, -10.0), (17_100, -25.2), (20_000, -16.0)]
            }
            Self::ExtendedPedestrianA => {
                &[(0, 0.0), (30, -1.0), (70, -2.0), (90, -3.0), (110, -8.0), (190, -17.2), (410, -20.8)]
            }
            Self::ExtendedVehicularA => &[
                (0, 0.0),
                (30, -1.5),
                (150, -1.4),
                (310, -3.6),
                (370, -0.6),
                (710, -9.1),
                (1_090, -7.0),
                (1_730, -12.0),
                (2_510, -16.9),
            ],
            Self::ExtendedTypicalUrban => &[
                (0, -1.0),
                (50, -1.0),
                (120, -1.0),
                (200, 0.0),
                (230, 0.0),
                (500, 0.0),
                (1_600, -3.0),
                (2_300, -5.0),
                (5_000, -7.0),
            ],
        }
    }

    /// In the order of delay, with a sum of 1; taps, if any, replace the profile.
    pub fn resolved(self, taps: &[Tap], numerology: Numerology) -> Vec<f64> {
        let mut chips: Vec<(u64, f64)> = Vec::new();
        let own = taps.iter().map(|tap| (tap.delay.0, tap.power_db));
        let named = self.table().iter().copied().filter(|_| taps.is_empty());
        for (delay, power_db) in own.chain(named) {
            let chip = numerology.chip(delay);
            let power = libm::pow(10.0, power_db / 10.0);
            match chips.iter_mut().find(|(at, _)| *at == chip) {
                Some((_, sum)) => *sum += power,
                None => chips.push((chip, power)),
            }
        }
        chips.sort_unstable_by_key(|(chip, _)| *chip);
        let total: f64 = chips.iter().map(|(_, power)| power).sum();
        chips.into_iter().map(|(_, power)| power / total).collect()
    }

    /// Delay in seconds and mean power, with a sum of 1; taps, if any, replace the profile.
    pub fn delays(self, taps: &[Tap]) -> Vec<(f64, f64)> {
        let own = taps.iter().map(|tap| (tap.delay.0, tap.power_db));
        let named = self.table().iter().copied().filter(|_| taps.is_empty());
        let linear = |(delay, db): (u64, f64)| (delay as f64 * 1e-9, libm::pow(10.0, db / 10.0));
        let mut paths: Vec<(f64, f64)> = own.chain(named).map(linear).collect();
        let total: f64 = paths.iter().map(|(_, power)| power).sum();
        for (_, power) in &mut paths {
            *power /= total;
        }
        paths
    }
}

pub fn check_taps(taps: &[Tap], check: &mut Check) {
    check.require(taps.iter().all(|tap| tap.power_db.abs() <= 200.0), "taps", || {
        "a path's power is out of range; expected -200 to 200 dB".to_owned()
    });
    check.require(taps.len() <= 100, "taps", || {
        format!("{} paths are too many; expected at most 100", taps.len())
    });
}

/// In the order of delay.
#[derive(Clone, Debug)]
pub struct Paths(Box<[Path]>);

#[derive(Clone, Debug)]
struct Path {
    ray: Ray,
    /// The mean gains of a user's paths sum to 1.
    mean: f32,
}

/// TTIs computed together, which takes little longer than one.
pub const BLOCK: usize = 8;

/// Paths whose gains are on the stack; with the chips of HSDPA no named profile has more.
const FEW: usize = 8;

impl Paths {
    /// If `speed` is 0, their gains are constant.
    pub fn new(
        profile: Profile,
        taps: &[Tap],
        speed: Speed,
        id: u64,
        streams: &Streams,
        numerology: Numerology,
    ) -> Self {
        let doppler = numerology.doppler_per_tti(speed);
        let path = |(i, power): (usize, f64)| {
            let draws = streams.indexed("user", id, &format!("path {i}"));
            Path { ray: Ray::new(doppler, draws), mean: power as f32 }
        };
        Self(profile.resolved(taps, numerology).into_iter().enumerate().map(path).collect())
    }

    /// The sum of the gains has mean 1.
    #[inline]
    pub fn gains<R>(&mut self, sequence: &JakesSequence, tti: u64, look: impl FnOnce(&[f32]) -> R) -> R {
        self.each(look, |path, gain| *gain = path.ray.gain(sequence, tti) * path.mean)
    }

    #[inline]
    pub fn blocks<R>(
        &mut self,
        sequence: &JakesSequence,
        tti: u64,
        look: impl FnOnce(&[[f32; BLOCK]]) -> R,
    ) -> R {
        self.each(look, |path, gains| path.ray.gains(sequence, tti, path.mean, gains))
    }

    /// Also the first TTI in which the bounds are not valid; `None` if the paths fade so fast that evaluating
    /// each TTI takes less time.
    #[inline]
    pub fn peaks<R>(
        &mut self,
        sequence: &JakesSequence,
        tti: u64,
        look: impl FnOnce(&[f32]) -> R,
    ) -> Option<(R, u64)> {
        let ttis = self.0.first()?.ray.peak_ttis();
        if ttis < BLOCK as u64 {
            return None;
        }
        let found = self.each(look, |path, gain| *gain = path.ray.peak(sequence, tti, ttis) * path.mean);
        Some((found, tti + ttis))
    }

    #[inline]
    fn each<T: Copy + Default, R>(
        &mut self,
        look: impl FnOnce(&[T]) -> R,
        mut put: impl FnMut(&mut Path, &mut T),
    ) -> R {
        let (mut few, mut many) = ([T::default(); FEW], Vec::new());
        let found = if self.0.len() > FEW {
            many.resize(self.0.len(), T::default());
            &mut many[..]
        } else {
            &mut few[..self.0.len()]
        };
        for (path, found) in self.0.iter_mut().zip(&mut *found) {
            put(path, found);
        }
        look(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_within_a_chip_are_merged() {
        let power = |db: f64| 10f64.powf(db / 10.0);
        let found = Profile::PedestrianA.resolved(&[], Numerology::HSDPA);
        let expected = [1.0 + power(-9.7), power(-19.2), power(-22.8)];
        let total: f64 = expected.iter().sum();
        assert_eq!(found.len(), 3);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected / total).abs() < 1e-12);
        }
        assert_eq!(Profile::VehicularA.resolved(&[], Numerology::HSDPA).len(), 6);
    }

    #[test]
    fn user_defined_taps_replace_the_profile() {
        let tap = |ns, power_db| Tap { delay: Duration(ns), power_db };
        let own = [tap(1_000, 0.0), tap(0, 3.0103)];
        let found = Profile::VehicularA.resolved(&own, Numerology::HSDPA);
        assert!((found[0] - 2.0 / 3.0).abs() < 1e-6 && (found[1] - 1.0 / 3.0).abs() < 1e-6, "{found:?}");
    }

    // Tests the feature: delay profiles EPA, EVA and ETU (standard's table)
    /// Those of TS 36.101, table B.2.1-1, which gives 45 ns where the paths have 43 ns.
    #[test]
    fn extended_profiles_have_the_delay_spreads_of_the_specification() {
        for (profile, paths, spread_ns, longest_ns) in [
            (Profile::ExtendedPedestrianA, 7, 45.0, 410.0),
            (Profile::ExtendedVehicularA, 9, 357.0, 2_510.0),
            (Profile::ExtendedTypicalUrban, 9, 991.0, 5_000.0),
        ] {
            let delays = profile.delays(&[]);
            let moment =
                |n| delays.iter().map(|(delay, power)| power * (delay * 1e9f64).powi(n)).sum::<f64>();
            let spread = (moment(2) - moment(1).powi(2)).sqrt();
            assert!((spread - spread_ns).abs() < 2.5, "{profile:?}: {spread}");
            assert!((moment(0) - 1.0).abs() < 1e-12 && delays.len() == paths, "{profile:?}");
            assert!((delays[paths - 1].0 * 1e9 - longest_ns).abs() < 1e-6, "{profile:?}");
        }
    }
}
