//! Coherent BPSK over Rayleigh paths with maximum-ratio combining: J. G. Proakis, *Digital Communications*,
//! 4th ed., 14.4-15 for equal and 14.5-28 for distinct mean signal-to-noise ratios; `hossain`, equations 4
//! and 5, whose coefficient, printed without an index, is Proakis's `pi_k = prod over i != k of gamma_k /
//! (gamma_k - gamma_i)`. Where the terms of equation 5 nearly cancel, the equal integral over the moment
//! generating function is used (M. K. Simon and M.-S. Alouini, *Digital Communication over Fading Channels*,
//! 5.1.4).

/// Above this ratio of the sum to the sum of its terms' magnitudes equation 5 is used: rounding then errs by
/// at most a few times 1e-11.
const LEAST_REMAINDER: f64 = 1e-4;
/// Doubled until the integral converges, at most to [`MAX_POINTS`].
const FEWEST_POINTS: u32 = 32;
const MAX_POINTS: u32 = 1 << 14;
/// Relative change when the number of points is doubled.
const CONVERGED: f64 = 1e-12;

/// Equation 4; 1/2 without paths.
pub fn equal_paths(gamma: f64, paths: u32) -> f64 {
    let mu = libm::sqrt(gamma / (1.0 + gamma));
    // Equals 0.5 (1 - mu), but this form avoids the cancellation if mu is near 1.
    let wrong = 0.5 / ((1.0 + gamma) * (1.0 + mu));
    let right = 0.5 * (1.0 + mu);
    let mut term = 1.0;
    let mut sum = 0.0;
    for l in 0..paths {
        sum += term;
        term *= right * f64::from(paths + l) / f64::from(l + 1);
    }
    if paths == 0 { 0.5 } else { sum * libm::pow(wrong, f64::from(paths)) }
}

/// Equation 5; some ratios may be equal.
pub fn paths(gammas: &[f64]) -> f64 {
    let least = gammas.iter().copied().fold(f64::INFINITY, f64::min);
    if gammas.iter().all(|gamma| *gamma <= least) {
        return equal_paths(least, gammas.len() as u32);
    }
    let (mut sum, mut size) = (0.0, 0.0);
    for (k, gamma) in gammas.iter().enumerate() {
        let others = gammas.iter().enumerate().filter(|(i, _)| *i != k);
        let pi: f64 = others.map(|(_, other)| gamma / (gamma - other)).product();
        let mu = libm::sqrt(gamma / (1.0 + gamma));
        let term = pi * 0.5 / ((1.0 + gamma) * (1.0 + mu));
        sum += term;
        size += term.abs();
    }
    // If two ratios are equal, `sum` and `size` are infinite or NaN, so the integral is used.
    if sum > LEAST_REMAINDER * size && size.is_finite() { sum } else { integral(gammas) }
}

