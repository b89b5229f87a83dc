/// TS 36.306, tables 4.1-1 and 4.1-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    /// 1 to 12.
    pub number: u8,
    /// DL-SCH bits in a TTI.
    pub down_bits: u32,
    /// With the most layers and the highest modulation.
    pub down_block_bits: u32,
    /// Of all HARQ processes together.
    pub soft_bits: u32,
    /// In the downlink.
    pub layers: u8,
    pub down_256qam: bool,
    /// UL-SCH bits in a TTI.
    pub up_bits: u32,
    pub up_block_bits: u32,
    pub up_64qam: bool,
    /// Layer 2 buffer (TS 36.306, table 4.1-3).
    pub buffer_bytes: u32,
}

/// Bits per TTI, bits per block, and soft bits and layers (down) or 64QAM (up).
const fn row(number: u8, down: (u32, u32, u32, u8), up: (u32, u32, bool), buffer_bytes: u32) -> Category {
    let (down_bits, down_block_bits, soft_bits, layers) = down;
    let (up_bits, up_block_bits, up_64qam) = up;
    Category {
        number,
        down_bits,
        down_block_bits,
        soft_bits,
        layers,
        down_256qam: false,
        up_bits,
        up_block_bits,
        up_64qam,
        buffer_bytes,
    }
}

const fn row_256qam(number: u8, down: (u32, u32, u32, u8), up: (u32, u32, bool), buffer: u32) -> Category {
    Category { down_256qam: true, ..row(number, down, up, buffer) }
}

impl Category {
    // Clause: TS 36.306, 4.1: UE categories
    // Simplified: block sizes and modulations; the size of buffers has no effect
    /// In ascending order.
    pub const ALL: [Self; 12] = [
        row(1, (10_296, 10_296, 250_368, 1), (5_160, 5_160, false), 150_000),
        row(2, (51_024, 51_024, 1_237_248, 2), (25_456, 25_456, false), 700_000),
        row(3, (102_048, 75_376, 1_237_248, 2), (51_024, 51_024, false), 1_400_000),
        row(4, (150_752, 75_376, 1_827_072, 2), (51_024, 51_024, false), 1_900_000),
        row(5, (299_552, 149_776, 3_667_200, 4), (75_376, 75_376, true), 3_500_000),
        row(6, (301_504, 149_776, 3_654_144, 4), (51_024, 51_024, false), 3_300_000),
        row(7, (301_504, 149_776, 3_654_144, 4), (102_048, 51_024, false), 3_800_000),
        row(8, (2_998_560, 299_856, 35_982_720, 8), (1_497_760, 149_776, true), 42_200_000),
        row(9, (452_256, 149_776, 5_481_216, 4), (51_024, 51_024, false), 4_800_000),
        row(10, (452_256, 149_776, 5_481_216, 4), (102_048, 51_024, false), 5_200_000),
        row_256qam(11, (603_008, 195_816, 7_308_288, 4), (51_024, 51_024, false), 6_200_000),
        row_256qam(12, (603_008, 195_816, 7_308_288, 4), (102_048, 51_024, false), 6_700_000),
    ];

    /// # Errors
    ///
    /// Returns a message that names the existing categories if there is no such category.
    pub fn of(number: u8) -> Result<&'static Self, String> {
        const ALL: &[Category] = &Category::ALL;
        ALL.iter().find(|category| category.number == number).ok_or_else(|| {
            format!("UE category {number} does not exist; expected 1 to 12 (TS 36.306, table 4.1-1)")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lte::block_size;

    /// The tables have a transport block of `bits` bits.
    fn exists(bits: u32) -> bool {
        let all = (0..34).flat_map(|index| (1..=110).map(move |blocks| (index, blocks)));
        all.flat_map(|(index, blocks)| (1..=4).map(move |layers| block_size::bits(index, blocks, layers)))
            .any(|size| size == Some(bits))
    }

    // Tests the feature: UE categories (standard's table)
    #[test]
    fn largest_blocks_are_sizes_of_the_tables() {
        for category in Category::ALL {
            assert!(exists(category.down_block_bits), "category {}", category.number);
            assert!(exists(category.up_block_bits), "category {}", category.number);
        }
    }

    /// From category 4 on, two equal blocks per component carrier, of one layer (category 5: two, 8: four).
    #[test]
    fn bits_of_a_tti_are_multiples_of_blocks() {
        for (category, blocks) in Category::ALL[3..].iter().zip([2, 2, 4, 4, 10, 6, 6, 8, 8]) {
            let block = match category.number {
                5 => 149_776,
                8 => 299_856,
                _ => 75_376,
            };
            assert_eq!(category.down_bits, blocks * block, "category {}", category.number);
        }
    }

    /// Eight processes with the bits of a TTI fill the soft bits at code rates from 0.32 to 0.67; the mother
    /// code has 1/3.
    #[test]
    fn soft_bits_hold_eight_processes_at_a_rate_of_at_least_one_third() {
        for category in Category::ALL {
            let rate = f64::from(category.down_bits) * 8.0 / f64::from(category.soft_bits);
            assert!((0.32..0.67).contains(&rate), "category {}: {rate}", category.number);
        }
    }

    #[test]
    fn unknown_categories_are_errors() {
        assert_eq!(Category::of(4).unwrap().down_bits, 150_752);
        let message = "UE category 13 does not exist; expected 1 to 12 (TS 36.306, table 4.1-1)";
        assert_eq!(Category::of(13), Err(message.to_owned()));
    }
}
