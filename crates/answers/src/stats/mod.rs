//! Confidence intervals of means, differences and ratios, quantiles and fairness. Values are finite.
//!
//! Source: Law, Kelton: Simulation Modeling and Analysis, 3rd ed., 2000, chapters 9 and 10.

mod fieller;
mod skewed;
pub mod student;

pub use fieller::ratio_interval;

use skewed::{Reach, varied};

/// Default confidence level of intervals.
pub const CONFIDENCE: f64 = 0.95;
/// Limit of [`runs_needed`].
const MAX_RUNS: u64 = 1 << 40;

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
    pub const NONE: Self = Self { mean: f64::NAN, low: f64::NAN, high: f64::NAN, stdev: f64::NAN, n: 0 };

    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half-width divided by the absolute mean; for a mean of 0 it is 0 without width, otherwise infinite.
    pub fn relative_half_width(&self) -> f64 {
        match self.half_width() {
            0.0 if self.mean == 0.0 => 0.0,
            _ if self.mean == 0.0 => f64::INFINITY,
            half => half / self.mean.abs(),
        }
    }

    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
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

/// Sums as NumPy does: blocks of at most 128 values with 8 accumulators, and halves of longer ones.
pub fn sum(values: &[f64]) -> f64 {
    const BLOCK: usize = 128;
    const WIDTH: usize = 8;
    if values.len() > BLOCK {
        let half = values.len() / 2;
        let (first, second) = values.split_at(half - half % WIDTH);
        return sum(first) + sum(second);
    }
    let (rows, rest) = values.as_chunks::<WIDTH>();
    let start = rows.split_first().map_or(0.0, |(first, rows)| {
        let mut r = *first;
        for row in rows {
            for (total, value) in r.iter_mut().zip(row) {
                *total += value;
            }
        }
        ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
    });
    rest.iter().fold(start, |total, value| total + value)
}

/// Returns the mean; NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    mean(&values.collect::<Vec<_>>())
}

/// Standard deviation; `less` is 1 for that of a sample.
fn deviation(values: &[f64], less: f64) -> f64 {
    let mean = mean(values);
    let squares: Vec<_> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
    (sum(&squares) / (values.len() as f64 - less)).sqrt()
}

/// Returns the mean of independent replications with its Student-t interval.
///
/// Formula: `m +- t(n-1, (1+c)/2) * s / sqrt(n)`, s the sample standard deviation. Source: Law and Kelton,
/// section 9.4.1.
pub fn mean_interval(values: &[f64], confidence: f64) -> Interval {
    let n = values.len();
    if n < 2 {
        return Interval { mean: mean(values), n, ..Interval::NONE };
    }
    // Without this case, rounding in the mean would make equal values differ.
    if values.iter().all(|value| value - values[0] == 0.0) {
        return Interval { mean: values[0], low: values[0], high: values[0], stdev: 0.0, n };
    }
    let (mean, stdev) = (mean(values), deviation(values, 1.0));
    let half = student::quantile(n - 1, f64::midpoint(1.0, confidence)) * stdev / (n as f64).sqrt();
    Interval { mean, low: mean - half, high: mean + half, stdev, n }
}

/// Returns the mean of `first - second` with its interval, for common random numbers: as many of one as of the other.
///
/// If only a rare event makes a difference, most differences are equal. Therefore two intervals are calculated:
/// Student's t, with as many degrees of freedom as there are differences unequal to the most frequent one, and Hall's,
/// which removes the skewness. On each side, the wider of the two is returned. For many values without skewness it is
/// close to Student's interval. Source of common random numbers: Law and Kelton, section 10.2.1.
pub fn paired_difference(first: &[f64], second: &[f64], confidence: f64) -> Interval {
    let values: Vec<_> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let plain = mean_interval(&values, confidence);
    if plain.stdev.is_nan() || plain.stdev <= 0.0 {
        return plain;
    }
    // Scaled values are used because powers of very small values would be 0.
    let scaled = || values.iter().map(|value| (value - plain.mean) / plain.stdev);
    let (second_moment, third) = (mean_of(scaled().map(|x| x * x)), mean_of(scaled().map(|x| x.powi(3))));
    let reach = reach(first, second, confidence);
    let half = reach.half_width(reach.varied.powi(2) * second_moment);
    let (lower, upper) = reach.ends(0.0, half, second_moment, third);
    Interval { low: plain.mean + lower * plain.stdev, high: plain.mean + upper * plain.stdev, ..plain }
}

