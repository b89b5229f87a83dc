//! The formula is that of Brouwer et al., "Usage of link-level performance indicators for HSDPA network-level
//! simulations in E-UMTS", ISSSTA 2004, with logarithms to base 10 and SNR in dB before despreading: `SNR =
//! (sqrt 3 - log CQI) / 2 * log(BLER^-0.7 - 1) + 1.03 CQI - 17.3`. The CQI of a block follows from its size
//! by TS 25.214, table 7A.

use std::sync::OnceLock;

use nodeb_base::units::Probability;

/// CQI 1 to 22 (TS 25.214, table 7A, categories 1 to 6).
const BLOCK_BITS: [u16; 22] = [
    137, 173, 233, 317, 377, 461, 650, 792, 931, 1262, 1483, 1742, 2279, 2583, 3319, 3565, 4189, 4664, 5287,
    5887, 6554, 7168,
];

/// HS-PDSCHs of CQI 1 to 22 (TS 25.214, table 7A).
const CODES: [u8; 22] = [1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5];

/// HS-PDSCH (TS 25.211, 5.3.3.13).
pub const SPREADING_FACTOR: f64 = 16.0;

/// Interpolated between block sizes, from 1 to 22.
fn cqi_of(bits: u64) -> f64 {
    let bits = bits as f64;
    let upper = BLOCK_BITS.partition_point(|&size| f64::from(size) <= bits);
    if upper == 0 {
        return 1.0;
    }
    if upper == BLOCK_BITS.len() {
        return BLOCK_BITS.len() as f64;
    }
    let (below, above) = (f64::from(BLOCK_BITS[upper - 1]), f64::from(BLOCK_BITS[upper]));
    upper as f64 + (bits - below) / (above - below)
}

/// `(sqrt 3 - log CQI) / 2 * log(BLER^-0.7 - 1) + 1.03 CQI - 17.3`, before despreading.
pub fn snr_db(cqi: f64, bler: f64) -> f64 {
    (3f64.sqrt() - libm::log10(cqi)) / 2.0 * libm::log10(libm::pow(bler, -0.7) - 1.0) + 1.03 * cqi - 17.3
}

/// Inverse of [`snr_db`], before despreading.
pub fn bler(cqi: f64, snr_db: f64) -> f64 {
    libm::pow(libm::pow(10.0, exponent(cqi, snr_db)) + 1.0, -1.0 / 0.7)
}

/// Returns a power of two from 2^-50 to 1 that is not below [`bler`] at the linear SNR `snr`, computed
/// without calling `pow` or `log10`. This bound omits the 1 that [`bler`] adds to `10^x`, so it is
/// `2^-(x log2(10) / 0.7)`, rounded up. Returns 1 if `snr` is not a normal positive number.
///
/// # Panics
///
/// Panics if `cqi` is above 31.
pub fn bler_limit(cqi: u8, snr: f64) -> f64 {
    static SLOPES: OnceLock<[f64; 32]> = OnceLock::new();
    let slopes = SLOPES.get_or_init(|| std::array::from_fn(|cqi| slope(cqi as f64)));
    let distance = distance_db(f64::from(cqi), db_limit(snr));
    let halvings = distance / slopes[usize::from(cqi)] * (std::f64::consts::LOG2_10 / 0.7);
    // The 1 that this bound omits exceeds the rounding error of `bler` if there are at most 50
    // halvings, so the bound never falls below `bler`.
    let halvings = halvings.clamp(0.0, 50.0) as u64;
    f64::from_bits((f64::MAX_EXP as u64 - 1 - halvings) << (f64::MANTISSA_DIGITS - 1))
}

fn exponent(cqi: f64, snr_db: f64) -> f64 {
    distance_db(cqi, snr_db) / slope(cqi)
}

/// Twice the distance from the middle of the curve, where `BLER^-0.7` is 2; negative below it.
fn distance_db(cqi: f64, snr_db: f64) -> f64 {
    2.0 * (snr_db - 1.03 * cqi + 17.3)
}

