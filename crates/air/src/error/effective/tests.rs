use std::f64::consts::TAU;

use super::*;

const MODULATIONS: [Modulation; 4] =
    [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64, Modulation::Qam256];

fn db(ratio: f64) -> f64 {
    10.0 * ratio.log10()
}

/// `I(b; y)` of the bits of a symbol's real part, integrated over the received value `y`.
fn information(modulation: Modulation, snr: f64) -> f64 {
    let bits = modulation.order() / 2;
    let levels = 1u32 << bits;
    let half = (3.0 / f64::from(levels * levels - 1)).sqrt();
    let level = |i: u32| half * (f64::from(2 * i + 1) - f64::from(levels));
    let sigma = (1.0 / snr).sqrt();
    let density = |y: f64, i: u32| (-((y - level(i)) / sigma).powi(2) / 2.0).exp() / (sigma * TAU.sqrt());
    let reach = level(levels - 1) + 9.0 * sigma;
    let points = 6_000;
    let width = 2.0 * reach / f64::from(points);
    let mut sum = 0.0;
    for bit in 0..bits {
        for point in 0..points {
            let y = -reach + (f64::from(point) + 0.5) * width;
            let of = |value: u32| {
                let alike = (0..levels).filter(|i| (i ^ i >> 1) >> bit & 1 == value);
                alike.map(|i| density(y, i)).sum::<f64>() * 2.0 / f64::from(levels)
            };
            let (zero, one) = (of(0), of(1));
            let mean = f64::midpoint(zero, one);
            let part = |p: f64| if p > 0.0 { p / 2.0 * (p / mean).log2() } else { 0.0 };
            sum += (part(zero) + part(one)) * width;
        }
    }
    sum / f64::from(bits)
}

// Tests the feature: effective SNR by mutual information (closed form)
#[test]
fn tables_equal_the_mutual_information() {
    for modulation in MODULATIONS {
        let curve = modulation.curve();
        for snr_db in -30..=36 {
            let snr = 10f64.powf(f64::from(snr_db) / 10.0);
            let expected = information(modulation, snr);
            let exact = 1.0 - modulation.missing(snr);
            assert!((exact - expected).abs() < 2e-6, "{modulation:?} {snr_db} dB: {exact}, not {expected}");
            let found = 1.0 - f64::from(curve.missing(snr as f32));
            assert!((found - expected).abs() < 1e-3, "{modulation:?} {snr_db} dB: {found}, not {expected}");
        }
    }
}

/// Shannon limit: rate 1/2 is possible from Eb/N0 = 0.187 dB on.
#[test]
fn half_of_a_bit_arrives_at_the_known_limit() {
    let found = db(f64::from(Modulation::Qpsk.curve().snr(0.5)));
    assert!((found - 0.187).abs() < 0.01, "{found}");
}

#[test]
fn curves_decrease() {
    for modulation in MODULATIONS {
        let curve = modulation.curve();
        let mut last = 1.0;
        for snr_db in -380..380 {
            let missing = curve.missing(10f32.powf(snr_db as f32 / 100.0));
            assert!(missing < last || missing == 0.0, "{modulation:?} {snr_db}: {missing}");
            last = missing;
        }
    }
}
