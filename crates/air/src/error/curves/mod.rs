//! Block error rates of coded blocks, from simulated or measured curves of single code blocks.
//!
//! [`Curves`] has curves over the SNR for combinations of modulation, code block size and code
//! rate. For other sizes and code rates it interpolates neighbouring curves of the same modulation,
//! separately at each block error rate in [`LEVELS`]: it takes the SNR at which each neighbouring
//! curve has this block error rate, converts these SNRs to mutual information per bit, interpolates
//! the information, and converts the result back to an SNR. So the block error rate falls with the
//! SNR and rises with the code rate, as in the curves. No constants are fitted:
//!
//! - between code rates, the mutual information is linear in the code rate. Below the lowest code
//!   rate of the curves, where bits are repeated, it is proportional to the code rate. Above the
//!   highest one, it rises linearly to 1 bit at code rate 1; blocks of code rate 1 or higher are
//!   never decoded;
//! - between sizes, the mutual information is linear in `1 / sqrt(size)`, the first term of the
//!   loss of short blocks (Polyanskiy, Poor and Verdú (2010), normal approximation); sizes beyond
//!   those of the curves count as the nearest size;
//! - between the SNRs found for two of these block error rates, `ln(p / (1 - p))` of the block error rate p
//!   is linear in the SNR in dB. It continues so beyond the first and the last of these SNRs.
//!
//! A transport block of C code blocks, which have the error rate p each, fails with probability
//! `1 - (1 - p)^C`.
//!
//! [`Curves::of`] does all this once for a format. The result, a [`BlockErrorRate`], is a table for the hot loop.

pub mod lookup;
pub mod measured;
pub mod points;
#[cfg(test)]
mod tests;
pub mod text;

pub use lookup::BlockErrorRate;
use lookup::Rates;

use std::sync::OnceLock;

use measured::{LEVELS, Measured};

use super::effective::curve::Curve;
use super::effective::modulation::Modulation;

/// Of the turbo code of UMTS and LTE (TS 36.212, 5.1.3), simulated with the decoder of `nodeb-phy`.
pub const TURBO: &str = include_str!("turbo.csv");

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// QPSK to 256QAM.
    pub modulation: Modulation,
    pub code_blocks: u32,
    /// With CRCs.
    pub code_block_bits: f64,
    /// Bits with CRCs divided by channel bits.
    pub code_rate: f64,
}

/// Prepared when first needed: those of 256QAM take much longer than the others, and few cells use it.
#[derive(Clone, Debug)]
struct Family {
    modulation: Modulation,
    measured: Vec<Measured>,
    prepared: OnceLock<Prepared>,
}

#[derive(Clone, Debug)]
struct Prepared {
    information: &'static Curve,
    /// Sizes in ascending order, with their curves in ascending order of the rate.
    sizes: Vec<(f64, Vec<Rated>)>,
}

#[derive(Clone, Copy, Debug)]
struct Rated {
    rate: f64,
    /// 1 minus the mutual information per bit, for each level.
    missing: [f64; LEVELS.len()],
}

#[derive(Clone, Debug)]
pub struct Curves {
    families: Vec<Family>,
}

impl Curves {
    /// At least one modulation.
    fn new(mut measured: Vec<Measured>) -> Self {
        measured.sort_by(|a, b| {
            (a.modulation, a.size).cmp(&(b.modulation, b.size)).then(a.rate().total_cmp(&b.rate()))
        });
        let families = measured.chunk_by(|a, b| a.modulation == b.modulation).map(Family::new);
        Self { families: families.collect() }
    }

    /// Reads the curves from text: the line `order,k,channel_bits,snr_db,blocks,errors`, then a line for each
    /// point, as the example `lte_curves` of the crate `nodeb-phy` prints them. Lines that start with `#` are
    /// comments.
    ///
    /// # Errors
    ///
    /// Returns a message with the line or curve, the problem, and what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        text::parse(text).map(Self::new)
    }

    /// `None` without curves of the modulation. Takes some microseconds.
    pub fn of(&self, format: &Format) -> Option<BlockErrorRate> {
        let family = self.family(format)?;
        if format.code_rate >= 1.0 {
            return Some(BlockErrorRate::never());
        }
        Some(BlockErrorRate::new(family.rates(format)))
    }

    /// As [`BlockErrorRate::snr`] in less time; infinity if never decoded, `None` without curves of the
    /// modulation.
    pub fn snr(&self, format: &Format, rate: f32) -> Option<f32> {
        let family = self.family(format)?;
        if format.code_rate >= 1.0 {
            return Some(f32::INFINITY);
        }
        Some(family.rates(format).snr(rate))
    }

    fn family(&self, format: &Format) -> Option<&Family> {
        self.families.iter().find(|family| family.modulation == format.modulation)
    }
}

impl Family {
    fn new(measured: &[Measured]) -> Self {
        Self { modulation: measured[0].modulation, measured: measured.to_vec(), prepared: OnceLock::new() }
    }

    fn prepared(&self) -> &Prepared {
        self.prepared.get_or_init(|| Prepared::new(&self.measured))
    }

    /// At a code rate below 1.
    fn rates(&self, format: &Format) -> Rates {
        let thresholds_db = self.prepared().thresholds_db(format.code_block_bits, format.code_rate);
        Rates { thresholds_db, code_blocks: format.code_blocks }
    }
}

impl Prepared {
    fn new(measured: &[Measured]) -> Self {
        let information = measured[0].modulation.curve();
        let rated = |one: &Measured| Rated { rate: one.rate(), missing: one.missing(information) };
        let by_size = measured.chunk_by(|a, b| a.size == b.size);
        let sizes = by_size.map(|curves| (f64::from(curves[0].size), curves.iter().map(rated).collect()));
        Self { sizes: sizes.collect(), information }
    }

    /// For [`LEVELS`], never falling; `size` is in bits.
    fn thresholds_db(&self, size: f64, rate: f64) -> [f64; LEVELS.len()] {
        let above =
            self.sizes.partition_point(|(known, _)| *known < size).clamp(1, self.sizes.len().max(2) - 1);
        let missing = match &self.sizes[above - 1..] {
            [(small, one), (large, other), ..] => {
                let [small, large, size] =
                    [*small, *large, size.clamp(*small, *large)].map(|size| 1.0 / size.sqrt());
                blend(&at_rate(one, rate), &at_rate(other, rate), (small - size) / (small - large))
            }
            _ => at_rate(&self.sizes[0].1, rate),
        };
        let mut last = f64::NEG_INFINITY;
        missing.map(|missing| {
            last = last.max(10.0 * libm::log10(f64::from(self.information.snr(missing as f32))));
            last
        })
    }
}

/// `rate` is from 0 to 1 and may be beyond those of `curves`.
fn at_rate(curves: &[Rated], rate: f64) -> [f64; LEVELS.len()] {
    let above = curves.partition_point(|curve| curve.rate < rate);
    let nothing = Rated { rate: 0.0, missing: [1.0; LEVELS.len()] };
    let everything = Rated { rate: 1.0, missing: [0.0; LEVELS.len()] };
    let low = above.checked_sub(1).map_or(nothing, |below| curves[below]);
    let high = curves.get(above).copied().unwrap_or(everything);
    blend(&low.missing, &high.missing, ((rate - low.rate) / (high.rate - low.rate)).clamp(0.0, 1.0))
}

fn blend(from: &[f64; LEVELS.len()], to: &[f64; LEVELS.len()], share: f64) -> [f64; LEVELS.len()] {
    std::array::from_fn(|level| from[level] + (to[level] - from[level]) * share)
}
