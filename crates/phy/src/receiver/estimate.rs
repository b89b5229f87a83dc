//! What the receiver knows of the channel.

use num_complex::Complex32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::channel::SEGMENT;
use crate::error::{Error, Result};
use crate::spreading::dpcch::PILOTS;
use crate::spreading::{CONTROL_FACTOR, FRAME_CHIPS, SLOT_CHIPS, SLOTS};

/// Segments of a radio frame.
pub const SEGMENTS: usize = FRAME_CHIPS / SEGMENT;
/// Middle of the pilots, chips from the beginning of their slot.
const PILOT_CENTRE: usize = PILOTS * CONTROL_FACTOR / 2;

/// How each finger's coefficient is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Estimation {
    /// It is known.
    Perfect,
    /// From the pilots: their mean in each slot, a moving average, and straight lines from the middle
    /// of one slot's pilots to the next.
    Pilot {
        /// Slots of the moving average, odd, 1 to 29. More are better against noise and worse against
        /// fading.
        slots: u32,
    },
}

impl Default for Estimation {
    fn default() -> Self {
        Self::Pilot { slots: 1 }
    }
}

impl Estimation {
    /// # Errors
    /// When the moving average is not one.
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

/// The moving average of `width` slots around `at`, over those that there are.
fn smoothed(slots: &[Complex32], at: usize, width: usize) -> Complex32 {
    let around = &slots[at.saturating_sub(width / 2)..slots.len().min(at + width / 2 + 1)];
    around.iter().sum::<Complex32>() / around.len() as f32
}

/// The coefficient in the middle of each segment of radio frame `frame`, from the pilots of all
/// `slots` from frame 0 on that are known so far; before the first and after the last it is theirs.
pub fn interpolate(slots: &[Complex32], frame: usize, width: usize, to: &mut [Complex32]) {
    let first = frame * SLOTS;
    // Straight lines need the slot before and the slot after this frame.
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

    #[test]
    fn a_straight_line_is_found_again() {
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
    fn an_even_average_is_refused() {
        assert!(Estimation::Pilot { slots: 4 }.check().unwrap_err().to_string().contains("odd"));
        assert!(Estimation::Pilot { slots: 15 }.check().is_ok());
    }
}
