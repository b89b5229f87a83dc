//! Confidence intervals of means, differences and ratios.

/// A mean and its confidence interval; the ends are NaN if there is none, as for fewer than two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    /// Sample standard deviation; NaN for fewer than two values and for a ratio.
    pub stdev: f64,
    /// Number of values, or of pairs.
    pub n: usize,
}

impl Interval {
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Cuts the ends to the possible range of the mean, which does not change the coverage.
    #[must_use]
    pub fn within(self, low: f64, high: f64) -> Self {
        if self.low < low || self.high > high {
            Self { low: self.low.max(low), high: self.high.min(high), ..self }
        } else {
            self
        }
    }
}
