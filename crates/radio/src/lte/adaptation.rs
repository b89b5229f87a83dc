use super::bandwidth::Bandwidth;
use super::block_size;
use super::category::Category;
use super::coding::{MAX_CODE_RATE, code_rate};
use super::mcs::McsTable;
use nodeb_air::error::effective::modulation::Modulation;

/// TS 36.211, table 6.3.3.2-1.
pub const MAX_LAYERS: u8 = 8;

/// Layers of both transport blocks of a TTI, 0 without a second one (TS 36.211, table 6.3.3.2-1); `None`
/// unless `layers` is 1 to 8.
pub const fn layers_of_blocks(layers: u8) -> Option<[u8; 2]> {
    match layers {
        1 => Some([1, 0]),
        2..=MAX_LAYERS => Some([layers / 2, layers.div_ceil(2)]),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub blocks: u16,
    /// 1 to 4 (TS 36.211, table 6.3.3.2-1); with at most four antenna ports 1 or 2.
    pub layers: u8,
    /// For data in all of these resource blocks, on one layer.
    pub elements: u32,
}

impl Allocation {
    pub fn bits(self, table: McsTable, mcs: u8) -> Option<u32> {
        block_size::bits(table.row(mcs)?.size_index, self.blocks, self.layers)
    }

    /// TS 36.213, 7.1.7.
    pub fn code_rate(self, table: McsTable, mcs: u8) -> Option<f64> {
        let bits = self.bits(table, mcs)?;
        Some(code_rate(bits, self.elements * u32::from(self.layers), table.row(mcs)?.modulation))
    }

    // Clause: TS 36.213, 7.1.7: largest code rate
    pub fn fits(self, table: McsTable, mcs: u8) -> bool {
        self.code_rate(table, mcs).is_some_and(|rate| rate <= MAX_CODE_RATE)
    }

    /// The MCS with the largest block, of a modulation up to `most`, that a UE must try to decode.
    pub fn largest_mcs(self, table: McsTable, most: Modulation) -> Option<u8> {
        let candidates = (0..=table.highest_with(most)).filter(|&mcs| self.fits(table, mcs));
        candidates.max_by_key(|&mcs| self.bits(table, mcs))
    }
}

/// Per TTI on all resource blocks, without regard to code rates and categories.
pub fn peak_bits(bandwidth: Bandwidth, table: McsTable, layers: u8) -> Option<u32> {
    let size = |layers: u8| match layers {
        0 => Some(0),
        _ => block_size::bits(table.row(table.highest())?.size_index, bandwidth.blocks(), layers),
    };
    let [first, second] = layers_of_blocks(layers)?;
    Some(size(first)? + size(second)?)
}

/// 0 if the tables have no such blocks.
pub fn largest_bits(bandwidth: Bandwidth, qam256: bool, layers: u8) -> u32 {
    let table = if qam256 { McsTable::Down256Qam } else { McsTable::Down64Qam };
    peak_bits(bandwidth, table, layers).unwrap_or(0)
}

/// In bit/s, limited by the cell or by the category (TS 36.306, table 4.1-1).
pub fn peak_rate(bandwidth: Bandwidth, table: McsTable, layers: u8, category: &Category) -> Option<f64> {
    let bits = peak_bits(bandwidth, table, layers)?.min(category.down_bits);
    Some(f64::from(bits) * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lte::resources::{Downlink, Ports};

    fn whole(ports: Ports, control: u8, bandwidth: Bandwidth) -> Allocation {
        let elements = Downlink { ports, control }.subframe(bandwidth, 1);
        Allocation { blocks: bandwidth.blocks(), layers: 1, elements }
    }

    #[test]
    fn peaks_are_those_of_published_rates() {
        let peak = |table, layers| peak_bits(Bandwidth::Mhz20, table, layers);
        let down = [1, 2, 4, 8].map(|layers| peak(McsTable::Down64Qam, layers).unwrap());
        assert_eq!(down, [75_376, 150_752, 299_552, 599_712]);
        assert_eq!(peak(McsTable::Down256Qam, 1), Some(97_896));
        assert_eq!(peak(McsTable::Down256Qam, 4), Some(391_632));
        assert_eq!([peak(McsTable::Up, 0), peak(McsTable::Up, 9)], [None, None]);
        let one = Bandwidth::ALL.map(|bandwidth| peak_bits(bandwidth, McsTable::Down64Qam, 1).unwrap());
        assert_eq!(one, [4_392, 11_064, 18_336, 36_696, 55_056, 75_376]);
    }

    #[test]
    fn rates_end_at_the_category() {
        let rate = |category: u8, layers| {
            let category = Category::of(category).unwrap();
            peak_rate(Bandwidth::Mhz20, McsTable::Down64Qam, layers, category).unwrap() / 1e6
        };
        assert!((rate(3, 2) - 102.048).abs() < 1e-9);
        assert!((rate(4, 2) - 150.752).abs() < 1e-9);
        assert!((rate(5, 4) - 299.552).abs() < 1e-9);
    }

    // Tests the feature: largest code rate (closed form)
    /// 75,712 bits with CRCs fit with one control symbol at 20 MHz with two ports; three leave only 72,000
    /// channel bits.
    #[test]
    fn largest_mcs_depends_on_the_control_region() {
        let mcs = |ports, control| {
            let allocation = whole(ports, control, Bandwidth::Mhz20);
            allocation.largest_mcs(McsTable::Down64Qam, Modulation::Qam64).unwrap()
        };
        assert_eq!([1, 2, 3].map(|control| mcs(Ports::One, control)), [28, 28, 27]);
        assert_eq!([1, 2, 3].map(|control| mcs(Ports::Two, control)), [28, 27, 27]);
        let allocation = whole(Ports::Two, 1, Bandwidth::Mhz20);
        assert_eq!(allocation.largest_mcs(McsTable::Down64Qam, Modulation::Qpsk), Some(9));
    }

    /// I_TBS 6 has an unusually large block of 328 bits; on 150 resource elements its code rate is too high,
    /// but that of the next larger I_TBS is not.
    #[test]
    fn block_that_stands_out_never_fits() {
        let allocation = Allocation { blocks: 1, layers: 1, elements: 150 };
        assert!(!allocation.fits(McsTable::Down64Qam, 6));
        assert!(allocation.fits(McsTable::Down64Qam, 7));
    }
}