fn reach(first: &[f64], second: &[f64], confidence: f64) -> Reach {
    let scale = first.iter().chain(second).fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let differences = first.iter().zip(second).map(|(a, b)| a - b).collect();
    Reach::new(first.len(), varied(differences, scale), confidence)
}

/// Returns the interval for the mean of `further` replications more, at least 1, such as a published value.
///
/// Formula: `m +- t(n-1, (1+c)/2) * s * sqrt(1/k + 1/n)`; normal values are assumed. Source: Hahn and Meeker,
/// Statistical Intervals, 1991, section 4.7.
pub fn prediction_interval(values: &[f64], further: u64, confidence: f64) -> Interval {
    let interval = mean_interval(values, confidence);
    let half = interval.half_width() * (1.0 + interval.n as f64 / further as f64).sqrt();
    Interval { low: interval.mean - half, high: interval.mean + half, ..interval }
}

/// Returns the ends of the 95 % interval of a function of means, from the function without each replication in turn.
///
/// Formula: `v +- t(n-1, 0.975) * sqrt((n-1)/n * sum (v_i - mean)^2)`. For a plain mean this is the Student-t interval.
/// With one replication the ends are NaN, with none both are `value`. Source: Efron and Tibshirani, An Introduction to
/// the Bootstrap, 1993, chapter 11.
pub fn jackknife(value: f64, left_out: &[f64]) -> (f64, f64) {
    let n = left_out.len();
    if n < 2 {
        let end = if n == 0 { value } else { f64::NAN };
        return (end, end);
    }
    let mean = mean(left_out);
    let squares: Vec<_> = left_out.iter().map(|one| (one - mean) * (one - mean)).collect();
    let variance = sum(&squares) * (n as f64 - 1.0) / n as f64;
    let half = student::quantile(n - 1, f64::midpoint(1.0, CONFIDENCE)) * variance.sqrt();
    (value - half, value + half)
}

/// Returns the number of replications for a half-width, or for detecting a difference.
///
/// Formula: the least n, at least 2, with `(t(n-1, (1+c)/2) + z(p)) s / sqrt(n) <= w`. With p = 0.5 the half-width is
/// at most w, if s is the sample standard deviation. With p = 0.8, a true mean of w is significantly different from 0
/// in 80 % of experiments.
pub fn runs_needed(stdev: f64, half_width: f64, confidence: f64, power: f64) -> u64 {
    let more = student::normal_quantile(power);
    let too_few = |n: u64| {
        let quantile = student::quantile(n as usize - 1, f64::midpoint(1.0, confidence));
        (quantile + more) * stdev / (n as f64).sqrt() > half_width
    };
    let (mut low, mut high) = (1, 2);
    while too_few(high) && high < MAX_RUNS {
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        (low, high) = if too_few(middle) { (middle, high) } else { (low, middle) };
    }
    high
}

/// Returns the confidence of each of several intervals for a joint confidence of 95 %; 0 intervals count as one.
///
/// Formula: Bonferroni's `1 - 0.05 / k`, which holds however the intervals depend on each other. Source: Law and
/// Kelton, section 10.3.1.
pub fn family_confidence(number: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE) / number.max(1) as f64
}

/// Returns, for each hypothesis, whether Holm's procedure rejects it at a family-wise `level`.
///
/// Formula: the k-th smallest of m p-values is compared with level / (m - k + 1). The hypotheses before the first
/// p-value that is larger are rejected. Source: Holm 1979, A simple sequentially rejective multiple test procedure.
pub fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<_> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut rejected = vec![false; p_values.len()];
    for (place, at) in order.into_iter().enumerate() {
        if p_values[at] > level / (p_values.len() - place) as f64 {
            break;
        }
        rejected[at] = true;
    }
    rejected
}

/// Returns Jain's fairness index of shares of 0 or more.
///
/// Formula: `(sum x)^2 / (n * sum x^2)`: 1 if all shares are equal or 0, 1/n if one user has everything. Source: Jain,
/// Chiu, Hawe: A quantitative measure of fairness and discrimination for resource allocation in shared computer
/// systems, DEC TR-301, 1984.
pub fn jain(shares: &[f64]) -> f64 {
    let largest = shares.iter().fold(0.0, |largest: f64, &share| largest.max(share));
    if largest == 0.0 {
        return 1.0;
    }
    // Squares of very small or large values would leave the range of a double.
    let scaled: Vec<_> = shares.iter().map(|share| share / largest).collect();
    let squares: Vec<_> = scaled.iter().map(|share| share * share).collect();
    sum(&scaled).powi(2) / (shares.len() as f64 * sum(&squares).max(1.0))
}

