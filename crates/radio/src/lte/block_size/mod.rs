//! Transport block sizes (TS 36.213, 7.1.7.2).
//!
//! The 34 rows of 110 sizes follow no formula. They are kept as text, which can be compared with
//! the specification line by line, and the compiler converts the text to arrays. `SOURCES.md`
//! states how the sizes were verified.

pub mod csv;
#[cfg(test)]
mod tests;

/// Number of values of I_TBS. Values 0 to 26 select blocks up to 64QAM, 27 to 33 blocks of 256QAM
/// (Release 12).
pub const INDICES: usize = 34;

/// Largest number of resource blocks N_PRB in the tables of transport block sizes.
pub const MAX_BLOCKS: usize = 110;

/// Largest number of layers on which a transport block is sent (TS 36.211, table 6.3.3.2-1).
pub const MAX_LAYERS: u8 = 4;

const SIZES_OF_LAYERS: usize = 142;

/// One row for each I_TBS: its number, then the sizes in bits for 1 to 110 resource blocks (table
/// 7.1.7.2.1-1).
static ONE_LAYER: [u32; INDICES * (MAX_BLOCKS + 1)] = csv::numbers(include_str!("one_layer.csv"));

/// One row for each size in bits on one layer, in ascending order, with the sizes on two, three and
/// four layers (tables 7.1.7.2.2-1, 7.1.7.2.4-1, 7.1.7.2.5-1). Size 0 stands for a translation that
/// does not exist.
static MORE_LAYERS: [u32; SIZES_OF_LAYERS * 4] = csv::numbers(include_str!("more_layers.csv"));

/// Returns the size in bits of a transport block on one layer, or `None` if the table has no such
/// block (TS 36.213, table 7.1.7.2.1-1).
///
/// The size for I_TBS 6 and one resource block, 328 bits, is larger than the neighbouring sizes, as
/// in the specification.
pub fn one_layer(index: u8, blocks: u16) -> Option<u32> {
    let (index, blocks) = (usize::from(index), usize::from(blocks));
    let exists = index < INDICES && (1..=MAX_BLOCKS).contains(&blocks);
    exists.then(|| ONE_LAYER[index * (MAX_BLOCKS + 1) + blocks])
}

// Clause: TS 36.213, 7.1.7.2: transport block sizes
/// Returns the size in bits of a transport block on 1 to 4 layers, or `None` if the tables have no
/// such block.
///
/// If `blocks * layers` is at most 110, the size is that of one layer with so many resource blocks.
/// Otherwise the size on one layer is translated (TS 36.213, 7.1.7.2.2, 7.1.7.2.4, 7.1.7.2.5).
/// Sizes of 256QAM above 75,376 bits have no translation to three and four layers here.
pub fn bits(index: u8, blocks: u16, layers: u8) -> Option<u32> {
    if !(1..=MAX_LAYERS).contains(&layers) {
        return None;
    }
    let wide = blocks.saturating_mul(layers.into());
    one_layer(index, wide).or_else(|| translated(one_layer(index, blocks)?, layers))
}

/// Returns the size on `layers` layers of a block that has `one` bits on one layer, or `None` if the
/// tables have no such size.
fn translated(one: u32, layers: u8) -> Option<u32> {
    let (rows, _) = MORE_LAYERS.as_chunks::<4>();
    let row = rows.binary_search_by_key(&one, |row| row[0]).ok()?;
    Some(rows[row][usize::from(layers) - 1]).filter(|&bits| bits > 0)
}
