//! Named random streams, and random errors drawn as gaps between errors.
//!
//! A stream is named by (seed, run, entity, index, purpose). Two variants of a study that use the same names
//! get the same random numbers (common random numbers), and an additional entity does not shift the numbers
//! of others. Logarithms come from `libm` instead of the platform, so that results are identical on every
//! machine.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::rng::{ErrorGaps, Streams, uniform};
//!
//! let streams = Streams::new(1, 0); // seed 1, replication 0
//! let draw = |user| uniform(&mut streams.stream("user", user, "start"));
//! assert_eq!(draw(0), draw(0));
//! assert_ne!(draw(0), draw(1));
//!
//! let mut losses = ErrorGaps::new(0.01, streams.stream("link", 0, "loss"));
//! let lost = (0..100_000).filter(|_| losses.next_is_error()).count();
//! assert!((900..1_100).contains(&lost));
//! ```

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

pub type Stream = ChaCha8Rng;

/// One step of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// In [0, 1), from the upper 53 bits.
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// In [0, 1).
pub fn uniform(stream: &mut Stream) -> f64 {
    unit(stream.next_u64())
}

/// Box & Muller (1958); the second number of the pair is not used.
pub fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - uniform(stream)));
    radius * libm::cos(std::f64::consts::TAU * (1.0 - uniform(stream)))
}

#[derive(Clone, Copy, Debug)]
pub struct Streams {
    key: u64,
}

impl Streams {
    pub fn new(seed: u64, run: u64) -> Self {
        Self { key: mix(mix(seed) ^ run) }
    }

    fn name(self, entity: &str, index: u64, purpose: &str) -> u64 {
        let text = |key: u64, text: &str| text.bytes().fold(mix(key), |key, byte| mix(key ^ u64::from(byte)));
        text(mix(text(self.key, entity) ^ index), purpose)
    }

    pub fn stream(&self, entity: &str, index: u64, purpose: &str) -> Stream {
        let mut seed = [0; 32];
        let mut key = self.name(entity, index, purpose);
        for word in seed.chunks_exact_mut(8) {
            key = mix(key);
            word.copy_from_slice(&key.to_le_bytes());
        }
        Stream::from_seed(seed)
    }

    pub fn indexed(&self, entity: &str, index: u64, purpose: &str) -> Indexed {
        Indexed { key: self.name(entity, index, purpose) }
    }
}

/// A random process addressed by position, such as one value per TTI. Positions that are not
/// evaluated cost nothing and do not shift the values at other positions.
#[derive(Clone, Copy, Debug)]
pub struct Indexed {
    key: u64,
}

impl Indexed {
    /// SplitMix64 with the position as counter.
    pub fn bits(&self, i: u64) -> u64 {
        mix(self.key.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    pub fn uniform(&self, i: u64) -> f64 {
        unit(self.bits(i))
    }
}

/// Box & Muller (1958) on positions `2 i` and `2 i + 1`.
pub fn normal_of(process: &Indexed, i: u64) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - process.uniform(2 * i)));
    radius * libm::cos(std::f64::consts::TAU * process.uniform(2 * i + 1))
}

/// Independent errors of constant probability, drawn as the gap to the next error.
///
/// The number of good trials before an error is geometric: `floor(ln U / ln(1 - p))` with U uniform in (0,
/// 1]. So one draw per error is enough, instead of one per trial.
#[derive(Clone, Debug)]
pub struct ErrorGaps {
    /// 1 / ln(1 - p): 0 if p = 1, minus infinity if p = 0.
    inverse_log: f64,
    good: u64,
    stream: Stream,
}

/// Of [`rough_ln`].
const LARGEST_ERROR: f64 = 1e-9;

/// The number is written as `2^k m`, with `m` from `sqrt(1/2)` to `sqrt(2)`. The logarithm of `m` is
/// approximated by the first five terms of the series of `2 artanh((m - 1) / (m + 1))`.
fn rough_ln(x: f64) -> f64 {
    const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = x.to_bits();
    let k = bits.wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits()).cast_signed() >> MANTISSA;
    let m = f64::from_bits(bits.wrapping_sub(k.cast_unsigned() << MANTISSA));
    let ratio = (m - 1.0) / (m + 1.0);
    let square = ratio * ratio;
    let series =
        1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square * (1.0 / 9.0))));
    k as f64 * std::f64::consts::LN_2 + 2.0 * ratio * series
}

