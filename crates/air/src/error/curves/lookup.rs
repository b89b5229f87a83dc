use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::measured::{LAST_DECADE, LEVELS, logit};

/// Mantissa bits within a step; the 7 others number the 128 steps of an octave, each of 0.02 to 0.03 dB.
const STEP_BITS: u32 = f32::MANTISSA_DIGITS - 1 - 7;

/// Rates below this are 0 in a table, those above 1 minus it 1.
const NEGLIGIBLE: f64 = 1e-7;

/// Interpolated linearly between SNRs at 1/128 to 1/256 of their value; an index is made of bits of an f32,
/// so no logarithm is needed.
#[derive(Debug)]
pub struct BlockErrorRate {
    lowest: f32,
    highest: f32,
    /// `None` if blocks are never decoded.
    exact: Option<Rates>,
    /// From `lowest`, where it is 1, to `highest`, where it is 0 (1 if blocks are never decoded); bits of an
    /// f32, NaN until first needed, as few of them are.
    rates: Box<[AtomicU32]>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// SNRs for [`LEVELS`], never falling.
    pub thresholds_db: [f64; LEVELS.len()],
    pub code_blocks: u32,
}

impl Rates {
    /// Rounded to 0 or 1 within [`NEGLIGIBLE`]; 1 for subnormal SNRs and 0 above 1e30.
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

    /// The search starts at the SNR at which a single code block has about the corresponding rate.
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
    pub(super) fn new(rates: Rates) -> Self {
        let middle = step_of(rates.thresholds_db[4]);
        let first = middle - least(|below| rates.at(middle - below) >= 1.0);
        let last = middle + least(|above| rates.at(middle + above) <= 0.0);
        Self::between(first, last, Some(rates))
    }

    pub fn never() -> Self {
        Self::between(1, 2, None)
    }

    fn between(first: u32, last: u32, exact: Option<Rates>) -> Self {
        let unknown = || AtomicU32::new(f32::NAN.to_bits());
        let rates = (first..=last).map(|_| unknown()).collect();
        Self { lowest: snr_at(first), highest: snr_at(last), exact, rates }
    }

    /// The SNR is linear and may be 0 or infinite; 1 at NaN.
    #[inline]
    pub fn at(&self, snr: f32) -> f32 {
        let bits = snr.max(self.lowest).min(self.highest).to_bits() - self.lowest.to_bits();
        let step = ((bits >> STEP_BITS) as usize).min(self.rates.len() - 2);
        let within = (bits - ((step as u32) << STEP_BITS)) as f32 * (1.0 / (1u32 << STEP_BITS) as f32);
        let (from, to) = (self.rate(step), self.rate(step + 1));
        from + (to - from) * within
    }

    #[inline]
    fn rate(&self, step: usize) -> f32 {
        // If several threads compute the value at the same time, they store the same value.
        let known = f32::from_bits(self.rates[step].load(Ordering::Relaxed));
        if known.is_nan() { self.compute(step) } else { known }
    }

    #[cold]
    fn compute(&self, step: usize) -> f32 {
        let first = self.lowest.to_bits() >> STEP_BITS;
        let rate = self.exact.as_ref().map_or(1.0, |exact| exact.at(first + step as u32));
        self.rates[step].store(rate.to_bits(), Ordering::Relaxed);
        rate
    }

    /// Smallest linear SNR with at most `rate`; infinity if blocks are never decoded.
    pub fn snr(&self, rate: f32) -> f32 {
        let last = self.rates.len() - 1;
        if self.rate(last) > rate {
            return f32::INFINITY;
        }
        let above = least(|above| self.rate((above as usize).min(last)) <= rate).max(1);
        let step = self.lowest.to_bits() >> STEP_BITS;
        snr_between(step + above, [above - 1, above].map(|step| self.rate(step as usize)), rate)
    }
}

/// Smallest number that `fits`, as do all larger ones.
fn least(fits: impl Fn(u32) -> bool) -> u32 {
    let (mut from, mut to) = (0, 0);
    while !fits(to) {
        (from, to) = (to + 1, 2 * to + 1);
    }
    while from < to {
        let middle = from.midpoint(to);
        if fits(middle) { to = middle } else { from = middle + 1 }
    }
    to
}

fn step_of(snr_db: f64) -> u32 {
    (libm::pow(10.0, snr_db / 10.0) as f32).to_bits() >> STEP_BITS
}

fn snr_between(above: u32, [from, to]: [f32; 2], rate: f32) -> f32 {
    let within = if from > to { ((from - rate) / (from - to)).clamp(0.0, 1.0) } else { 0.0 };
    let [low, high] = [above - 1, above].map(snr_at);
    low + (high - low) * within
}

fn snr_at(step: u32) -> f32 {
    f32::from_bits(step << STEP_BITS)
}

/// `ln(p / (1 - p))` of the error rates [`LEVELS`].
static LOGITS: LazyLock<[f64; LEVELS.len()]> = LazyLock::new(|| LEVELS.map(logit));

/// About the SNR in dB at which a code block has the error rate `p`; limited to the outer [`LEVELS`].
fn snr_db_at(thresholds_db: &[f64; LEVELS.len()], p: f64) -> f64 {
    let above = LEVELS.partition_point(|level| *level > p).clamp(1, LEVELS.len() - 1);
    let [x0, x1] = [above - 1, above].map(|level| thresholds_db[level]);
    let [y0, y1] = [above - 1, above].map(|level| LOGITS[level]);
    x0 + (x1 - x0) * ((y0 - logit(p)) / (y0 - y1)).clamp(0.0, 1.0)
}

/// Interpolates `ln(p / (1 - p))` linearly over the SNR in dB, and extrapolates it.
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

/// `1 - (1 - p)^C` for independent code blocks.
fn of_blocks(p: f64, blocks: u32) -> f64 {
    -libm::expm1(f64::from(blocks) * libm::log1p(-p))
}
