use std::f64::consts::{PI, TAU};

use nodeb_base::rng::Streams;

use super::*;

/// At 3 km/h and 2 GHz, TTIs of 2 ms.
const DOPPLER_PER_TTI: f64 = 0.011_12;

fn over_runs(runs: u64, statistic: impl Fn(&mut Ray, &JakesSequence) -> f64) -> (f64, f64) {
    let values: Vec<f64> = (0..runs)
        .map(|run| {
            let streams = Streams::new(5, run);
            let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
            let mut ray = Ray::new(DOPPLER_PER_TTI, streams.indexed("user", 0, "path 0"));
            statistic(&mut ray, &sequence)
        })
        .collect();
    let n = runs as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Within 4 standard errors, of which each is less than a third of `precision`.
fn agrees(found: (f64, f64), expected: f64, precision: f64, what: &str) {
    let (mean, error) = found;
    assert!(error < precision / 3.0, "{what}: {mean} is known to {error} only");
    assert!((mean - expected).abs() < 4.0 * error, "{what}: {mean} +- {error}, expected {expected}");
}

/// About 1000 Doppler periods, enough for at least one transition between segments.
const TTIS: u64 = 90_000;

#[test]
fn the_autocorrelation_is_j0() {
    for lag in [10, 34, 63, 150] {
        let expected = libm::j0(TAU * DOPPLER_PER_TTI * lag as f64);
        let found = over_runs(40, |ray, sequence| {
            let product = |tti| {
                let (a, b) = (ray.amplitude(sequence, tti), ray.amplitude(sequence, tti + lag));
                f64::from(a.0 * b.0 + a.1 * b.1)
            };
            (0..TTIS).step_by(20).map(product).sum::<f64>() / (TTIS / 20) as f64
        });
        agrees(found, expected, 0.03, &format!("lag {lag}"));
    }
}

#[test]
fn gains_are_exponentially_distributed() {
    for level in [0.01, 0.1, 0.5, 1.0, 3.0] {
        let expected = 1.0 - f64::exp(-level);
        let found = over_runs(60, |ray, sequence| {
            let below = |tti: &u64| f64::from(ray.gain(sequence, *tti)) < level;
            (0..TTIS).step_by(20).filter(below).count() as f64 / (TTIS / 20) as f64
        });
        agrees(found, expected, 0.02 * expected.max(0.1), &format!("level {level}"));
    }
}

/// Rice: the envelope crosses `rho` times its RMS value upwards `sqrt(2 pi) rho exp(-rho^2)` times per
/// Doppler period.
#[test]
fn level_crossings_match_rice() {
    for rho in [0.1f64, 0.3, 1.0, 1.5] {
        let expected = (2.0 * PI).sqrt() * rho * (-rho * rho).exp();
        let found = over_runs(40, |ray, sequence| {
            let mut below = false;
            let mut crossings = 0;
            for tti in 0..TTIS {
                let is_below = f64::from(ray.gain(sequence, tti)) < rho * rho;
                crossings += u32::from(below && !is_below);
                below = is_below;
            }
            f64::from(crossings) / (TTIS as f64 * DOPPLER_PER_TTI)
        });
        // A precision of 6 % is enough, because an envelope that is sampled 90 times per Doppler
        // period misses the shortest fades.
        agrees(found, expected, 0.06 * expected, &format!("rho {rho}"));
    }
}

#[test]
fn paths_never_repeat_and_differ_from_each_other() {
    let streams = Streams::new(1, 0);
    let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
    let mut ray = Ray::new(0.5, streams.indexed("user", 0, "path 0"));
    let mut other = Ray::new(0.5, streams.indexed("user", 0, "path 1"));
    let length = (LENGTH as u64) / SAMPLES_PER_PERIOD * 2;
    let same = (0..1_000).filter(|tti| {
        let now = ray.gain(&sequence, *tti);
        [ray.gain(&sequence, tti + length), other.gain(&sequence, *tti)]
            .iter()
            .any(|gain| (gain - now).abs() < 1e-4 * now)
    });
    assert!(same.count() < 3);
}

#[test]
fn transitions_are_smooth() {
    let streams = Streams::new(1, 0);
    let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
    let mut ray = Ray::new(DOPPLER_PER_TTI, streams.indexed("user", 0, "path 0"));
    let mut last = ray.amplitude(&sequence, 0);
    for tti in 1..3 * 512 * 90 {
        let now = ray.amplitude(&sequence, tti);
        // Within a TTI the phase of a ray turns by at most 2 pi `DOPPLER_PER_TTI`, 0.07. The bound
        // allows this for an amplitude of 5, 25 times the mean power.
        let moved = (now.0 - last.0).hypot(now.1 - last.1);
        assert!(moved < 0.35, "TTI {tti}: {last:?} to {now:?}");
        last = now;
    }
}

#[test]
fn no_gain_is_above_its_peak() {
    let streams = Streams::new(1, 0);
    let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
    let mut close = 0;
    for doppler_per_tti in [0.0, DOPPLER_PER_TTI / 3.0, DOPPLER_PER_TTI, 4.0 * DOPPLER_PER_TTI] {
        let ray = Ray::new(doppler_per_tti, streams.indexed("user", 0, "path 0"));
        let [mut asked, mut read] = [ray.clone(), ray];
        let ttis = asked.peak_ttis();
        for first in (0..300_000).step_by(ttis as usize - 1) {
            let peak = asked.peak(&sequence, first, ttis) * 1.000_01;
            let highest = (first..first + ttis).map(|tti| read.gain(&sequence, tti)).fold(0.0, f32::max);
            assert!(highest <= peak, "{doppler_per_tti}, TTI {first}: {highest} {peak}");
            close += u32::from(highest > 0.8 * peak);
        }
    }
    assert!(close > 10_000, "{close}");
}

#[test]
fn the_inverse_dft_equals_its_defining_sum() {
    let input: Vec<Complex<f64>> = (0..16).map(|k| (f64::from(k % 5), f64::from(k % 3) - 1.0)).collect();
    let mut found = input.clone();
    inverse_dft(&mut found);
    for (n, (re, im)) in found.iter().enumerate() {
        let (mut a, mut b) = (0.0, 0.0);
        for (k, (x, y)) in input.iter().enumerate() {
            let (sin, cos) = (TAU * (k * n) as f64 / 16.0).sin_cos();
            a += x * cos - y * sin;
            b += x * sin + y * cos;
        }
        assert!((re - a).abs() < 1e-9 && (im - b).abs() < 1e-9, "sample {n}");
    }
}
