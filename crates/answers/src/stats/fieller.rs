//! Confidence interval of the ratio of two means.
//!
//! Source: Fieller: Some problems in interval estimation, J. R. Stat. Soc. B 16(2), 1954.

use super::skewed::Reach;
use super::{Interval, deviation, mean, mean_of, reach};

/// Divisor of the first step in the search for an end of the interval.
///
/// The dividend is the absolute ratio plus the standard deviation of the numerator divided by the mean of the
/// denominator.
const FIRST_STEP: f64 = 1024.0;
/// Bisection steps for an end of the interval: the error is then near that of rounding.
const HALVINGS: usize = 48;

/// Returns the ratio of the means of paired values, as many of one as of the other, with its interval.
///
/// Formula: Fieller's method: all r for which the interval of the mean of `x - r y`, which is `(x - y) - (r - 1) y`,
/// contains 0. The interval of the mean is calculated as in [`super::paired_difference`], but with the reduced degrees
/// of freedom for the spread of `x - y` only; the spread of `y` has n - 1. The ratio's interval therefore contains 1
/// if the interval of the difference contains 0. The ends are NaN if the mean of the denominator is not significantly
/// different from 0.
pub fn ratio_interval(numerator: &[f64], denominator: &[f64], confidence: f64) -> Interval {
    let n = numerator.len();
    let mean_y = mean(denominator);
    let ratio = if mean_y == 0.0 { f64::NAN } else { mean(numerator) / mean_y };
    let unknown = Interval { mean: ratio, n, ..Interval::NONE };
    if n < 2 || !ratio.is_finite() {
        return unknown;
    }
    let scaled = |values: &[f64]| values.iter().map(|value| value / mean_y).collect::<Vec<_>>();
    let (x, y) = (scaled(numerator), scaled(denominator));
    let reach = reach(numerator, denominator, confidence);
    let moments = Moments::of(&x, &y);
    if moments.denominator(&reach) <= 0.0 {
        return unknown;
    }
    let step = (ratio.abs() + deviation(&x, 0.0)) / FIRST_STEP;
    let low = crossing(|r| moments.ends(&reach, r).0, ratio, -step);
    let high = crossing(|r| -moments.ends(&reach, r).1, ratio, step);
    Interval { low, high, ..unknown }
}

/// Moments of `u = x - y - mean` and `v = y - 1`, if the mean of `y` is 1.
struct Moments {
    /// Mean of `x - y`.
    mean: f64,
    uu: f64,
    uv: f64,
    vv: f64,
    uuu: f64,
    uuv: f64,
    uvv: f64,
    vvv: f64,
}

impl Moments {
    fn of(x: &[f64], y: &[f64]) -> Self {
        let pairs = || x.iter().zip(y);
        let mean = mean_of(pairs().map(|(x, y)| x - y));
        let average = |term: fn(f64, f64) -> f64| mean_of(pairs().map(|(x, y)| term(x - y - mean, y - 1.0)));
        Self {
            mean,
            uu: average(|u, _| u * u),
            uv: average(|u, v| u * v),
            vv: average(|_, v| v * v),
            uuu: average(|u, _| u * u * u),
            uuv: average(|u, v| u * u * v),
            uvv: average(|u, v| v * v * u),
            vvv: average(|_, v| v * v * v),
        }
    }

    /// Lower end of the interval of the mean of `y`.
    fn denominator(&self, reach: &Reach) -> f64 {
        reach.ends(1.0, reach.half_width(reach.all.powi(2) * self.vv), self.vv, self.vvv).0
    }

    /// Ends of the interval of the mean of `x - r y`.
    fn ends(&self, reach: &Reach, r: f64) -> (f64, f64) {
        let q = r - 1.0;
        let (few, all) = (reach.varied, reach.all);
        let squares = few * few * self.uu - 2.0 * q * few * all * self.uv + q * q * (all * all) * self.vv;
        let second = self.uu - 2.0 * q * self.uv + q * q * self.vv;
        let third = self.uuu - 3.0 * q * self.uuv + 3.0 * q * q * self.uvv - q.powi(3) * self.vvv;
        reach.ends(self.mean - q, reach.half_width(squares), second, third)
    }
}

/// `excess(start)` must not be positive.
fn crossing(excess: impl Fn(f64) -> f64, start: f64, mut step: f64) -> f64 {
    if step == 0.0 {
        return start;
    }
    while excess(start + step) <= 0.0 {
        step *= 2.0;
    }
    let (mut inside, mut outside) = (start, start + step);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(inside, outside);
        if excess(middle) > 0.0 {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    inside
}
