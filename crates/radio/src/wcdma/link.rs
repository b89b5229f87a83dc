use super::profile::ProfileSpec;
use super::sinr::{Interference, sinr};
use super::{ber, frame};

/// Of all phones of a cell.
#[derive(Clone, Debug)]
pub struct Link {
    /// Of the paths in the mean received power, with a sum of 1.
    pub shares: Vec<f64>,
    /// Chips per bit at the basic rate.
    pub spreading: f64,
    /// Check bits included.
    pub frame_bits: u32,
    /// Errors per frame.
    pub correctable: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Power of all other cells divided by that of the own cell, if each transmits the same power.
    pub other_cells: f64,
    /// Linear.
    pub eb_n0: f64,
}

impl Link {
    /// `spreading` is in chips per bit.
    pub fn new(profile: &ProfileSpec, spreading: u32, frame_bits: u32, correctable: u32) -> Self {
        Self { shares: profile.shares(), spreading: f64::from(spreading), frame_bits, correctable }
    }

    /// `own_cell` is the total rate of all codes in frames per slot, `mean_load` the power of each other cell
    /// in powers of a code of the basic rate.
    pub fn ber(&self, conditions: Conditions, own_cell: f64, mean_load: f64) -> f64 {
        let interference = Interference { own_cell, other_cells: conditions.other_cells * mean_load };
        let gamma = |share: &f64| sinr(*share, interference, self.spreading, conditions.eb_n0) / 2.0;
        ber::paths(&self.shares.iter().map(gamma).collect::<Vec<_>>())
    }

    /// Arguments as of [`Self::ber`].
    pub fn frame_failure(&self, conditions: Conditions, own_cell: f64, mean_load: f64) -> f64 {
        frame::failure(self.ber(conditions, own_cell, mean_load), self.frame_bits, self.correctable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four equal paths.
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