/// `1/pi` times the integral from 0 to `pi/2` of `prod over k of 1 / (1 + gamma_k / sin^2 theta)`, by the
/// midpoint rule, which converges exponentially as the integrand is periodic.
fn integral(gammas: &[f64]) -> f64 {
    let of = |points: u32| {
        let at = |i: u32| {
            let theta = std::f64::consts::FRAC_PI_2 * (f64::from(i) + 0.5) / f64::from(points);
            let sine = libm::sin(theta);
            gammas.iter().map(|gamma| sine * sine / (sine * sine + gamma)).product::<f64>()
        };
        0.5 * (0..points).map(at).sum::<f64>() / f64::from(points)
    };
    let (mut points, mut value) = (FEWEST_POINTS, of(FEWEST_POINTS));
    while points < MAX_POINTS {
        points *= 2;
        let finer = of(points);
        let has_converged = (finer - value).abs() <= CONVERGED * finer;
        value = finer;
        if has_converged {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use nodeb_base::rng::{Streams, normal};

    /// Computed from closed forms and checked with the integral and by Monte Carlo simulation.
    const REFERENCE: &str = include_str!("../../tests/reference/mrc_rayleigh_profiles.csv");

    fn taps(profile: &str) -> Vec<f64> {
        let db: &[f64] = match profile {
            "L1" => &[0.0],
            "L2_equal" => &[0.0; 2],
            "L3_equal" => &[0.0; 3],
            "L4_equal" => &[0.0; 4],
            "Case1_976ns_-10dB" => &[0.0, -10.0],
            "Case3_0_-3_-6_-9dB" => &[0.0, -3.0, -6.0, -9.0],
            "PedB_6tap" => &[0.0, -0.9, -4.9, -8.0, -7.8, -23.9],
            "VehA_6tap" => &[0.0, -1.0, -9.0, -10.0, -15.0, -20.0],
            _ => panic!("no such profile: {profile}"),
        };
        let linear: Vec<f64> = db.iter().map(|db| 10f64.powf(db / 10.0)).collect();
        let total: f64 = linear.iter().sum();
        linear.iter().map(|power| power / total).collect()
    }

    #[test]
    fn ber_matches_reference_values_of_maximum_ratio_combining() {
        let mut met = 0;
        for line in REFERENCE.lines().filter(|line| !line.starts_with('#')).skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let [profile, eb_n0_db, ber] = fields[..] else { panic!("{line}") };
            let eb_n0 = 10f64.powf(eb_n0_db.parse::<f64>().unwrap() / 10.0);
            let expected: f64 = ber.parse().unwrap();
            let gammas: Vec<f64> = taps(profile).iter().map(|share| share * eb_n0).collect();
            for found in [paths(&gammas), integral(&gammas)] {
                assert!((found / expected - 1.0).abs() < 2e-6, "{line}: {found}");
            }
            met += 1;
        }
        assert_eq!(met, 88);
    }

    #[test]
    fn poles_and_extremes_are_limits() {
        for close in [0.0, 1e-15, 1e-9, 1e-5, 1e-3] {
            let found = paths(&[2.0, 2.0 * (1.0 + close), 1.0]);
            assert!(
                (found / integral(&[2.0, 2.0, 1.0]) - 1.0).abs() < 2.0 * close + 1e-10,
                "{close}: {found}"
            );
        }
        assert!((paths(&[]) - 0.5).abs() < f64::EPSILON);
        assert!((paths(&[0.0, 0.0]) - 0.5).abs() < 1e-12);
        assert!((paths(&[3.0, 0.0]) - equal_paths(3.0, 1)).abs() < 1e-12);
        assert!((equal_paths(0.0, 3) - 0.5).abs() < 1e-12);
        assert!(equal_paths(1e12, 8) >= 0.0 && paths(&[1e12, 1e12, 1e-12]) >= 0.0);
    }

    /// Fading paths, noise, combining and a decision for each bit.
    #[test]
    fn ber_matches_a_simulated_receiver() {
        let gammas = [1.6f64, 0.9, 0.2];
        let (n, mut errors) = (400_000, 0u32);
        let mut stream = Streams::new(5, 0).stream("test", 0, "fading");
        for _ in 0..n {
            let (mut signal, mut weight) = (0.0, 0.0);
            for gamma in gammas {
                // The power |h|^2 gamma of a path is exponential with mean gamma. The variance of
                // the noise after combining is half the sum of these powers.
                let power = gamma * (normal(&mut stream).powi(2) + normal(&mut stream).powi(2)) / 2.0;
                signal += power;
                weight += power;
            }
            errors += u32::from(signal + (weight / 2.0).sqrt() * normal(&mut stream) < 0.0);
        }
        let (p, n) = (paths(&gammas), f64::from(n));
        assert!((f64::from(errors) - n * p).abs() < 4.0 * (n * p * (1.0 - p)).sqrt(), "{errors} of {n}: {p}");
    }

    proptest! {
        #[test]
        fn ber_is_a_probability_that_decreases_with_every_path(
            gammas in prop::collection::vec(prop_oneof![0.0..10.0f64, (-6.0..4.0f64).prop_map(|e| 10f64.powf(e))], 1..9),
            better in 0usize..8,
        ) {
            let p = paths(&gammas);
            prop_assert!((0.0..=0.5).contains(&p), "{}", p);
            let mut improved = gammas.clone();
            improved[better % gammas.len()] += 0.5;
            prop_assert!(paths(&improved) < p, "{} {}", paths(&improved), p);
        }

        #[test]
        fn closed_form_and_integral_agree(gammas in prop::collection::vec(0.02..30.0f64, 1..7)) {
            let (closed, integral) = (paths(&gammas), integral(&gammas));
            prop_assert!((closed / integral - 1.0).abs() < 1e-9, "{} {}", closed, integral);
        }
    }
}
