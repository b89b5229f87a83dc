//! TS 36.213, 7.1.7.2: the rows follow no formula and are kept as text, to be compared with the specification
//! line by line. `SOURCES.md` states how they were verified.

pub mod csv;
#[cfg(test)]
mod tests;

/// I_TBS 0 to 26 select blocks up to 64QAM, 27 to 33 blocks of 256QAM (Release 12).
pub const INDICES: usize = 34;

/// N_PRB.
pub const MAX_BLOCKS: usize = 110;

/// TS 36.211, table 6.3.3.2-1.
pub const MAX_LAYERS: u8 = 4;

const SIZES_OF_LAYERS: usize = 142;

/// I_TBS, then bits for 1 to 110 resource blocks (table 7.1.7.2.1-1).
static ONE_LAYER: [u32; INDICES * (MAX_BLOCKS + 1)] = csv::numbers(include_str!("one_layer.csv"));

/// Bits on one layer in ascending order, then on two, three and four (tables 7.1.7.2.2-1, 7.1.7.2.4-1,
/// 7.1.7.2.5-1); 0 without a translation.
static MORE_LAYERS: [u32; SIZES_OF_LAYERS * 4] = csv::numbers(include_str!("more_layers.csv"));

/// TS 36.213, table 7.1.7.2.1-1, where I_TBS 6 with one resource block, 328 bits, exceeds its neighbours.
pub fn one_layer(index: u8, blocks: u16) -> Option<u32> {
    let (index, blocks) = (usize::from(index), usize::from(blocks));
    let exists = index < INDICES && (1..=MAX_BLOCKS).contains(&blocks);
    exists.then(|| ONE_LAYER[index * (MAX_BLOCKS + 1) + blocks])
}

// Clause: TS 36.213, 7.1.7.2: transport block sizes
/// Up to 110 `blocks * layers`, that of one layer with so many; otherwise translated (TS 36.213, 7.1.7.2.2,
/// 7.1.7.2.4, 7.1.7.2.5). Sizes of 256QAM above 75,376 bits have no translation to three and four layers
/// here.
pub fn bits(index: u8, blocks: u16, layers: u8) -> Option<u32> {
    if !(1..=MAX_LAYERS).contains(&layers) {
        return None;
    }
    let wide = blocks.saturating_mul(layers.into());
    one_layer(index, wide).or_else(|| translated(one_layer(index, blocks)?, layers))
}

fn translated(one: u32, layers: u8) -> Option<u32> {
    let (rows, _) = MORE_LAYERS.as_chunks::<4>();
    let row = rows.binary_search_by_key(&one, |row| row[0]).ok()?;
    Some(rows[row][usize::from(layers) - 1]).filter(|&bits| bits > 0)
}
