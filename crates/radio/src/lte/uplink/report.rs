//! Octets that wait at a phone, as one of 64 levels (TS 36.321, 6.1.3.1).

/// Short report with its subheader (TS 36.321, 6.1.2, 6.1.3.1).
pub const REPORT: u32 = 2;

/// Long report, of four logical channel groups.
pub const LONG_REPORT: u32 = 4;

/// Upper limits of all levels but the last (TS 36.321, table 6.1.3.1-1).
const LEVELS: [u32; 63] = [
    0, 10, 12, 14, 17, 19, 22, 26, 31, 36, 42, 49, 57, 67, 78, 91, 107, 125, 146, 171, 200, 234, 274, 321,
    376, 440, 515, 603, 706, 826, 967, 1132, 1326, 1552, 1817, 2127, 2490, 2915, 3413, 3995, 4677, 5476,
    6411, 7505, 8787, 10287, 12043, 14099, 16507, 19325, 22624, 26487, 31009, 36304, 42502, 49759, 58255,
    68201, 79846, 93479, 109_439, 128_125, 150_000,
];

// Clause: TS 36.321, 5.4.5, 6.1.3.1: buffer status reports
// Simplified: a group for each logical channel, a report in every block, and no truncated reports
/// Upper limit of the level; for the last level, which has none, twice that of the level below.
pub fn assumed(waiting: u64) -> u32 {
    let level = LEVELS.partition_point(|most| u64::from(*most) < waiting);
    LEVELS.get(level).copied().unwrap_or(2 * LEVELS[LEVELS.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: buffer status reports (standard's table)
    #[test]
    fn levels_grow_by_a_sixth_from_10_to_150_000() {
        assert_eq!([0, 1, 10, 11, 150_000, 150_001].map(assumed), [0, 10, 10, 12, 150_000, 300_000]);
        // The table has 62 levels from 10 to 150,000 octets in equal ratios.
        let ratio = 15_000f64.powf(1.0 / 61.0);
        for (level, most) in (0..).zip(&LEVELS[1..]) {
            let exact = 10.0 * ratio.powi(level);
            assert!((f64::from(*most) - exact).abs() <= 1.0, "{level}: {most}, not {exact}");
        }
    }
}
