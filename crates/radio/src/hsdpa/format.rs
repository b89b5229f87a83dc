//! The tables are TS 25.214, tables 7A to 7E; the categories and the minimum distances of their TTIs are
//! those of TS 25.306, table 5.1a. At high CQIs these tables repeat the largest block and add a reference
//! power adjustment. Here such a CQI selects the largest block, too, but the power is not adjusted, so the
//! BLER decreases with the SNR.

/// TS 25.211, 5.3.3.13.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    Qpsk,
    Qam16,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Without the CRC.
    pub bits: u32,
    pub codes: u32,
    pub modulation: Modulation,
    /// CQI whose BLER curve decides whether the block is decoded.
    pub curve: u8,
}

/// CQI 0 states that no block can be received.
pub const CQIS: usize = 31;

/// TS 25.213, 5.2.1.
pub const MAX_CODES: u32 = 15;

/// Bits and codes of CQIs 1 to 30 where the category does not limit the block size (table 7D).
const LARGEST: [(u32, u32); CQIS - 1] = [
    (137, 1),
    (173, 1),
    (233, 1),
    (317, 1),
    (377, 1),
    (461, 1),
    (650, 2),
    (792, 2),
    (931, 2),
    (1_262, 3),
    (1_483, 3),
    (1_742, 3),
    (2_279, 4),
    (2_583, 4),
    (3_319, 5),
    (3_565, 5),
    (4_189, 5),
    (4_664, 5),
    (5_287, 5),
    (5_887, 5),
    (6_554, 5),
    (7_168, 5),
    (9_719, 7),
    (11_418, 8),
    (14_411, 10),
    (17_237, 12),
    (21_754, 15),
    (23_370, 15),
    (24_222, 15),
    (25_558, 15),
];

const LAST_QPSK: u8 = 15;

/// Higher CQIs select the same block (tables 7A to 7E).
fn last_growing(category: u8) -> u8 {
    match category {
        7 | 8 => 25,
        9 => 26,
        10 => 30,
        11 | 12 => 15,
        _ => 22,
    }
}

pub fn modulation(cqi: u8) -> Modulation {
    if cqi > LAST_QPSK { Modulation::Qam16 } else { Modulation::Qpsk }
}

/// By CQI.
pub fn formats(category: u8) -> [Option<Format>; CQIS] {
    std::array::from_fn(|cqi| {
        let curve = (cqi as u8).min(last_growing(category));
        let (bits, codes) = *LARGEST.get(usize::from(curve).checked_sub(1)?)?;
        Some(Format { bits, codes, modulation: modulation(curve), curve })
    })
}

/// TTIs between two TTIs in which the UE can receive.
pub fn least_tti_distance(category: u8) -> u64 {
    match category {
        1 | 2 => 3,
        3 | 4 | 11 => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_air::ue::CATEGORIES;

    fn at(category: u8, cqi: usize) -> (u32, u32, Modulation) {
        let format = formats(category)[cqi].unwrap();
        (format.bits, format.codes, format.modulation)
    }

    #[test]
    fn the_tables_match_published_entries() {
        for category in CATEGORIES {
            assert_eq!(formats(category)[0], None);
            assert_eq!(at(category, 1), (137, 1, Modulation::Qpsk));
        }
        assert_eq!(at(6, 15), (3_319, 5, Modulation::Qpsk));
        assert_eq!(at(6, 16), (3_565, 5, Modulation::Qam16));
        assert_eq!(at(6, 30), (7_168, 5, Modulation::Qam16));
        assert_eq!(at(8, 30), (14_411, 10, Modulation::Qam16));
        assert_eq!(at(9, 30), (17_237, 12, Modulation::Qam16));
        assert_eq!(at(10, 30), (25_558, 15, Modulation::Qam16));
        assert_eq!(at(12, 30), (3_319, 5, Modulation::Qpsk));
    }

    /// With a CRC of 24 bits; each code carries 480 symbols per TTI.
    #[test]
    fn every_block_fits_its_codes() {
        for category in CATEGORIES {
            for format in formats(category).into_iter().flatten() {
                let per_symbol = if format.modulation == Modulation::Qpsk { 2 } else { 4 };
                assert!(format.bits + 24 <= 480 * per_symbol * format.codes, "{category}: {format:?}");
                assert!(format.codes <= MAX_CODES);
            }
            let bits = formats(category).map(|format| format.map_or(0, |format| format.bits));
            assert!(bits.windows(2).all(|pair| pair[0] <= pair[1]), "category {category}");
        }
    }
}