impl ErrorGaps {
    pub fn new(p: f64, stream: Stream) -> Self {
        let mut gaps = Self { inverse_log: 1.0 / libm::log1p(-p), good: 0, stream };
        gaps.good = gaps.gap();
        gaps
    }

    fn gap(&mut self) -> u64 {
        let u = 1.0 - uniform(&mut self.stream);
        self.gap_of(u)
    }

    /// The exact logarithm is computed only if the rough one gives a gap so close to an integer that the
    /// error of the rough logarithm could change the result. Exact logarithms for all gaps took a sixth of
    /// the run time of a DCH.
    #[inline]
    fn gap_of(&self, u: f64) -> u64 {
        let rough = rough_ln(u) * self.inverse_log;
        let (gap, margin) = (rough as i64, LARGEST_ERROR * -self.inverse_log);
        let beyond = rough - gap as f64;
        if beyond > margin && beyond < 1.0 - margin { gap as u64 } else { self.exact_gap(u) }
    }

    fn exact_gap(&self, u: f64) -> u64 {
        // A cast from float to integer saturates, so p = 0 gives the largest gap. For p = 0 and u =
        // 1 the product is NaN, which needs its own branch.
        match libm::log(u) * self.inverse_log {
            gap if gap.is_nan() => u64::MAX,
            gap => gap as u64,
        }
    }

    pub fn good(&self) -> u64 {
        self.good
    }

    pub fn next_is_error(&mut self) -> bool {
        self.next_error_within(1).is_some()
    }

    pub fn next_error_within(&mut self, trials: u64) -> Option<u64> {
        if self.good >= trials {
            self.good -= trials;
            return None;
        }
        let position = self.good;
        self.good = self.gap();
        Some(position)
    }
}

/// Independent errors of varying probability. As with [`ErrorGaps`], one random number is drawn per
/// error, not per trial.
///
/// A trial with error probability p subtracts `-ln(1 - p)` from a random number, which is
/// exponential with mean 1. The trial with which the number falls below 0 is an error, and a new
/// number is drawn.
#[derive(Clone, Debug)]
pub struct Hazards {
    left: f64,
    stream: Stream,
}

impl Hazards {
    pub fn new(stream: Stream) -> Self {
        let mut hazards = Self { left: 0.0, stream };
        hazards.left = hazards.exponential();
        hazards
    }

    fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - uniform(&mut self.stream))
    }

    pub fn with(&mut self, p: f64) -> Hazard<'_> {
        Hazard { per_trial: -libm::log1p(-p), hazards: self }
    }
}

#[derive(Debug)]
pub struct Hazard<'a> {
    per_trial: f64,
    hazards: &'a mut Hazards,
}