/// Returns a quantile of at least one value by linear interpolation; NaN if a value is NaN.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let sorted = sorted(values);
    let place = share * (sorted.len() - 1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let (low, high) = (sorted[below], sorted[(below + 1).min(sorted.len() - 1)]);
    if values.iter().any(|value| value.is_nan()) {
        f64::NAN
    } else if part >= 0.5 {
        high - (high - low) * (1.0 - part)
    } else {
        low + (high - low) * part
    }
}

/// Returns the least of at least one value that so large a share does not exceed; NaN if a value is NaN.
pub fn inverted_cdf(values: &[f64], share: f64) -> f64 {
    let place = (share * values.len() as f64).ceil() - 1.0;
    if values.iter().any(|value| value.is_nan()) { f64::NAN } else { sorted(values)[place.max(0.0) as usize] }
}

/// Returns the median, of an even number the mean of the two in the middle; NaN if a value is NaN.
pub fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        f64::NAN
    } else if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12 * expected.abs().max(1.0), "{value} is not {expected}");
    }

    #[test]
    fn equal_values_have_no_width_and_one_value_no_interval() {
        assert_eq!(mean_interval(&[0.1; 7], 0.95).half_width(), 0.0);
        assert!(mean_interval(&[3.0], 0.95).low.is_nan());
        assert_eq!(paired_difference(&[3.0; 4], &[1.0; 4], 0.95).relative_half_width(), 0.0);
    }

    #[test]
    fn a_ratio_has_one_in_its_interval_if_the_difference_has_zero() {
        let (x, y) = ([3.0, 4.0, 5.5, 4.2, 3.9], [3.1, 3.8, 5.0, 4.4, 3.7]);
        let ratio = ratio_interval(&x, &y, 0.95);
        near(ratio.mean, 20.6 / 20.0);
        assert!(ratio.contains(1.0) && paired_difference(&x, &y, 0.95).contains(0.0));
        assert!(ratio_interval(&x, &[-1.0, 1.0, 0.1, 2.0, -3.0], 0.95).low.is_nan());
        assert_eq!(ratio_interval(&[2.0; 3], &[1.0; 3], 0.95).half_width(), 0.0);
    }

    #[test]
    fn jackknife_of_a_mean_is_students_interval() {
        let values = [1.0, 4.0, 2.0, 8.0];
        let left_out: Vec<_> = values.iter().map(|value| (15.0 - value) / 3.0).collect();
        let (low, high) = jackknife(3.75, &left_out);
        let interval = mean_interval(&values, 0.95);
        near(low, interval.low);
        near(high, interval.high);
        assert_eq!(jackknife(2.0, &[]), (2.0, 2.0));
    }

    #[test]
    fn runs_needed_is_the_least_number_that_suffices() {
        let half = |n: usize| student::quantile(n - 1, 0.975) / (n as f64).sqrt();
        let n = runs_needed(1.0, 0.1, 0.95, 0.5) as usize;
        assert!(half(n) <= 0.1 && half(n - 1) > 0.1);
        assert_eq!(runs_needed(1.0, 0.0, 0.95, 0.5), MAX_RUNS);
    }

    #[test]
    fn holm_stops_at_the_first_large_p_value() {
        assert_eq!(holm(&[0.04, 0.01, 0.03], 0.05), [false, true, false]);
        near(family_confidence(10), 0.995);
    }

    #[test]
    fn quantiles_match_numpy() {
        let values = [4.0, 1.0, 3.0, 10.0];
        near(quantile(&values, 0.05), 1.3);
        near(quantile(&values, 0.9), 8.2);
        assert_eq!([quantile(&values, 0.0), quantile(&values, 1.0), median(&values)], [1.0, 10.0, 3.5]);
        assert_eq!([0.0, 0.25, 0.26, 1.0].map(|share| inverted_cdf(&values, share)), [1.0, 1.0, 3.0, 10.0]);
        assert!(quantile(&[1.0, f64::NAN], 0.5).is_nan());
    }

    proptest! {
        #[test]
        fn jain_is_between_1_over_n_and_1(shares in prop::collection::vec(0.0..1e300_f64, 1..20)) {
            let index = jain(&shares);
            prop_assert!((1.0 / shares.len() as f64 - 1e-9..=1.0 + 1e-9).contains(&index));
        }

        #[test]
        fn paired_interval_contains_students(values in prop::collection::vec(-1e3..1e3_f64, 2..40)) {
            let (plain, paired) = (mean_interval(&values, 0.95), paired_difference(&values, &vec![0.0; values.len()], 0.95));
            prop_assert!(paired.low <= plain.low + 1e-9 && paired.high >= plain.high - 1e-9);
        }
    }
}
