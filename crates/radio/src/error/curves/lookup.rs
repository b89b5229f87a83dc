//! Table of the block error rate of one format over the SNR.

use std::sync::LazyLock;

use super::measured::{LAST_DECADE, LEVELS, logit};

/// Number of low mantissa bits of an SNR, an `f32`, that give its position within a step of the
/// table. The 7 other bits number the 128 steps of an octave, each of 0.02 to 0.03 dB.
const STEP_BITS: u32 = f32::MANTISSA_DIGITS - 1 - 7;

/// Block error rate below which a table has the rate 0. For rates above 1 minus this value it has
/// the rate 1.
const NEGLIGIBLE: f64 = 1e-7;

/// Block error rate of a format by SNR.
///
/// The rate is interpolated linearly between SNRs with a distance of 1/128 to 1/256 of their value.
/// The index of an SNR is made of bits of its f32, so no logarithm is needed.
#[derive(Clone, Debug)]
pub struct BlockErrorRate {
    lowest: f32,
    highest: f32,
    /// Rates from `lowest` to `highest`, the first one 1, the last one 0 (1 if blocks are never
    /// decoded).
    rates: Box<[f32]>,
}

/// Block error rates of a format, from which a table is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// SNRs in dB at which a code block has the error rates [`LEVELS`]. No SNR is below the one
    /// before it.
    pub thresholds_db: [f64; LEVELS.len()],
    /// Number of code blocks in a transport block.
    pub code_blocks: u32,
}

impl Rates {
    /// Returns the block error rate at the beginning of a step. Rounds it to 1 or 0 if the difference
    /// is less than [`NEGLIGIBLE`]. Returns 1 for subnormal SNRs and 0 for SNRs above 1e30.
    fn at(&self, step: u32) -> f32 {
        let snr = snr_at(step);
        let of_one = rate_at(&self.thresholds_db, 10.0 * libm::log10(f64::from(snr)));
        let rate = of_blocks(of_one, self.code_blocks);
        if rate > 1.0 - NEGLIGIBLE || snr < f32::MIN_POSITIVE {
            1.0
        } else if rate < NEGLIGIBLE || snr > 1e30 {
            0.0
        } else {
            rate as f32
        }
    }

    /// Returns the linear SNR at which the block error rate is `rate`, which is at least 0 and below 1.
    /// The search for the steps around this SNR starts at an estimate: the SNR at which a single code
    /// block has about the corresponding error rate.
    pub fn snr(&self, rate: f32) -> f32 {
        let of_one = -libm::expm1(libm::log1p(-f64::from(rate)) / f64::from(self.code_blocks));
        let mut above = step_of(snr_db_at(&self.thresholds_db, of_one));
        let mut rates = [self.at(above - 1), self.at(above)];
        while rates[1] > rate {
            above += 1;
            rates = [rates[1], self.at(above)];
        }
        while rates[0] <= rate {
            above -= 1;
            rates = [self.at(above - 1), rates[0]];
        }
        snr_between(above, rates, rate)
    }
}

impl BlockErrorRate {
    /// Creates the table of the block error rates `rates`.
    pub(super) fn new(rates: &Rates) -> Self {
        let middle = step_of(rates.thresholds_db[4]);
        let (mut first, mut last, mut table) = (middle, middle, vec![rates.at(middle)]);
        while table.last().is_some_and(|rate| *rate < 1.0) {
            first -= 1;
            table.push(rates.at(first));
        }
        table.reverse();
        while table.last().is_some_and(|rate| *rate > 0.0) {
            last += 1;
            table.push(rates.at(last));
        }
        Self { lowest: snr_at(first), highest: snr_at(last), rates: table.into() }
    }

    /// Creates the table of blocks that are never decoded: the rate is 1 at all SNRs.
    pub fn never() -> Self {
        Self { lowest: snr_at(1), highest: snr_at(2), rates: Box::new([1.0, 1.0]) }
    }

