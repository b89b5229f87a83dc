//! Block error rates of LTE's turbo code in white noise, by modulation and code rate, of initial transmissions.
//!
//! The curves were simulated with the turbo decoder of the crate `nodeb-phy`; `turbo.csv` names program and settings.
//! They are those of an ideal receiver, which knows channel and noise and has no implementation loss.

use std::sync::LazyLock;

use super::adaptation::Allocation;
use super::coding::{code_blocks, code_rate, with_crcs};
use super::mcs::McsTable;
use crate::error::curves::{BlockErrorRate, Curves, Format};
use crate::error::effective::modulation::Modulation;

#[cfg(test)]
mod tests;

/// The simulated curves as text, in the form that [`Curves::parse`] reads.
pub const TURBO: &str = include_str!("turbo.csv");

static CURVES: LazyLock<Curves> =
    LazyLock::new(|| Curves::parse(TURBO).unwrap_or_else(|message| panic!("turbo.csv: {message}")));

/// Returns the simulated curves. The first call reads them, which takes some milliseconds.
pub fn turbo() -> &'static Curves {
    &CURVES
}

/// Returns the format of a transport block of `bits` bits without CRCs on `elements` resource elements, summed over
/// its layers.
pub fn format(bits: u32, elements: u32, modulation: Modulation) -> Format {
    let code_blocks = code_blocks(bits);
    Format {
        modulation,
        code_blocks,
        code_block_bits: f64::from(with_crcs(bits)) / f64::from(code_blocks),
        code_rate: code_rate(bits, elements, modulation),
    }
}

// Clause: TS 36.212, 5.1.3, 5.1.4: block error rates of the turbo code
// Simplified: curves of first transmissions in white noise, by an ideal receiver
/// Returns the block error rate of an MCS on an allocation by the curves, or `None` if the tables have no such block
/// or the curves lack its modulation. Callers keep the result, as creating it takes some microseconds.
pub fn block_error_rate(
    curves: &Curves,
    allocation: Allocation,
    table: McsTable,
    mcs: u8,
) -> Option<BlockErrorRate> {
    curves.of(&format_on(allocation, table, mcs)?)
}

/// Returns the smallest linear SNR at which a block of an MCS on an allocation fails with a probability of at
/// most `rate`, or infinity if it always fails. Returns `None` if the tables have no such block or the curves
/// lack its modulation. The result equals [`BlockErrorRate::snr`] of the result of [`block_error_rate`], but
/// takes less time to compute.
pub fn required_snr(
    curves: &Curves,
    allocation: Allocation,
    table: McsTable,
    mcs: u8,
    rate: f32,
) -> Option<f32> {
    curves.snr(&format_on(allocation, table, mcs)?, rate)
}

/// Returns the format of a block of an MCS on an allocation, or `None` if the tables have no such block.
fn format_on(allocation: Allocation, table: McsTable, mcs: u8) -> Option<Format> {
    let elements = allocation.elements * u32::from(allocation.layers);
    Some(format(allocation.bits(table, mcs)?, elements, table.row(mcs)?.modulation))
}
