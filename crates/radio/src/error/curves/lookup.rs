//! Table of the block error rate of one format over the SNR.

use super::measured::{LAST_DECADE, LEVELS, logit};

/// Number of mantissa bits within a step, which leave 128 steps per octave: 0.02 to 0.03 dB each.
const STEP_BITS: u32 = f32::MANTISSA_DIGITS - 1 - 7;

/// Block error rate below which blocks of a table never fail, and above the complement of which they always fail.
const NEGLIGIBLE: f64 = 1e-7;

/// Block error rate of a format by SNR.
///
/// The rate is interpolated linearly between SNRs with a distance of 1/128 to 1/256 of their value. Their indices are
/// bits of the SNR's f32, so no logarithm is needed.
#[derive(Clone, Debug)]
pub struct BlockErrorRate {
    lowest: f32,
    highest: f32,
    /// Rates from `lowest` to `highest`, the first one 1, the last one 0 (1 if blocks are never
    /// decoded).
    rates: Box<[f32]>,
}

impl BlockErrorRate {
    /// Creates the table for a number of code blocks, each of which has the error rates [`LEVELS`] at `thresholds_db`,
    /// which do not fall.
    pub(super) fn new(thresholds_db: &[f64; LEVELS.len()], code_blocks: u32) -> Self {
        let rate = |snr_db: f64| of_blocks(rate_at(thresholds_db, snr_db), code_blocks);
        let step_of = |snr_db: f64| (libm::pow(10.0, snr_db / 10.0) as f32).to_bits() >> STEP_BITS;
        let (mut first, mut last) = (step_of(thresholds_db[4]), step_of(thresholds_db[4]) + 1);
        let mut rates = std::collections::VecDeque::new();
        let snr_db = |step: u32| 10.0 * libm::log10(f64::from(snr_at(step)));
        while rates.front().is_none_or(|rate| *rate < 1.0) {
            let found = rate(snr_db(first));
            first -= 1;
            rates.push_front(if found > 1.0 - NEGLIGIBLE || snr_at(first) < f32::MIN_POSITIVE {
                1.0
            } else {
                found as f32
            });
        }
        while rates.back().is_none_or(|rate| *rate > 0.0) {
            let found = rate(snr_db(last));
            last += 1;
            rates.push_back(if found < NEGLIGIBLE || snr_at(last) > 1e30 { 0.0 } else { found as f32 });
        }
        Self { lowest: snr_at(first + 1), highest: snr_at(last - 1), rates: rates.into_iter().collect() }
    }

    /// Creates the table of blocks that are never decoded.
    pub(super) fn never() -> Self {
        Self { lowest: snr_at(1), highest: snr_at(2), rates: Box::new([1.0, 1.0]) }
    }

    /// Returns the block error rate, 0 to 1, at a linear SNR, which may be 0 or infinite. At NaN it is 1.
    #[inline]
    pub fn at(&self, snr: f32) -> f32 {
        let bits = snr.max(self.lowest).min(self.highest).to_bits() - self.lowest.to_bits();
        let step = ((bits >> STEP_BITS) as usize).min(self.rates.len() - 2);
        let within = (bits - ((step as u32) << STEP_BITS)) as f32 * (1.0 / (1u32 << STEP_BITS) as f32);
        let (from, to) = (self.rates[step], self.rates[step + 1]);
        from + (to - from) * within
    }

    /// Returns the smallest linear SNR at which the block error rate is at most `rate`, which is between 0 and 1.
    /// It is infinite if blocks are never decoded.
    pub fn snr(&self, rate: f32) -> f32 {
        if self.rates.last().is_some_and(|lowest| *lowest > rate) {
            return f32::INFINITY;
        }
        let above = self.rates.partition_point(|known| *known > rate).clamp(1, self.rates.len() - 1);
        let (from, to) = (self.rates[above - 1], self.rates[above]);
        let within = if from > to { ((from - rate) / (from - to)).clamp(0.0, 1.0) } else { 0.0 };
        let step = self.lowest.to_bits() >> STEP_BITS;
        let [low, high] = [above - 1, above].map(|at| snr_at(step + at as u32));
        low + (high - low) * within
    }
}

/// Returns the linear SNR at the beginning of a step.
fn snr_at(step: u32) -> f32 {
    f32::from_bits(step << STEP_BITS)
}

/// Returns the error rate of a code block at an SNR, from its SNRs at [`LEVELS`].
fn rate_at(thresholds_db: &[f64; LEVELS.len()], snr_db: f64) -> f64 {
    let above = thresholds_db.partition_point(|known| *known <= snr_db);
    let [from, to] = match above {
        0 => [0, 1],
        _ if above == LEVELS.len() => [LAST_DECADE, LEVELS.len() - 1],
        _ => [above - 1, above],
    };
    let (x0, x1) = (thresholds_db[from], thresholds_db[to]);
    let [y0, y1] = [from, to].map(|level| logit(LEVELS[level]));
    let logit = if x1 > x0 { y0 + (y1 - y0) * (snr_db - x0) / (x1 - x0) } else { y1 };
    1.0 / (1.0 + libm::exp(-logit))
}

/// Returns the probability that one of `blocks` independent code blocks is in error, `1 - (1 - p)^C`.
fn of_blocks(p: f64, blocks: u32) -> f64 {
    -libm::expm1(f64::from(blocks) * libm::log1p(-p))
}
