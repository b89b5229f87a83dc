//! Channel estimation: coefficients of rake fingers from the pilots of the DPCCH.

use num_complex::Complex32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::channel::SEGMENT;
use crate::error::{Error, Result};
use crate::spreading::dpcch::PILOTS;
use crate::spreading::{CONTROL_FACTOR, FRAME_CHIPS, SLOT_CHIPS, SLOTS};

/// Number of segments of 64 chips in a radio frame.
pub const SEGMENTS: usize = FRAME_CHIPS / SEGMENT;
const PILOT_CENTRE: usize = PILOTS * CONTROL_FACTOR / 2;

/// Method by which the coefficient of each rake finger is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Estimation {
    /// The receiver knows the true coefficients.
    Perfect,
    /// The receiver estimates coefficients from the pilots: their mean in each slot, a moving
    /// average over slots, and linear interpolation between the middles of the pilots of successive
    /// slots.
    Pilot {
        /// Number of slots in the moving average, an odd number from 1 to 29. More slots reduce
        /// noise but follow fading less closely.
        slots: u32,
    },
}

impl Default for Estimation {
    fn default() -> Self {
        Self::Pilot { slots: 1 }
    }
}

impl Estimation {
    /// Checks that the number of slots is odd and at most 29. Perfect estimation has no parameters.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of slots is even or greater than 29.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Pilot { slots } if slots % 2 == 0 || slots > 29 => Err(Error::config(
                "estimation.pilot.slots",
                format!("an odd number of 1 to 29 slots, not {slots}"),
            )),
            _ => Ok(()),
        }
    }
}

fn smoothed(slots: &[Complex32], at: usize, width: usize) -> Complex32 {
    let around = &slots[at.saturating_sub(width / 2)..slots.len().min(at + width / 2 + 1)];
    around.iter().sum::<Complex32>() / around.len() as f32
}

