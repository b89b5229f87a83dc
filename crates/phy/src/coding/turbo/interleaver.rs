//! Internal interleaver of the turbo code (TS 25.212, 4.2.3.2.3).

use crate::error::{Error, Result};

pub const K_MIN: usize = 40;
pub const K_MAX: usize = 5114;

/// Of 20 rows, except `LONG_SPECIAL` (TS 25.212, table 3); 5 or 10 rows are reversed.
const LONG: [usize; 20] = [19, 9, 14, 4, 0, 2, 5, 7, 12, 18, 10, 8, 13, 17, 3, 1, 16, 6, 15, 11];
/// 2281 to 2480 and 3161 to 3210 bits (TS 25.212, table 3).
const LONG_SPECIAL: [usize; 20] = [19, 9, 14, 4, 0, 2, 5, 7, 12, 18, 16, 13, 17, 15, 3, 1, 6, 11, 8, 10];

/// Returns the interleaver of blocks of `k` bits: output bit `i` is input bit `permutation(k)[i]`.
///
/// The bits are written by rows into a rectangle of R x C, each row is permuted by powers of a primitive root modulo
/// the prime p, the rows are permuted, and the bits are read by columns.
///
/// # Errors
///
/// Returns an error if the code has no blocks of `k` bits.
pub fn permutation(k: usize) -> Result<Vec<u32>> {
    if !(K_MIN..=K_MAX).contains(&k) {
        return Err(Error::config(
            "code_block",
            format!("a turbo code block has {K_MIN} to {K_MAX} bits (TS 25.212, 4.2.3.2.3), not {k}"),
        ));
    }
    let order = row_order(k);
    let (rows, (p, columns)) = (order.len(), prime_and_columns(k, order.len()));
    let base = base_sequence(p);
    let mut steps = vec![0; rows];
    for (&row, step) in order.iter().zip(step_primes(p)) {
        steps[row] = step;
    }
    let swap_last = columns == p + 1 && k == rows * columns;
    let column_of = |row: usize, j: usize| {
        // The first and the last column are exchanged in the last row.
        let j = if swap_last && row == rows - 1 && (j == 0 || j == p) { p - j } else { j };
        match j {
            _ if j == p => p,
            _ if j == p - 1 => 0,
            _ => base[j * steps[row] % (p - 1)] - usize::from(columns == p - 1),
        }
    };
    let cells = (0..columns).flat_map(|j| order.iter().map(move |&row| (row, j)));
    let bits = cells.map(|(row, j)| row * columns + column_of(row, j));
    Ok(bits.filter(|&bit| bit < k).map(|bit| bit as u32).collect())
}

fn row_order(k: usize) -> Vec<usize> {
    match k {
        40..=159 => (0..5).rev().collect(),
        160..=200 | 481..=530 => (0..10).rev().collect(),
        2281..=2480 | 3161..=3210 => LONG_SPECIAL.to_vec(),
        _ => LONG.to_vec(),
    }
}

/// C is p - 1, p or p + 1.
fn prime_and_columns(k: usize, rows: usize) -> (usize, usize) {
    if (481..=530).contains(&k) {
        return (53, 53);
    }
    let p = (7..=257).find(|&p| is_prime(p) && k <= rows * (p + 1)).expect("257 is enough for 5114 bits");
    let columns = (p - 1..=p + 1).find(|columns| k <= rows * columns).expect("p + 1 columns are enough");
    (p, columns)
}

fn is_prime(n: usize) -> bool {
    n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
}

/// s of the standard: powers of the least primitive root v modulo p, as in table 2.
fn base_sequence(p: usize) -> Vec<usize> {
    let powers = |v: usize| std::iter::successors(Some(1), move |s| Some(s * v % p)).take(p - 1);
    let primitive = |v: &usize| powers(*v).skip(1).all(|s| s != 1);
    let v = (2..p).find(primitive).expect("every prime has a primitive root");
    powers(v).collect()
}

/// q of the standard: 1, then the primes above 6 that do not divide p - 1.
fn step_primes(p: usize) -> impl Iterator<Item = usize> {
    let coprime = move |q: &usize| !(p - 1).is_multiple_of(*q);
    std::iter::once(1).chain((7..).filter(|&q| is_prime(q)).filter(coprime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaver_is_a_permutation_for_every_length() {
        for k in K_MIN..=K_MAX {
            let mut seen = vec![false; k];
            for bit in permutation(k).unwrap() {
                assert!(!std::mem::replace(&mut seen[bit as usize], true), "K = {k}: {bit} twice");
            }
            assert!(seen.into_iter().all(|seen| seen), "K = {k}");
        }
    }

    /// R = 5, p = 7, C = 8, v = 3, s = 1 3 2 6 4 5, r = 17 13 11 7 1; as K = R C and C = p + 1, the first and
    /// the last column of the last row are exchanged.
    #[test]
    fn interleaver_of_40_bits_matches_hand_computation() {
        let rows = [
            [1, 5, 4, 6, 2, 3, 0, 7],
            [1, 3, 2, 6, 4, 5, 0, 7],
            [1, 5, 4, 6, 2, 3, 0, 7],
            [1, 3, 2, 6, 4, 5, 0, 7],
            [7, 3, 2, 6, 4, 5, 0, 1],
        ];
        let by_hand: Vec<u32> =
            (0..8).flat_map(|j| (0..5).rev().map(move |row| row as u32 * 8 + rows[row][j])).collect();
        assert_eq!(permutation(40).unwrap(), by_hand);
    }

    /// TS 25.212, with the smallest and the largest prime.
    #[test]
    fn least_primitive_roots_match_table_2() {
        let table = [
            (7, 3),
            (11, 2),
            (23, 5),
            (41, 6),
            (53, 2),
            (71, 7),
            (73, 5),
            (191, 19),
            (239, 7),
            (241, 7),
            (257, 3),
        ];
        for (p, v) in table {
            assert_eq!(base_sequence(p)[1], v, "p = {p}");
        }
    }

    #[test]
    fn invalid_lengths_are_rejected() {
        for k in [0, 39, 5115] {
            let error = permutation(k).unwrap_err().to_string();
            assert!(error.contains("40 to 5114"), "{error}");
        }
    }

    /// Fewer than 2 % of adjacent pairs were less than 8 bits apart.
    #[test]
    fn adjacent_bits_are_spread() {
        for k in [320, 1024, 1344, 3840, 5114] {
            let permutation = permutation(k).unwrap();
            let close = permutation.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < 8).count();
            assert!(close < k / 50, "K = {k}: {close}");
        }
    }
}
