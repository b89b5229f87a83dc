use super::super::effective::curve::Curve;
use super::super::effective::modulation::Modulation;

/// In descending order.
pub const LEVELS: [f64; 14] =
    [0.97, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];

/// Below the last level a curve continues with the slope of this decade.
pub const LAST_DECADE: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Per symbol.
    pub snr_db: f64,
    /// At least 1.
    pub blocks: u64,
    pub errors: u64,
}

impl Point {
    /// `ln(p / (1 - p))`; half a block counts as in error if none is, or as decoded if none is.
    fn logit(&self) -> f64 {
        let blocks = self.blocks as f64;
        let errors = (self.errors as f64).clamp(0.5, blocks - 0.5);
        libm::log(errors / (blocks - errors))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// QPSK to 256QAM.
    pub modulation: Modulation,
    /// In bits, with CRC.
    pub size: u32,
    pub channel_bits: u32,
    /// In ascending order of the SNR, at least two.
    pub points: Vec<Point>,
}

impl Measured {
    /// Bits with CRC divided by channel bits.
    pub fn rate(&self) -> f64 {
        f64::from(self.size) / f64::from(self.channel_bits)
    }

    /// For [`LEVELS`]; skips a point whose rate is not below all earlier ones, and extrapolates beyond both
    /// ends.
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

    pub fn missing(&self, information: &Curve) -> [f64; LEVELS.len()] {
        let linear = |snr_db: f64| libm::pow(10.0, snr_db / 10.0) as f32;
        self.thresholds_db().map(|snr_db| f64::from(information.missing(linear(snr_db))))
    }
}

pub fn logit(p: f64) -> f64 {
    libm::log(p / (1.0 - p))
}