impl Hazard<'_> {
    pub fn count_within(&mut self, trials: u32) -> u32 {
        let mut failed = 0;
        for _ in 0..trials {
            self.hazards.left -= self.per_trial;
            if self.hazards.left < 0.0 {
                failed += 1;
                self.hazards.left = self.hazards.exponential();
            }
        }
        failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(purpose: &str) -> Stream {
        Streams::new(1, 0).stream("test", 0, purpose)
    }

    #[test]
    fn names_give_independent_and_repeatable_streams() {
        let first =
            |streams: Streams, entity, index, purpose| streams.stream(entity, index, purpose).next_u64();
        let base = first(Streams::new(1, 0), "wired", 0, "loss");
        assert_eq!(base, first(Streams::new(1, 0), "wired", 0, "loss"));
        for other in [
            first(Streams::new(2, 0), "wired", 0, "loss"),
            first(Streams::new(1, 1), "wired", 0, "loss"),
            first(Streams::new(1, 0), "radio", 0, "loss"),
            first(Streams::new(1, 0), "wired", 1, "loss"),
            first(Streams::new(1, 0), "wired", 0, "jitter"),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn rough_logarithms_are_within_the_error_bound() {
        let mut draws = stream("logarithms");
        let near_one = (0..1_000).map(|n| 1.0 - f64::from(n) * f64::EPSILON / 2.0);
        let random = (0..100_000).map(|_| 1.0 - uniform(&mut draws));
        let tiny = (0..=53).map(|n| 0.5f64.powi(n));
        for x in near_one.chain(random).chain(tiny) {
            assert!((rough_ln(x) - libm::log(x)).abs() < LARGEST_ERROR, "{x}");
        }
    }

    #[test]
    fn gaps_equal_those_of_the_exact_logarithm() {
        let mut draws = stream("gaps");
        for p in [0.0, 1e-12, 1e-5, 0.003, 0.1, 0.5, 0.97, 1.0 - 1e-15, 1.0] {
            let gaps = ErrorGaps::new(p, stream("gaps"));
            let random = (0..50_000).map(|_| 1.0 - uniform(&mut draws));
            let whole = (0..50).map(|n| (1.0 - p).powi(n)).filter(|u| *u > 1e-16);
            for u in random.chain(whole).chain([1.0, f64::EPSILON / 2.0]) {
                assert_eq!(gaps.gap_of(u), gaps.exact_gap(u), "{p}: {u}");
            }
        }
    }

    #[test]
    fn gaps_match_the_error_probability() {
        for p in [0.003, 0.1, 0.5, 0.97] {
            let mut gaps = ErrorGaps::new(p, stream("gaps"));
            let n = 400_000u32;
            let errors = (0..n).filter(|_| gaps.next_is_error()).count() as f64;
            let sigma = (f64::from(n) * p * (1.0 - p)).sqrt();
            assert!((errors - f64::from(n) * p).abs() < 4.0 * sigma, "p={p}: {errors}");
        }
    }

    #[test]
    fn probabilities_0_and_1_give_no_and_only_errors() {
        let mut never = ErrorGaps::new(0.0, stream("never"));
        assert_eq!(never.next_error_within(1 << 40), None);
        let mut always = ErrorGaps::new(1.0, stream("always"));
        assert!((0..100).all(|_| always.next_error_within(5) == Some(0)));
    }

    /// The probability of error alternates between 0.02 and 0.6, and the errors at each probability
    /// are counted separately.
    #[test]
    fn hazards_follow_a_changing_probability() {
        let mut hazards = Hazards::new(stream("hazards"));
        let (n, mut errors) = (200_000u32, [0u32; 2]);
        for i in 0..n {
            for (p, errors) in [0.02, 0.6].into_iter().zip(&mut errors) {
                *errors += hazards.with(p).count_within(1 + i % 2);
            }
        }
        let trials = f64::from(n) * 1.5;
        for (p, errors) in [0.02, 0.6].into_iter().zip(errors) {
            let sigma = (trials * p * (1.0 - p)).sqrt();
            assert!((f64::from(errors) - trials * p).abs() < 4.0 * sigma, "p={p}: {errors}");
        }
        assert_eq!(hazards.with(1.0).count_within(7), 7);
        assert_eq!(hazards.with(0.0).count_within(1_000), 0);
    }

    #[test]
    fn batched_trials_give_the_same_errors_as_single_ones() {
        let mut single = ErrorGaps::new(0.2, stream("same"));
        let one_by_one: Vec<bool> = (0..1_000).map(|_| single.next_is_error()).collect();
        let mut batched = ErrorGaps::new(0.2, stream("same"));
        let mut together = Vec::new();
        while together.len() < 1_000 {
            let batch = 7.min(1_000 - together.len() as u64);
            let good = batched.next_error_within(batch).map_or((batch, false), |at| (at, true));
            together.extend(std::iter::repeat_n(false, good.0 as usize));
            together.extend(good.1.then_some(true));
        }
        assert_eq!(one_by_one, together);
    }

    #[test]
    fn positions_are_uniform() {
        let process = Streams::new(3, 4).indexed("user", 0, "ci");
        let n = 100_000;
        let mean = (0..n).map(|i| process.uniform(i)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 4.0 / (12.0 * n as f64).sqrt(), "{mean}");
    }
}
