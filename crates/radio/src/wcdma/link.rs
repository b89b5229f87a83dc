//! Link of one phone, whose frame error rate is computed from rates and powers.

use super::profile::ProfileSpec;
use super::sinr::{Interference, sinr};
use super::{ber, frame};

/// Properties that the links of all phones of a cell share.
#[derive(Clone, Debug)]
pub struct Link {
    /// Share of each path in the mean received power; the shares sum to 1.
    pub shares: Vec<f64>,
    /// Number of chips per bit at the basic rate.
    pub spreading: f64,
    /// Number of bits in a frame, check bits included.
    pub frame_bits: u32,
    /// Number of errors per frame that the code corrects.
    pub correctable: u32,
}

/// Reception conditions of a phone: interference from other cells, and noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Power received from all other cells divided by that from the own cell, if each cell
    /// transmits the same power.
    pub other_cells: f64,
    /// Energy per bit over noise density, as a linear ratio.
    pub eb_n0: f64,
}

impl Link {
    /// Creates the link of phones that receive the paths of `profile`. `spreading` is in chips per
    /// bit, and the code corrects `correctable` errors in the `frame_bits` bits of a frame.
    pub fn new(profile: &ProfileSpec, spreading: u32, frame_bits: u32, correctable: u32) -> Self {
        Self { shares: profile.shares(), spreading: f64::from(spreading), frame_bits, correctable }
    }

    /// Returns the bit error rate of a phone in the given `conditions`. `own_cell` is the total rate
    /// of all codes of its cell in frames per slot. `mean_load` is the mean power of each other cell,
    /// in units of the power of a code of the basic rate.
    pub fn ber(&self, conditions: Conditions, own_cell: f64, mean_load: f64) -> f64 {
        let interference = Interference { own_cell, other_cells: conditions.other_cells * mean_load };
        let gamma = |share: &f64| sinr(*share, interference, self.spreading, conditions.eb_n0) / 2.0;
        ber::paths(&self.shares.iter().map(gamma).collect::<Vec<_>>())
    }

    /// Returns the frame error rate of a phone in the given `conditions`. `own_cell` and `mean_load`
    /// are those of [`Self::ber`].
    pub fn frame_failure(&self, conditions: Conditions, own_cell: f64, mean_load: f64) -> f64 {
        frame::failure(self.ber(conditions, own_cell, mean_load), self.frame_bits, self.correctable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the four equal paths of channel model A, the bit error rate is that of equation 4.
    #[test]
    fn model_a_is_equation_4() {
        let link = Link::new(&ProfileSpec::default(), 128, 128, 0);
        let conditions = Conditions { other_cells: 0.5, eb_n0: 10.0 };
        let half = sinr(0.25, Interference { own_cell: 8.0, other_cells: 12.5 }, 128.0, 10.0) / 2.0;
        assert!((link.ber(conditions, 8.0, 25.0) - ber::equal_paths(half, 4)).abs() < 1e-15);
        let failure = frame::failure(ber::equal_paths(half, 4), 128, 0);
        assert!((link.frame_failure(conditions, 8.0, 25.0) - failure).abs() < 1e-15);
    }
}
