//! What transmit and receive filter together do to a chip.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Roll-off of the root-raised-cosine filters (TS 25.104, 6.8.1; TS 25.101, 6.8.1).
const ROLL_OFF: f64 = 0.22;
/// Chips before and after its delay over which a path is spread.
pub const REACH: usize = 6;

/// How chips are shaped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pulse {
    /// Delays are rounded to whole chips; each path is seen at its chip alone.
    #[default]
    ChipSpaced,
    /// Root-raised-cosine filters of roll-off 0.22 at both ends: a path between two chips is seen at
    /// both, and a little at those around.
    RootRaisedCosine,
}

impl Pulse {
    /// Chips by which everything is delayed so that what comes before a path fits too.
    pub fn lead(self) -> usize {
        match self {
            Self::ChipSpaced => 0,
            Self::RootRaisedCosine => REACH,
        }
    }

    /// The chips at which a path of `delay` chips is seen, each with its amplitude.
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

/// The impulse response of both filters, a raised cosine, `t` in chips.
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
    fn a_path_on_a_chip_is_seen_there_alone() {
        for pulse in [Pulse::ChipSpaced, Pulse::RootRaisedCosine] {
            for (chip, amplitude) in pulse.spread(3.0) {
                let expected = if chip == 3 + pulse.lead() { 1.0 } else { 0.0 };
                assert!((amplitude - expected).abs() < 1e-6, "{pulse:?}: {chip}");
            }
        }
    }

    /// Sampled once a chip, a raised cosine at offset `d` keeps `1 - r/4 (1 - cos(2 pi d))` of its
    /// energy (its aliased spectrum).
    #[test]
    fn a_path_between_chips_keeps_its_energy_but_for_the_roll_off() {
        for offset in [0.1, 0.25, 0.5] {
            let energy: f32 = Pulse::RootRaisedCosine.spread(2.0 + offset).iter().map(|(_, a)| a * a).sum();
            let expected = 1.0 - ROLL_OFF / 4.0 * (1.0 - libm::cos(2.0 * std::f64::consts::PI * offset));
            assert!((f64::from(energy) - expected).abs() < 2e-3, "{offset}: {energy} for {expected}");
        }
    }
}