    /// Returns the block error rate, 0 to 1, at a linear SNR, which may be 0 or infinite. Returns 1
    /// at an SNR of NaN.
    #[inline]
    pub fn at(&self, snr: f32) -> f32 {
        let bits = snr.max(self.lowest).min(self.highest).to_bits() - self.lowest.to_bits();
        let step = ((bits >> STEP_BITS) as usize).min(self.rates.len() - 2);
        let within = (bits - ((step as u32) << STEP_BITS)) as f32 * (1.0 / (1u32 << STEP_BITS) as f32);
        let (from, to) = (self.rates[step], self.rates[step + 1]);
        from + (to - from) * within
    }

    /// Returns the smallest linear SNR at which the block error rate is at most `rate`, which is
    /// between 0 and 1. Returns infinity if blocks are never decoded.
    pub fn snr(&self, rate: f32) -> f32 {
        if self.rates.last().is_some_and(|lowest| *lowest > rate) {
            return f32::INFINITY;
        }
        let above = self.rates.partition_point(|known| *known > rate).clamp(1, self.rates.len() - 1);
        let step = self.lowest.to_bits() >> STEP_BITS;
        snr_between(step + above as u32, [self.rates[above - 1], self.rates[above]], rate)
    }
}

/// Returns the step to which an SNR in dB belongs.
fn step_of(snr_db: f64) -> u32 {
    (libm::pow(10.0, snr_db / 10.0) as f32).to_bits() >> STEP_BITS
}

/// Returns the linear SNR between the steps `above - 1` and `above` at which the rate is `rate`.
/// These steps have the rates `from` and `to`, and `rate` is limited to the range between them.
fn snr_between(above: u32, [from, to]: [f32; 2], rate: f32) -> f32 {
    let within = if from > to { ((from - rate) / (from - to)).clamp(0.0, 1.0) } else { 0.0 };
    let [low, high] = [above - 1, above].map(snr_at);
    low + (high - low) * within
}

/// Returns the linear SNR at the beginning of a step.
fn snr_at(step: u32) -> f32 {
    f32::from_bits(step << STEP_BITS)
}

/// `ln(p / (1 - p))` of the error rates [`LEVELS`].
static LOGITS: LazyLock<[f64; LEVELS.len()]> = LazyLock::new(|| LEVELS.map(logit));

/// Returns an SNR in dB at which a code block has about the error rate `p`, given the SNRs at which
/// it has the error rates [`LEVELS`]. Below the lowest level, returns the SNR of the lowest level;
/// above the highest, that of the highest.
fn snr_db_at(thresholds_db: &[f64; LEVELS.len()], p: f64) -> f64 {
    let above = LEVELS.partition_point(|level| *level > p).clamp(1, LEVELS.len() - 1);
    let [x0, x1] = [above - 1, above].map(|level| thresholds_db[level]);
    let [y0, y1] = [above - 1, above].map(|level| LOGITS[level]);
    x0 + (x1 - x0) * ((y0 - logit(p)) / (y0 - y1)).clamp(0.0, 1.0)
}

/// Returns the error rate of a code block at an SNR, given the SNRs at which it has the error rates
/// [`LEVELS`]. Interpolates `ln(p / (1 - p))` linearly over the SNR in dB, and extrapolates it outside
/// the given SNRs.
fn rate_at(thresholds_db: &[f64; LEVELS.len()], snr_db: f64) -> f64 {
    let above = thresholds_db.partition_point(|known| *known <= snr_db);
    let [from, to] = match above {
        0 => [0, 1],
        _ if above == LEVELS.len() => [LAST_DECADE, LEVELS.len() - 1],
        _ => [above - 1, above],
    };
    let (x0, x1) = (thresholds_db[from], thresholds_db[to]);
    let [y0, y1] = [LOGITS[from], LOGITS[to]];
    let logit = if x1 > x0 { y0 + (y1 - y0) * (snr_db - x0) / (x1 - x0) } else { y1 };
    1.0 / (1.0 + libm::exp(-logit))
}

/// Returns the probability that at least one of `blocks` independent code blocks is in error, `1 -
/// (1 - p)^C`.
fn of_blocks(p: f64, blocks: u32) -> f64 {
    -libm::expm1(f64::from(blocks) * libm::log1p(-p))
}
