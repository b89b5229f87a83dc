//! Initial transmissions of the turbo code in white noise, simulated with the decoder of `nodeb-phy`
//! (`turbo.csv` names program and settings) for an ideal receiver, which knows channel and noise and has no
//! implementation loss.

use std::sync::LazyLock;

use super::adaptation::Allocation;
use super::coding::{code_blocks, code_rate, with_crcs};
use super::mcs::McsTable;
use nodeb_air::error::curves::{BlockErrorRate, Curves, Format, TURBO};
use nodeb_air::error::effective::modulation::Modulation;

#[cfg(test)]
mod tests;

static CURVES: LazyLock<Curves> =
    LazyLock::new(|| Curves::parse(TURBO).unwrap_or_else(|message| panic!("turbo.csv: {message}")));

/// The first call takes some milliseconds.
pub fn turbo() -> &'static Curves {
    &CURVES
}

/// `bits` are without CRCs, `elements` summed over layers.
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
/// Creating it takes some microseconds; `None` without such a block or without curves of its modulation.
pub fn block_error_rate(
    curves: &Curves,
    allocation: Allocation,
    table: McsTable,
    mcs: u8,
) -> Option<BlockErrorRate> {
    curves.of(&format_on(allocation, table, mcs)?)
}

/// Equals [`BlockErrorRate::snr`] in less time: infinity if the block always fails, `None` without such a
/// block or without curves of its modulation.
pub fn required_snr(
    curves: &Curves,
    allocation: Allocation,
    table: McsTable,
    mcs: u8,
    rate: f32,
) -> Option<f32> {
    curves.snr(&format_on(allocation, table, mcs)?, rate)
}

fn format_on(allocation: Allocation, table: McsTable, mcs: u8) -> Option<Format> {
    let elements = allocation.elements * u32::from(allocation.layers);
    Some(format(allocation.bits(table, mcs)?, elements, table.row(mcs)?.modulation))
}