fn slope(cqi: f64) -> f64 {
    3f64.sqrt() - libm::log10(cqi)
}

/// At most 0.005 dB below the ratio and never above it; minus infinity if it is not a normal positive number.
fn db_limit(ratio: f64) -> f64 {
    if !ratio.is_normal() || ratio < 0.0 {
        return f64::NEG_INFINITY;
    }
    // The ratio is `2^power (1 + m)`. The polynomial is at most 0.0016 below `log2(1 + m)`.
    let power = (ratio.to_bits() >> 52) as i32 - (f64::MAX_EXP - 1);
    let m = f64::from_bits(ratio.to_bits() & MANTISSA | 1f64.to_bits()) - 1.0;
    let log2 = f64::from(power) + m + m * (1.0 - m) * (0.416 - 0.155 * m);
    log2 * (10.0 * std::f64::consts::LOG10_2)
}

/// Of a double.
const MANTISSA: u64 = (1 << (f64::MANTISSA_DIGITS - 1)) - 1;

/// A single transmission fails with `single`, which gives the SNR (linear, per symbol of a code after
/// despreading) that `combine` changes.
pub fn bler_after(single: Probability, bits: u64, combine: impl Fn(f64) -> f64) -> f64 {
    let cqi = cqi_of(bits);
    let codes = f64::from(CODES[cqi as usize - 1]);
    let to_symbol = SPREADING_FACTOR / codes;
    let chip_snr = libm::pow(10.0, snr_db(cqi, single.0) / 10.0);
    let combined = combine(chip_snr * to_symbol) / to_symbol;
    bler(cqi, 10.0 * libm::log10(combined))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_matches_published_values() {
        let published =
            [(1.0, -15.75, -15.07), (5.0, -11.84, -11.44), (15.0, -1.68, -1.47), (22.0, 5.48, 5.63)];
        for (cqi, at_10_percent, at_1_percent) in published {
            assert!((snr_db(cqi, 0.1) - at_10_percent).abs() < 0.006, "CQI {cqi}");
            assert!((snr_db(cqi, 0.01) - at_1_percent).abs() < 0.006, "CQI {cqi}");
        }
    }

    #[test]
    fn curve_and_inverse_agree() {
        for cqi in 1..=22 {
            for target in [0.001, 0.1, 0.5, 0.99] {
                let cqi = f64::from(cqi);
                assert!((bler(cqi, snr_db(cqi, target)) - target).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn no_bler_is_above_its_limit() {
        for cqi in 1..=30 {
            for snr_db in (-400..1_600).map(|tenth| f64::from(tenth) / 40.0) {
                let snr = libm::pow(10.0, snr_db / 10.0);
                let found = bler(f64::from(cqi), 10.0 * libm::log10(snr));
                let limit = bler_limit(cqi, snr);
                assert!(found <= limit && (limit < 7.0 * found || limit < 1e-15), "{cqi} {snr_db}: {found}");
            }
        }
        let limits = [f64::NAN, 0.0, -1.0, f64::INFINITY].map(|snr| bler_limit(5, snr));
        assert!(limits.iter().all(|limit| *limit >= 1.0), "{limits:?}");
    }

    #[test]
    fn a_limit_in_db_is_close_below_the_logarithm() {
        for step in 0..100_000 {
            let ratio = libm::pow(10.0, f64::from(step) / 5_000.0 - 10.0);
            let below = 10.0 * libm::log10(ratio) - db_limit(ratio);
            assert!((-1e-12..0.005).contains(&below), "{ratio}: {below}");
        }
    }

    #[test]
    fn cqi_follows_from_the_block_size() {
        assert!((cqi_of(100) - 1.0).abs() < 1e-12);
        assert!((cqi_of(317) - 4.0).abs() < 1e-12);
        assert!((cqi_of(3_442) - 15.5).abs() < 1e-12);
        assert!((cqi_of(100_000) - 22.0).abs() < 1e-12);
    }
}
