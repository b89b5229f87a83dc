use super::super::profile::Profile;
use super::*;

const PROFILES: [Profile; 3] =
    [Profile::ExtendedPedestrianA, Profile::ExtendedVehicularA, Profile::ExtendedTypicalUrban];

/// Doppler periods per TTI of 1 ms, at 3 km/h and 2 GHz.
const WALK: f64 = 0.005_56;

fn user(profile: Profile, doppler: f64, run: u64) -> (Selective, JakesSequence) {
    let streams = Streams::new(5, run);
    let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
    let response = Response::new(&profile.delays(&[]), &band_20_mhz());
    (Selective::new(Arc::new(response), doppler, ("user", 0), &streams), sequence)
}

fn band_20_mhz() -> Band {
    Band::new(100, 4, 180e3)
}

fn indices() -> std::ops::Range<usize> {
    0..band_20_mhz().groups()
}

#[test]
fn the_channel_is_the_sum_over_paths() {
    let band = band_20_mhz();
    for profile in PROFILES {
        for doppler in [0.0, WALK, 0.06, 0.3] {
            let (mut user, sequence) = user(profile, doppler, 0);
            let mut bundle = user.bundle.clone();
            for tti in (0..3_000).chain((0..2_000_000).step_by(701)).chain([5, 4]) {
                let (sample, fraction) = bundle.place(tti);
                let [mut from, mut to] = [[(0.0, 0.0); 9]; 2];
                bundle.read(&sequence, sample, |path, (re, im)| from[path] = (f64::from(re), f64::from(im)));
                bundle
                    .read(&sequence, sample + 1, |path, (re, im)| to[path] = (f64::from(re), f64::from(im)));
                let mut gains = [0.0; MAX_GROUPS];
                user.gains(&sequence, tti, &mut gains);
                for group in band.all() {
                    let mut h = (0.0, 0.0);
                    for (path, (delay, power)) in profile.delays(&[]).into_iter().enumerate() {
                        let (sin, cos) = (-TAU * band.centre_hz(group) * delay).sin_cos();
                        let mix = |a: f64, b: f64| (a + (b - a) * f64::from(fraction)) * power.sqrt();
                        let (re, im) = (mix(from[path].0, to[path].0), mix(from[path].1, to[path].1));
                        h = (h.0 + re * cos - im * sin, h.1 + re * sin + im * cos);
                    }
                    let expected = h.0 * h.0 + h.1 * h.1;
                    let error = (f64::from(gains[group]) - expected).abs();
                    assert!(error < 2e-5 * expected.max(0.1), "{profile:?} {doppler} {tti}: {error}");
                }
            }
        }
    }
}

#[test]
fn gains_reach_but_do_not_exceed_their_peak() {
    let (mut user, sequence) = user(Profile::ExtendedPedestrianA, WALK, 0);
    let mut closest = 0.0f32;
    for tti in (0..3_000).chain((0..2_000_000).step_by(701)) {
        let mut gains = [0.0; MAX_GROUPS];
        user.gains(&sequence, tti, &mut gains);
        let share = gains.into_iter().fold(0.0, f32::max) / user.peak(&sequence, tti).unwrap();
        assert!(share <= 1.0 + 1e-6, "{tti}: {share}");
        closest = closest.max(share);
    }
    assert!(closest > 0.999, "{closest}");
}

#[test]
fn a_value_depends_on_the_tti_only() {
    for doppler in [WALK, 0.3] {
        let (user, sequence) = user(Profile::ExtendedVehicularA, doppler, 1);
        let [mut forward, mut backward] = [user.clone(), user];
        let expected: Vec<_> = (0..4_000).map(|tti| forward.channel(&sequence, tti)).collect();
        for tti in (0..4_000).rev().step_by(7) {
            assert_eq!(backward.channel(&sequence, tti), expected[tti as usize], "TTI {tti}");
        }
    }
}

/// Mean of `H_a(t + lag) H_b(t)*` and its standard error, for groups `distance` apart.
fn correlation(profile: Profile, distance: usize, lag: u64) -> [(f64, f64); 2] {
    let runs = 40u64;
    let one = |run: u64| {
        let (mut user, sequence) = user(profile, WALK, run);
        let (mut sum, mut count) = ([0.0; 2], 0.0);
        for tti in (0..400_000).step_by(311) {
            let here = user.channel(&sequence, tti);
            let later = user.channel(&sequence, tti + lag);
            for (a, b) in indices().skip(distance).zip(indices()) {
                let [(x, y), (u, v)] = [(later[0][a], later[1][a]), (here[0][b], here[1][b])];
                sum[0] += f64::from(x * u + y * v);
                sum[1] += f64::from(y * u - x * v);
                count += 1.0;
            }
        }
        sum.map(|sum| sum / count)
    };
    let found: Vec<[f64; 2]> = (0..runs).map(one).collect();
    [0, 1].map(|part| {
        let n = runs as f64;
        let mean = found.iter().map(|found| found[part]).sum::<f64>() / n;
        let variance = found.iter().map(|found| (found[part] - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    })
}

fn agrees(profile: Profile, distance: usize, lag: u64, expected: [f64; 2]) {
    for ((mean, error), expected) in correlation(profile, distance, lag).into_iter().zip(expected) {
        let what = format!("{profile:?}, distance {distance}, lag {lag}: {mean} +- {error}, not {expected}");
        assert!(error < 0.03 && (mean - expected).abs() < 4.0 * error + 0.003, "{what}");
    }
}

// Tests the feature: fading in time and frequency (closed form)
/// Sum of the powers times `e^(-2 pi i delta_f tau)`.
#[test]
fn groups_are_correlated_as_the_profile_says() {
    for profile in PROFILES {
        for distance in [0, 1, 2, 5, 12, 24] {
            let hz = distance as f64 * 4.0 * 180e3;
            let mut expected = [0.0; 2];
            for (delay, power) in profile.delays(&[]) {
                let (sin, cos) = (-TAU * hz * delay).sin_cos();
                expected = [expected[0] + power * cos, expected[1] + power * sin];
            }
            agrees(profile, distance, 0, expected);
        }
    }
}

/// Clarke's model.
#[test]
fn the_autocorrelation_over_time_is_j0() {
    for lag in [20, 69, 126, 300] {
        agrees(Profile::ExtendedVehicularA, 0, lag, [libm::j0(TAU * WALK * lag as f64), 0.0]);
    }
}
