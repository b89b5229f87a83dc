//! In subframes, for FDD and preamble format 0.

use crate::ofdma::rrc::access::Occasions;

/// Of PRACH (TS 36.211, 5.7.3).
pub const BLOCKS: u16 = 6;

/// Subframes after the end of a preamble (TS 36.321, 5.1.4).
pub const RESPONSE_WINDOW_AFTER: u64 = 3;

/// Least number of subframes after a response (TS 36.213, 6.1.1).
pub const MESSAGE_3_AFTER: u64 = 6;

/// PRACH configurations 3 to 14.
const ANY_FRAME: [&[u8]; 12] = [
    &[1],
    &[4],
    &[7],
    &[1, 6],
    &[2, 7],
    &[3, 8],
    &[1, 4, 7],
    &[2, 5, 8],
    &[3, 6, 9],
    &[0, 2, 4, 6, 8],
    &[1, 3, 5, 7, 9],
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
];

// Clause: TS 36.211, 5.7.1: occasions of random access
/// TS 36.211, table 5.7.1-2; indices 0 to 15 have preamble format 0.
///
/// # Errors
/// Returns a message with these indices if `index` is above 15.
pub fn occasions(index: u8) -> Result<Occasions, String> {
    let (period, ttis): (u64, &[u8]) = match index {
        0 => (20, &[1]),
        1 => (20, &[4]),
        2 => (20, &[7]),
        3..=14 => (10, ANY_FRAME[usize::from(index) - 3]),
        15 => (20, &[9]),
        _ => {
            return Err(format!(
                "PRACH configuration {index} has no preamble format 0; expected 0 to 15 (TS 36.211, \
                 table 5.7.1-2)"
            ));
        }
    };
    Ok(Occasions { period, ttis })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: occasions of random access (standard's table)
    #[test]
    fn occasions_follow_the_table() {
        let next = |index, from| occasions(index).unwrap().next(from);
        assert_eq!([0, 1, 2, 11, 21].map(|from| next(0, from)), [1, 1, 21, 21, 21]);
        assert_eq!([0, 2, 7, 17].map(|from| next(6, from)), [1, 6, 11, 21]);
        assert_eq!([0, 9, 10].map(|from| next(15, from)), [9, 9, 29]);
        assert!((0..40).all(|from| next(14, from) == from));
        assert!(occasions(16).is_err());
    }

    /// In 20 ms, table 5.7.1-2.
    #[test]
    fn densities_grow_from_one_to_twenty() {
        let density = |index| {
            let occasions = occasions(index).unwrap();
            (0..20).filter(|&at| occasions.has(at)).count()
        };
        let all: Vec<usize> = (0..16).map(density).collect();
        assert_eq!(all, [1, 1, 1, 2, 2, 2, 4, 4, 4, 6, 6, 6, 10, 10, 20, 1]);
    }
}