/// In the middle of each segment; `slots` has pilot estimates from frame 0 on, of which `width` are averaged.
pub fn interpolate(slots: &[Complex32], frame: usize, width: usize, to: &mut [Complex32]) {
    let first = frame * SLOTS;
    // The interpolation in a frame also needs the last slot before the frame and the first slot
    // after it.
    let knots: Vec<Complex32> = (0..SLOTS + 2)
        .map(|i| smoothed(slots, (first + i).saturating_sub(1).min(slots.len() - 1), width))
        .collect();
    for (segment, to) in to.iter_mut().enumerate() {
        let position = segment * SEGMENT + SEGMENT / 2 + SLOT_CHIPS - PILOT_CENTRE;
        let (knot, part) = (position / SLOT_CHIPS, (position % SLOT_CHIPS) as f32 / SLOT_CHIPS as f32);
        *to = knots[knot] * (1.0 - part) + knots[knot + 1] * part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::fading::Fading;
    use crate::gaussian;
    use crate::rng::{Stream, stream};
    use crate::simd::Isa;
    use crate::spreading::CHIP_RATE;

    const DOPPLER_HZ: f64 = 222.0;
    /// On the mean of a slot's pilots, relative to the path's power.
    const NOISE: f64 = 0.2;
    /// Segments that the pilots of a slot cover.
    const SOUNDED: usize = PILOTS * CONTROL_FACTOR / SEGMENT;
    const SLOT_SEGMENTS: usize = SLOT_CHIPS / SEGMENT;

    /// Mean square error for a path of power 1; `at` is in segments.
    fn closed_form(weights: &[(usize, f64)], at: f64) -> f64 {
        let turns = DOPPLER_HZ * SEGMENT as f64 / CHIP_RATE;
        let alike = |lag: f64| libm::j0(2.0 * std::f64::consts::PI * turns * lag);
        let pilots: Vec<(f64, f64)> = weights
            .iter()
            .flat_map(|&(slot, weight)| {
                let first = slot * SLOT_SEGMENTS;
                (first..first + SOUNDED).map(move |one| (one as f64, weight / SOUNDED as f64))
            })
            .collect();
        let with_path: f64 = pilots.iter().map(|(time, weight)| weight * alike(at - time)).sum();
        let among: f64 = pilots
            .iter()
            .flat_map(|(a, v)| pilots.iter().map(move |(b, w)| (a - b, v * w)))
            .map(|(lag, weight)| weight * alike(lag))
            .sum();
        let noise: f64 = weights.iter().map(|(_, weight)| weight * weight * NOISE).sum();
        1.0 - 2.0 * with_path + among + noise
    }

    /// `width` is the width of the moving average, and `part` the position between the pilots, from 0 to 1.
    fn weights(slot: usize, width: usize, part: f64) -> Vec<(usize, f64)> {
        let share = |at: usize| match at {
            0 => 1.0 - part,
            _ if at == width => part,
            _ => 1.0,
        };
        (0..=width).map(|at| (slot + at - width / 2, share(at) / width as f64)).collect()
    }

    fn noise(of: &mut Stream) -> Complex32 {
        let mut parts = [0.0; 2];
        gaussian::fill(Isa::best(), of, (NOISE / 2.0).sqrt() as f32, &mut parts);
        Complex32::new(parts[0], parts[1])
    }

    /// For one random path, over a slot's duration from the middle of the first pilots of frame 1 on.
    fn errors(width: usize, seed: u64) -> Vec<f64> {
        let path = Fading::rayleigh(&mut stream(seed, "fading", 0), 1.0, DOPPLER_HZ);
        let mut h = vec![Complex32::ZERO; 3 * SEGMENTS];
        for (frame, out) in h.chunks_mut(SEGMENTS).enumerate() {
            path.segments(Isa::best(), frame as u64, out);
        }
        let mut draws = stream(seed, "pilots", 0);
        let slots: Vec<Complex32> = h
            .chunks(SLOT_SEGMENTS)
            .map(|slot| slot[..SOUNDED].iter().sum::<Complex32>() / SOUNDED as f32 + noise(&mut draws))
            .collect();
        let mut found = vec![Complex32::ZERO; SEGMENTS];
        interpolate(&slots, 1, width, &mut found);
        let here = SOUNDED / 2..SOUNDED / 2 + SLOT_SEGMENTS;
        here.map(|at| f64::from((found[at] - h[SEGMENTS + at]).norm_sqr())).collect()
    }

    /// Jakes' spectrum: more slots reduce noise but follow fading less closely.
    #[test]
    fn estimation_error_matches_the_closed_form() {
        const PATHS: u64 = 1000;
        for width in [1, 3, 5] {
            let mut measured = vec![0.0; SLOT_SEGMENTS];
            for seed in 0..PATHS {
                for (sum, one) in measured.iter_mut().zip(errors(width, seed)) {
                    *sum += one / PATHS as f64;
                }
            }
            for (at, measured) in measured.iter().enumerate() {
                let part = (at as f64 + 0.5) / SLOT_SEGMENTS as f64;
                let time = (SEGMENTS + SOUNDED / 2 + at) as f64;
                let expected = closed_form(&weights(SLOTS, width, part), time);
                // The test allows five standard errors. The squared magnitude of a complex Gaussian
                // error has a standard deviation equal to its mean.
                let chance = 5.0 * expected / f64::sqrt(PATHS as f64);
                assert!((measured - expected).abs() < chance, "{width}, {at}: {measured} for {expected}");
            }
        }
    }

    #[test]
    fn linear_coefficients_are_interpolated_exactly() {
        let slots: Vec<_> = (0..45).map(|slot| Complex32::new(slot as f32, -2.0 * slot as f32)).collect();
        for width in [1, 3, 9] {
            let mut segments = vec![Complex32::ZERO; SEGMENTS];
            interpolate(&slots, 1, width, &mut segments);
            for (segment, h) in segments.iter().enumerate() {
                let chip = FRAME_CHIPS + segment * SEGMENT + SEGMENT / 2;
                let slot = (chip as f32 - PILOT_CENTRE as f32) / SLOT_CHIPS as f32;
                assert!((h - Complex32::new(slot, -2.0 * slot)).norm() < 1e-3, "{width}: {segment}: {h}");
            }
        }
    }

    #[test]
    fn even_number_of_slots_is_rejected() {
        assert!(Estimation::Pilot { slots: 4 }.check().unwrap_err().to_string().contains("odd"));
        assert!(Estimation::Pilot { slots: 15 }.check().is_ok());
    }
}
