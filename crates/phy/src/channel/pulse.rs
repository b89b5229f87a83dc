//! Pulse shape of a chip after the transmit filter and the receive filter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Roll-off factor of the root-raised-cosine filters (TS 25.104, 6.8.1; TS 25.101, 6.8.1).
const ROLL_OFF: f64 = 0.22;
pub const REACH: usize = 6;

/// Pulse shape of chips, which determines how a path appears in samples at chip rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pulse {
    /// Each path appears at one chip, as its delay is rounded to whole chips.
    #[default]
    ChipSpaced,
    /// Root-raised-cosine filters with a roll-off of 0.22 at both ends. A path between two chips
    /// appears at both chips, and with small amplitudes at the chips around them.
    RootRaisedCosine,
}

impl Pulse {
    /// Chips of delay for the precursor of the pulse: 0 for chip-spaced paths.
    pub fn lead(self) -> usize {
        match self {
            Self::ChipSpaced => 0,
            Self::RootRaisedCosine => REACH,
        }
    }

    pub fn spread(self, delay: f64) -> Vec<(usize, f32)> {
        match self {
            Self::ChipSpaced => vec![(delay.round() as usize, 1.0)],
            Self::RootRaisedCosine => {
                let first = delay.round() as usize;
                let chips = first..=first + 2 * REACH;
                chips.map(|chip| (chip, raised_cosine(chip as f64 - REACH as f64 - delay) as f32)).collect()
            }
        }
    }
}

fn raised_cosine(t: f64) -> f64 {
    use std::f64::consts::PI;
    let sinc = if t.abs() < 1e-9 { 1.0 } else { libm::sin(PI * t) / (PI * t) };
    let edge = 1.0 - (2.0 * ROLL_OFF * t).powi(2);
    if edge.abs() < 1e-9 {
        return PI / 4.0 * sinc;
    }
    sinc * libm::cos(PI * ROLL_OFF * t) / edge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_at_a_chip_appears_only_there() {
        for pulse in [Pulse::ChipSpaced, Pulse::RootRaisedCosine] {
            for (chip, amplitude) in pulse.spread(3.0) {
                let expected = if chip == 3 + pulse.lead() { 1.0 } else { 0.0 };
                assert!((amplitude - expected).abs() < 1e-6, "{pulse:?}: {chip}");
            }
        }
    }

    /// A raised cosine with roll-off `r`, sampled once per chip at an offset of `d` chips, keeps `1 - r/4 (1
    /// - cos(2 pi d))` of its energy, by its aliased spectrum.
    #[test]
    fn path_between_chips_loses_energy_by_the_roll_off_only() {
        for offset in [0.1, 0.25, 0.5] {
            let energy: f32 = Pulse::RootRaisedCosine.spread(2.0 + offset).iter().map(|(_, a)| a * a).sum();
            let expected = 1.0 - ROLL_OFF / 4.0 * (1.0 - libm::cos(2.0 * std::f64::consts::PI * offset));
            assert!((f64::from(energy) - expected).abs() < 2e-3, "{offset}: {energy} for {expected}");
        }
    }
}
