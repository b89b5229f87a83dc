use nodeb_air::error::effective::modulation::Modulation;

/// Of transport blocks and of code blocks (TS 36.212, 5.1.1).
pub const CRC: u32 = 24;

/// With its CRC (TS 36.212, 5.1.2).
pub const MAX_CODE_BLOCK: u32 = 6144;

/// Above it a UE may skip the decoding of an initial transmission (TS 36.213, 7.1.7).
pub const MAX_CODE_RATE: f64 = 0.932;

// Clause: TS 36.212, 5.1.2: code blocks and CRCs
/// TS 36.212, 5.1.2.
pub const fn code_blocks(bits: u32) -> u32 {
    let with_crc = bits + CRC;
    if with_crc <= MAX_CODE_BLOCK { 1 } else { with_crc.div_ceil(MAX_CODE_BLOCK - CRC) }
}

/// A single code block has no CRC of its own (TS 36.212, 5.1.2).
pub const fn with_crcs(bits: u32) -> u32 {
    let blocks = code_blocks(bits);
    bits + CRC + if blocks > 1 { blocks * CRC } else { 0 }
}

/// The smallest K of at least `bits` and the next smaller one: 40 to 6144 in steps of 8, 16, 32 and 64 (TS
/// 36.212, table 5.1.3-3).
const fn code_block_sizes(bits: u32) -> (u32, u32) {
    let step = match bits {
        ..=512 => 8,
        513..=1024 => 16,
        1025..=2048 => 32,
        _ => 64,
    };
    let size = bits.next_multiple_of(step);
    let step_below = match size {
        ..=512 => 8,
        513..=1024 => 16,
        1025..=2048 => 32,
        _ => 64,
    };
    if size <= 40 { (40, 0) } else { (size, size - step_below) }
}

/// TS 36.212, 5.1.2.
pub const fn filler_bits(bits: u32) -> u32 {
    let (blocks, total) = (code_blocks(bits), with_crcs(bits));
    let (larger, smaller) = code_block_sizes(total.div_ceil(blocks));
    if blocks == 1 {
        return larger - total;
    }
    let small_blocks = (blocks * larger - total) / (larger - smaller);
    (blocks - small_blocks) * larger + small_blocks * smaller - total
}

/// Effective: bits with CRCs divided by channel bits, summed over layers (TS 36.213, 7.1.7).
pub fn code_rate(bits: u32, elements: u32, modulation: Modulation) -> f64 {
    f64::from(with_crcs(bits)) / f64::from(elements * modulation.order())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: code blocks and CRCs (closed form)
    #[test]
    fn code_blocks_follow_the_segmentation() {
        assert_eq!([6_120, 6_128, 12_216, 12_224].map(code_blocks), [1, 2, 2, 3]);
        assert_eq!(code_blocks(75_376), 13);
        assert_eq!(with_crcs(6_120), 6_144);
        assert_eq!(with_crcs(75_376), 75_376 + 24 + 13 * 24);
    }

    #[test]
    fn filler_bits_complete_a_code_block() {
        assert_eq!([16, 17, 8, 488, 489, 6_120].map(filler_bits), [0, 7, 8, 0, 15, 0]);
        // With its CRCs the block of 75,376 bits has 75,712 bits, which fill 13 code blocks of
        // 5,824 bits.
        assert_eq!(filler_bits(75_376), 0);
    }

    #[test]
    fn rate_of_the_largest_block_is_about_seven_eighths() {
        let rate = code_rate(75_376, 14_400, Modulation::Qam64);
        assert!((rate - 0.8763).abs() < 1e-4, "{rate}");
    }
}
