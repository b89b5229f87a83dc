//! Independent bit errors with an error-correcting code (`hossain`, equation 2).

/// At most `correctable` errors.
pub fn success(ber: f64, bits: u32, correctable: u32) -> f64 {
    if is_below_mean(ber, bits, correctable) {
        tail(ber, bits, 0, correctable)
    } else {
        1.0 - failure(ber, bits, correctable)
    }
}

/// Even tiny probabilities have the full relative precision.
pub fn failure(ber: f64, bits: u32, correctable: u32) -> f64 {
    if correctable >= bits {
        0.0
    } else if is_below_mean(ber, bits, correctable) {
        1.0 - tail(ber, bits, 0, correctable)
    } else {
        tail(ber, bits, correctable + 1, bits)
    }
}

/// By at least 1: success is then less likely than failure, and summing the less likely outcome is more
/// precise.
fn is_below_mean(ber: f64, bits: u32, correctable: u32) -> bool {
    f64::from(correctable) + 1.0 <= ber * f64::from(bits)
}

/// `from` to `to` errors; starts with the largest term, the only one computed by logarithms.
fn tail(ber: f64, bits: u32, from: u32, to: u32) -> f64 {
    if ber <= 0.0 || ber >= 1.0 {
        let certain = if ber <= 0.0 { 0 } else { bits };
        return f64::from(u8::from((from..=to).contains(&certain)));
    }
    let mode = ((f64::from(bits) + 1.0) * ber) as u32;
    let top = mode.clamp(from, to);
    let odds = ber / (1.0 - ber);
    let up = |e: u32| odds * f64::from(bits - e) / f64::from(e + 1);
    let mut sum = 1.0;
    let mut term = 1.0;
    for e in top..to {
        term *= up(e);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    term = 1.0;
    for e in (from..top).rev() {
        term /= up(e);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    (sum * libm::exp(ln_term(ber, bits, top))).min(1.0)
}

/// Of exactly `errors` errors.
fn ln_term(ber: f64, bits: u32, errors: u32) -> f64 {
    let (e, rest) = (f64::from(errors), f64::from(bits - errors));
    ln_choose(bits, errors) + e * libm::log(ber) + rest * libm::log1p(-ber)
}

fn ln_choose(n: u32, k: u32) -> f64 {
    let ln_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// For t = `correctable` errors, the smallest r with `2^r > sum over i <= 2t - 1 of C(bits - 1, i)`: by the
/// bound of Varshamov and Gilbert such a code exists (S. Lin and D. J. Costello, *Error Control Coding*,
/// 1983). `None` if no bit is left for data.
pub fn check_bits(bits: u32, correctable: u32) -> Option<u32> {
    if correctable == 0 {
        return Some(0);
    }
    let last = correctable.checked_mul(2)? - 1;
    if last >= bits {
        return None;
    }
    let terms: Vec<f64> = (0..=last).map(|i| ln_choose(bits - 1, i)).collect();
    let largest = terms.iter().copied().fold(0.0, f64::max);
    let sum: f64 = terms.iter().map(|term| libm::exp(term - largest)).sum();
    // If the sum is an exact power of two, rounding errors could make its logarithm slightly too
    // small, and the result one bit too small. The tolerance prevents this.
    let digits = (largest + libm::log(sum)) / std::f64::consts::LN_2;
    let check = (digits + 1e-9) as u32 + 1;
    (check < bits).then_some(check)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_frames_by_hand() {
        assert!((success(0.1, 2, 0) - 0.81).abs() < 1e-14);
        assert!((success(0.1, 2, 1) - 0.99).abs() < 1e-14);
        assert!((failure(0.1, 2, 1) - 0.01).abs() < 1e-14);
        assert!((success(0.5, 3, 1) - 0.5).abs() < 1e-14);
    }

    #[test]
    fn certain_outcomes_are_exact() {
        for (ber, bits, t, expected) in [
            (0.0, 128, 0, 1.0),
            (1.0, 128, 127, 0.0),
            (1.0, 128, 128, 1.0),
            (0.3, 8, 9, 1.0),
            (1.0, 1, 0, 0.0),
        ] {
            assert!((success(ber, bits, t) - expected).abs() < f64::EPSILON, "{ber} {bits} {t}");
            assert!((failure(ber, bits, t) - (1.0 - expected)).abs() < f64::EPSILON, "{ber} {bits} {t}");
        }
    }

    /// At least three errors in 128 bits: close to C(128, 3) p^3.
    #[test]
    fn tiny_error_rates_keep_their_precision() {
        let p = 1e-9;
        let expected = 341_376.0 * p * p * p;
        assert!((failure(p, 128, 2) / expected - 1.0).abs() < 1e-6, "{}", failure(p, 128, 2));
        assert!((failure(1e-12, 128, 0) / 1.28e-10 - 1.0).abs() < 1e-9);
    }

    /// At most the mean number of errors: near 1/2, without underflow.
    #[test]
    fn large_frames_are_nearly_normal() {
        let half = success(0.25, 400_000, 100_000);
        assert!((half - 0.5).abs() < 2e-3, "{half}");
        assert!(success(0.25, 400_000, 0) >= 0.0 && failure(0.25, 400_000, 399_999) >= 0.0);
    }

    /// For one error, the 7 check bits of the Hamming code (127, 120).
    #[test]
    fn check_bits_by_hand() {
        assert_eq!(check_bits(128, 0), Some(0));
        // For 128 bits the sum is 1 + 127 = 2^7, which is not below 2^7, so 8 check bits are
        // needed. For 127 bits the sum 1 + 126 is below 2^7.
        assert_eq!(check_bits(128, 1), Some(8));
        assert_eq!(check_bits(127, 1), Some(7));
        // For two errors in 128 bits the sum is 1 + 127 + 8001 + 333375 = 341504 < 2^19.
        assert_eq!(check_bits(128, 2), Some(19));
        assert_eq!(check_bits(128, 64), None);
        assert_eq!(check_bits(8, u32::MAX), None);
    }

    proptest! {
        #[test]
        fn success_is_a_probability_that_increases_with_the_code(
            exponent in -12.0..-0.01f64, bits in 1..20_000u32, share in 0.0..1.0f64,
        ) {
            let (ber, t) = (10f64.powf(exponent), (f64::from(bits) * share * share * share) as u32);
            let p = success(ber, bits, t);
            prop_assert!((0.0..=1.0).contains(&p), "{}", p);
            prop_assert!((p + failure(ber, bits, t) - 1.0).abs() < 1e-9);
            prop_assert!(success(ber, bits, t + 1) >= p - 1e-12);
            prop_assert!(success(ber * 0.9, bits, t) >= p - 1e-12);
        }

        #[test]
        fn check_bits_increase_with_the_code(bits in 2..4_000u32, t in 0..200u32) {
            if let (Some(few), Some(many)) = (check_bits(bits, t), check_bits(bits, t + 1)) {
                prop_assert!(few <= many);
            }
        }
    }
}
