//! Student's t distribution and quantiles of the normal one.

use std::f64::consts::PI;

use statrs::distribution::{ContinuousCDF, Normal};

/// Degrees of freedom from which the expansion of the quantile is exact to rounding.
const MANY: f64 = 1000.0;
/// Argument from which the series of [`half_step`] is exact to rounding.
const LARGE: f64 = 24.0;
const STEPS: usize = 200;
/// Relative size of Newton's last step, after which the error is that of rounding.
const LAST_STEP: f64 = 1e-12;
const MAX_TERMS: usize = 100_000;
/// Relative difference of successive convergents at which a continued fraction ends.
const EPSILON: f64 = 1e-16;

/// Returns the quantile of the standard normal distribution; infinite for a probability of 0 or 1.
pub fn normal_quantile(probability: f64) -> f64 {
    if probability.is_nan() {
        return f64::NAN;
    }
    Normal::standard().inverse_cdf(probability.clamp(0.0, 1.0))
}

/// Returns the quantile of Student's t; NaN for less than one degree of freedom.
///
/// The relative error is below 1e-12 for probabilities from 1e-4 to 1 - 1e-4.
pub fn quantile(degrees: usize, probability: f64) -> f64 {
    let nu = degrees as f64;
    if degrees == 0 || probability.is_nan() {
        return f64::NAN;
    }
    if probability < 0.5 {
        return -quantile(degrees, 1.0 - probability);
    }
    let z = normal_quantile(probability);
    if nu >= MANY || z == 0.0 || z.is_infinite() {
        return expansion(nu, z);
    }
    // The density decreases, so that Newton's steps from below the quantile approach it from below.
    let mut t = z;
    for _ in 0..STEPS {
        let step = (upper(nu, t) - (1.0 - probability)) / density(nu, t);
        t += step;
        if step.abs() <= LAST_STEP * t {
            break;
        }
    }
    t
}

/// Returns the probability of a value of at least `t` with so many degrees of freedom.
pub fn upper_tail(degrees: usize, t: f64) -> f64 {
    if degrees == 0 || t.is_nan() {
        f64::NAN
    } else if t < 0.0 {
        1.0 - upper(degrees as f64, -t)
    } else {
        upper(degrees as f64, t)
    }
}

/// Quantile from the normal one, `z`. Source: Abramowitz and Stegun 26.7.5, with one more term.
fn expansion(nu: f64, z: f64) -> f64 {
    if z.is_infinite() {
        return z;
    }
    let s = z * z;
    let terms = [
        (s + 1.0) / 4.0,
        ((5.0 * s + 16.0) * s + 3.0) / 96.0,
        (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0,
        ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92_160.0,
        (((((27.0 * s + 339.0) * s + 930.0) * s - 1782.0) * s - 765.0) * s + 17_955.0) / 368_640.0,
    ];
    z * (1.0 + terms.iter().rev().fold(0.0, |rest, term| (rest + term) / nu))
}

fn density(nu: f64, t: f64) -> f64 {
    half_step(nu / 2.0) / (nu * PI).sqrt() * (-(nu + 1.0) / 2.0 * (t * t / nu).ln_1p()).exp()
}

/// Probability of a value of at least `t >= 0`: half the incomplete beta function of `nu / 2` and 1/2.
#[expect(clippy::many_single_char_names, reason = "names of the literature")]
fn upper(nu: f64, t: f64) -> f64 {
    let (a, b) = (nu / 2.0, 0.5);
    let (x, y) = (nu / (nu + t * t), t * t / (nu + t * t));
    let front = half_step(a) * (y / PI).sqrt() * (-a * (t * t / nu).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front / a * fraction(a, b, x) / 2.0
    } else {
        (1.0 - front / b * fraction(b, a, y)) / 2.0
    }
}

/// `gamma(x + 1/2) / gamma(x)`.
fn half_step(x: f64) -> f64 {
    if x < LARGE {
        return half_step(x + 1.0) * x / (x + 0.5);
    }
    let r = 1.0 / x;
    let series = [-1.0 / 8.0, 1.0 / 128.0, 5.0 / 1024.0, -21.0 / 32_768.0, -399.0 / 262_144.0];
    let more = [869.0 / 4_194_304.0, 39_325.0 / 33_554_432.0];
    x.sqrt() * (1.0 + series.iter().chain(&more).rev().fold(0.0, |rest, term| (rest + term) * r))
}

/// Continued fraction of the incomplete beta function, by Lentz's method.
#[expect(clippy::many_single_char_names, reason = "names of the literature")]
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for term in 1..MAX_TERMS {
        let m = term as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = value;
        for factor in [even, odd] {
            d = 1.0 / (1.0 + factor * d);
            c = 1.0 + factor / c;
            value *= c * d;
        }
        if (value - before).abs() <= EPSILON * value.abs() {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-13, "{value} is not {expected}");
    }

    #[test]
    fn quantiles_match_closed_forms_and_tables() {
        for p in [0.6, 0.9, 0.975, 0.999] {
            near(quantile(1, p), (PI * (p - 0.5)).tan());
            near(quantile(2, p), (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt());
        }
        near(quantile(9, 0.975), 2.262_157_162_798_205);
        near(quantile(199, 0.975), 1.971_956_544_251_753_3);
        near(quantile(1, 0.025), -12.706_204_736_174_694);
        near(normal_quantile(0.975), 1.959_963_984_540_054);
        assert!(quantile(0, 0.975).is_nan());
        assert_eq!((quantile(5, 0.5), quantile(5, 1.0)), (0.0, f64::INFINITY));
    }

    #[test]
    fn tail_inverts_the_quantile_on_both_sides_of_the_expansion() {
        for degrees in [1, 2, 3, 10, 100, 999, 1000, 1001, 5000] {
            for p in [0.55, 0.8, 0.975, 0.9995] {
                let tail = upper_tail(degrees, quantile(degrees, p));
                assert!((tail - (1.0 - p)).abs() < 1e-14, "{degrees} {p}: {tail}");
            }
        }
        near(upper_tail(4, -1.0), 1.0 - upper_tail(4, 1.0));
    }
}
