//! Confidence intervals of means of values that are skewed, or mostly equal.
//!
//! Student's t assumes that the spread is estimated from n - 1 independent deviations. The values here are often
//! differences that only a rare event makes. Then most values are equal, and the others lie on one side of them. The
//! spread is estimated from few values, and a sample may lack the event. There are two corrections, in closed form:
//!
//! - The degrees of freedom are the number of values that differ from the commonest one.
//! - The skewness is removed by Hall's monotone transformation of the t statistic.
//!
//! On each side of the mean, two limits are calculated: Student's with these degrees of freedom, and Hall's. The
//! interval ends at the one farther from the mean.
//!
//! Source: Hall: On the removal of skewness by transformation, J. R. Stat. Soc. B 54(1), 1992, pp. 221-228.

use super::student;

/// Relative rounding error: neighbouring values that differ by no more than this count as equal.
///
/// It is relative to the largest number that the values were calculated from.
const ROUNDING: f64 = 1e-9;

/// Returns the number of values that differ from the commonest one, at least 1.
pub fn varied(mut values: Vec<f64>, scale: f64) -> usize {
    values.sort_unstable_by(f64::total_cmp);
    let runs = values.chunk_by(|left, right| right - left <= ROUNDING * scale);
    let commonest = runs.map(<[f64]>::len).max().unwrap_or(0);
    (values.len() - commonest).max(1)
}

/// Parameters that determine how far the ends of an interval lie from the mean of `n` values, at least 2.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    n: f64,
    /// Quantile of Student's t for n - 1 degrees of freedom.
    pub all: f64,
    /// Quantile of Student's t for the degrees of freedom from [`varied`], at most n - 1.
    pub varied: f64,
}

impl Reach {
    pub fn new(n: usize, degrees: usize, confidence: f64) -> Self {
        let quantile = |degrees| student::quantile(degrees, f64::midpoint(1.0, confidence));
        Self { n: n as f64, all: quantile(n - 1), varied: quantile(degrees.min(n - 1)) }
    }

    /// Returns the ends of the confidence interval of a mean of values with these second and third central moments.
    ///
    /// Both ends are the mean if the values do not vary.
    pub fn ends(&self, mean: f64, half: f64, second: f64, third: f64) -> (f64, f64) {
        let deviation = second.max(0.0).sqrt();
        if deviation.powi(3) == 0.0 {
            return (mean, mean);
        }
        let largest = (self.n - 2.0) / (self.n - 1.0).sqrt(); // No n values have a larger skewness.
        let skewness = (third / deviation.powi(3)).clamp(-largest, largest);
        let stdev = deviation * (self.n / (self.n - 1.0)).sqrt();
        let above = half.max(-self.transformed(skewness, -self.all) * stdev);
        let below = half.max(self.transformed(skewness, self.all) * stdev);
        (mean - below, mean + above)
    }

    pub fn half_width(&self, squares: f64) -> f64 {
        (squares.max(0.0) / (self.n - 1.0)).sqrt()
    }

    /// Mean minus an end of the interval, in sample standard deviations: the lower end for a positive `t`, the upper
    /// end for a negative one.
    fn transformed(&self, skewness: f64, t: f64) -> f64 {
        let z = t / self.n.sqrt() - skewness / (6.0 * self.n);
        // 3 / skewness * (root - 1), in a form that loses no digits if the skewness is small
        let root = (1.0 + skewness * z).cbrt();
        3.0 * z / (root * root + root + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_within_rounding_of_each_other_count_as_equal() {
        assert_eq!(varied(vec![1.0, 2.0, 1.0 + 1e-12, 1.0], 1.0), 1);
        assert_eq!(varied(vec![3.0, 2.0, 1.0], 1.0), 2);
        assert_eq!(varied(vec![1.0; 5], 1.0), 1);
    }

    #[test]
    fn skewness_moves_both_ends_to_one_side() {
        let reach = Reach::new(20, 19, 0.95);
        let (low, high) = reach.ends(0.0, 0.0, 1.0, 0.0);
        assert!((low + high).abs() < 1e-15);
        let (skewed_low, skewed_high) = reach.ends(0.0, 0.0, 1.0, 1.5);
        assert!(skewed_low > low && skewed_high > high);
        assert_eq!(reach.ends(2.0, 0.0, 0.0, 0.0), (2.0, 2.0));
    }
}
