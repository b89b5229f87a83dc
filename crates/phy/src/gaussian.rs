//! Box and Muller (Ann. Math. Stat. 29(2), 1958), by operations that IEEE 754 rounds exactly, so every
//! machine draws the same numbers. 63 random bits per pair: no number exceeds 6.7 standard deviations.

use rand_core::Rng as _;

use crate::rng::Stream;
use crate::simd::Isa;

const PAIRS: usize = 256;

/// Mean 0 and deviation `sigma`.
pub fn fill(isa: Isa, stream: &mut Stream, sigma: f32, out: &mut [f32]) {
    let mut bytes = [0; PAIRS * 8];
    for chunk in out.chunks_mut(2 * PAIRS) {
        let bytes = &mut bytes[..chunk.len().div_ceil(2) * 8];
        stream.fill_bytes(bytes);
        isa.run(
            #[inline(always)]
            || transform(bytes, sigma, chunk),
        );
    }
}

#[inline(always)]
fn transform(bytes: &[u8], sigma: f32, out: &mut [f32]) {
    let half = out.len().div_ceil(2);
    let (first, second) = out.split_at_mut(half);
    let words = bytes.as_chunks::<4>().0;
    let (radii, phases) = words.split_at(half);
    let normal =
        |radius: [u8; 4], phase: [u8; 4]| pair(u32::from_le_bytes(radius), u32::from_le_bytes(phase));
    for i in 0..second.len() {
        let (x, y) = normal(radii[i], phases[i]);
        first[i] = sigma * x;
        second[i] = sigma * y;
    }
    if second.len() < half {
        first[half - 1] = sigma * normal(radii[half - 1], phases[half - 1]).0;
    }
}

/// From 31 bits of `radius` and 32 bits of `phase`.
#[inline(always)]
fn pair(radius: u32, phase: u32) -> (f32, f32) {
    let uniform = ((radius >> 1) as i32 as f32 + 0.5) * (1.0 / 2_147_483_648.0);
    let radius = (-2.0 * ln(uniform)).sqrt();
    // The upper two bits of `phase` select a quarter turn, and the other bits an angle of at most
    // an eighth of a turn from 0.
    let eighth = (phase << 2 >> 1) as i32 as f32 * (1.0 / 2_147_483_648.0) - 0.5;
    let (sin, cos) = sin_cos(eighth * std::f32::consts::FRAC_PI_2);
    let odd = phase >> 30 & 1 == 1;
    let (x, y) = if odd { (-sin, cos) } else { (cos, sin) };
    let half_turn = phase & 0x8000_0000;
    let turned = |x: f32| f32::from_bits(x.to_bits() ^ half_turn);
    (radius * turned(x), radius * turned(y))
}

/// `2 artanh((m - 1) / (m + 1))` of the mantissa m, with a relative error of at most 3e-7.
#[inline(always)]
fn ln(x: f32) -> f32 {
    const TWO_THIRDS: i32 = 0x3F2A_AAAB;
    let exponent = (x.to_bits() as i32).wrapping_sub(TWO_THIRDS) >> 23;
    let mantissa = f32::from_bits((x.to_bits() as i32).wrapping_sub(exponent << 23) as u32);
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let s2 = s * s;
    let series = 1.0 + s2 * (1.0 / 3.0 + s2 * (1.0 / 5.0 + s2 * (1.0 / 7.0 + s2 * (1.0 / 9.0))));
    exponent as f32 * std::f32::consts::LN_2 + 2.0 * s * series
}

/// Taylor series up to an eighth of a turn, with an error of at most 1e-7.
#[inline(always)]
fn sin_cos(x: f32) -> (f32, f32) {
    let x2 = x * x;
    let sin = x * (1.0 - x2 / 6.0 * (1.0 - x2 / 20.0 * (1.0 - x2 / 42.0 * (1.0 - x2 / 72.0))));
    let cos = 1.0 - x2 / 2.0 * (1.0 - x2 / 12.0 * (1.0 - x2 / 30.0 * (1.0 - x2 / 56.0)));
    (sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    fn draw(n: usize) -> Vec<f32> {
        let mut out = vec![0.0; n];
        fill(Isa::best(), &mut stream(1, "normal", 0), 2.0, &mut out);
        out
    }

    #[test]
    fn functions_have_the_documented_accuracy() {
        for i in 1..=10_000u32 {
            let x = i as f32 * 1e-4;
            assert!((f64::from(ln(x)) - libm::log(f64::from(x))).abs() < 1e-6, "ln {x}");
            let turn = (x - 0.5) * std::f32::consts::FRAC_PI_2;
            let (sin, cos) = sin_cos(turn);
            assert!((f64::from(sin) - libm::sin(f64::from(turn))).abs() < 2e-7, "sin {turn}");
            assert!((f64::from(cos) - libm::cos(f64::from(turn))).abs() < 2e-7, "cos {turn}");
        }
    }

    #[test]
    fn moments_and_tails_are_normal() {
        let n = 2_000_000;
        let numbers: Vec<f64> = draw(n).into_iter().map(|x| f64::from(x) / 2.0).collect();
        let moment = |k: i32| numbers.iter().map(|x| x.powi(k)).sum::<f64>() / n as f64;
        // Each measured moment is within four standard errors of its expectation. The variance of
        // x^k is 1, 2, 15 and 96 for k = 1 to 4.
        for (k, mean, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            assert!(
                (moment(k) - mean).abs() < 4.0 * (variance / n as f64).sqrt(),
                "moment {k}: {}",
                moment(k)
            );
        }
        for x in [0.5, 1.0, 2.0, 3.0, 4.0] {
            let p = 0.5 * libm::erfc(x / std::f64::consts::SQRT_2);
            let above = numbers.iter().filter(|&&y| y > x).count() as f64 / n as f64;
            assert!((above - p).abs() < 4.0 * (p / n as f64).sqrt(), "P(x > {x}): {above} for {p}");
        }
    }

    #[test]
    fn instruction_sets_draw_the_same_numbers() {
        let mut baseline = vec![0.0; 1001];
        fill(Isa::Baseline, &mut stream(1, "normal", 0), 2.0, &mut baseline);
        assert_eq!(baseline, draw(1001));
    }
}
