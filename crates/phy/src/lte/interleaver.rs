use crate::error::{Error, Result};

/// Rows of TS 36.212, table 5.1.3-3: block size K in bits, f1, f2.
const TABLE: &str = include_str!("interleaver.csv");

/// K in bits, f1 and f2.
fn rows() -> impl Iterator<Item = [u64; 3]> {
    let number = |field: &str| field.parse().expect("the table has numbers");
    let row = move |line: &str| {
        let mut fields = line.split(',').map(number);
        std::array::from_fn(|_| fields.next().expect("a row has three numbers"))
    };
    TABLE.lines().filter(|line| !line.starts_with('#')).map(row)
}

/// 188, from 40 to 6144.
pub fn sizes() -> impl Iterator<Item = usize> {
    rows().map(|[k, ..]| k as usize)
}

/// Returns the interleaver of blocks of `k` bits: output bit `i` is input bit `permutation(k)[i]`,
/// which is `(f1 i + f2 i^2) mod K`.
///
/// # Errors
///
/// Returns an error if the table has no blocks of `k` bits.
pub fn permutation(k: usize) -> Result<Vec<u32>> {
    let Some([size, f1, f2]) = rows().find(|row| row[0] == k as u64) else {
        let larger = sizes().find(|&size| size > k).unwrap_or(6144);
        return Err(Error::config(
            "code_block",
            format!("LTE has no turbo code block of {k} bits (TS 36.212, table 5.1.3-3); use {larger}"),
        ));
    };
    Ok((0..size).map(|i| ((f1 * i + f2 * i * i) % size) as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_table() {
        let steps = (40..=512).step_by(8).chain((528..=1024).step_by(16));
        let steps = steps.chain((1056..=2048).step_by(32)).chain((2112..=6144).step_by(64));
        assert!(sizes().eq(steps));
        assert_eq!(sizes().count(), 188);
    }

    #[test]
    fn interleaver_is_a_permutation_for_every_size() {
        for k in sizes() {
            let mut sorted = permutation(k).unwrap();
            sorted.sort_unstable();
            assert!(sorted.iter().enumerate().all(|(i, &bit)| i == bit as usize), "K = {k}");
        }
    }

    /// Bits at the same position of different windows map to different windows (Takeshita 2006: for every
    /// quadratic permutation polynomial).
    #[test]
    fn windows_access_memory_without_contention() {
        for k in sizes() {
            let permutation = permutation(k).unwrap();
            for window in (1..=k).filter(|window| k % window == 0) {
                let mut used = vec![usize::MAX; k / window];
                for first in 0..window {
                    for &bit in permutation[first..].iter().step_by(window) {
                        let last = std::mem::replace(&mut used[bit as usize / window], first);
                        assert_ne!(last, first, "K = {k}, window {window}");
                    }
                }
            }
        }
    }

    /// Neighbours differ by `f1 + f2 (2 i + 1)`, so a typing error in f1 or f2 usually gives no permutation.
    #[test]
    fn sums_of_the_columns_are_known() {
        let sum = |column: usize| rows().map(|row| row[column]).sum::<u64>();
        assert_eq!([sum(1), sum(2)], [17_068, 28_162]);
    }

    #[test]
    fn first_outputs_of_40_bits_match_hand_computation() {
        assert_eq!(permutation(40).unwrap()[..8], [0, 13, 6, 19, 12, 25, 18, 31]);
    }

    #[test]
    fn other_sizes_are_rejected() {
        for (k, larger) in [(39, 40), (41, 48), (6145, 6144)] {
            let error = permutation(k).unwrap_err().to_string();
            assert!(error.ends_with(&format!("use {larger}")), "{error}");
        }
    }
}
