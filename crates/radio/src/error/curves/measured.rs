//! One measured curve: block error rate over SNR.

use super::super::effective::curve::Curve;
use super::super::effective::modulation::Modulation;

/// Block error rates at which curves are compared and interpolated, in descending order.
pub const LEVELS: [f64; 14] =
    [0.97, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/// Index in [`LEVELS`] of the first level of the last decade. Below the last level, a curve
/// continues with the slope of that decade.
pub const LAST_DECADE: usize = 10;

/// Point of a curve: an SNR, and the numbers of blocks sent and in error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// SNR per symbol in dB.
    pub snr_db: f64,
    /// Number of blocks sent, at least 1.
    pub blocks: u64,
    /// Number of blocks in error, at most `blocks`.
    pub errors: u64,
}

impl Point {
    /// Returns `ln(p / (1 - p))` of the block error rate p. If no block is in error, half a block
    /// counts as in error; if no block is decoded, half a block counts as decoded.
    fn logit(&self) -> f64 {
        let blocks = self.blocks as f64;
        let errors = (self.errors as f64).clamp(0.5, blocks - 0.5);
        libm::log(errors / (blocks - errors))
    }
}

/// Curve of code blocks of one modulation, size and rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Modulation of the symbols, QPSK to 256QAM.
    pub modulation: Modulation,
    /// Size of a code block in bits, with CRC.
    pub size: u32,
    /// Number of channel bits of a code block.
    pub channel_bits: u32,
    /// Points in ascending order of the SNR, at least two.
    pub points: Vec<Point>,
}

impl Measured {
    /// Returns the code rate: bits with CRC divided by channel bits.
    pub fn rate(&self) -> f64 {
        f64::from(self.size) / f64::from(self.channel_bits)
    }

    /// Returns the SNRs in dB at which the curve has the block error rates [`LEVELS`]. A point
    /// whose rate is not below those of all earlier points is skipped. Beyond each end the curve
    /// continues as between the two points next to that end.
    pub fn thresholds_db(&self) -> [f64; LEVELS.len()] {
        let mut curve: Vec<(f64, f64)> = Vec::new();
        for point in &self.points {
            let logit = point.logit();
            if curve.last().is_none_or(|(_, last)| logit < *last) {
                curve.push((point.snr_db, logit));
            }
        }
        LEVELS.map(|level| {
            let logit = logit(level);
            let above = curve.partition_point(|(_, known)| *known > logit).clamp(1, curve.len() - 1);
            let [(x0, y0), (x1, y1)] = [curve[above - 1], curve[above]];
            x0 + (x1 - x0) * (logit - y0) / (y1 - y0)
        })
    }

    /// Returns 1 minus the mutual information per bit at each SNR of [`Self::thresholds_db`].
    pub fn missing(&self, information: &Curve) -> [f64; LEVELS.len()] {
        let linear = |snr_db: f64| libm::pow(10.0, snr_db / 10.0) as f32;
        self.thresholds_db().map(|snr_db| f64::from(information.missing(linear(snr_db))))
    }
}

/// Returns `ln(p / (1 - p))`.
pub fn logit(p: f64) -> f64 {
    libm::log(p / (1.0 - p))
}
