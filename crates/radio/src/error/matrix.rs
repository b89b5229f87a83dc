//! The little that Markov chains need of stochastic matrices.

/// Rows of probabilities.
pub type Matrix = Vec<Vec<f64>>;

/// A row times a matrix.
pub fn times(row: &[f64], matrix: &Matrix) -> Vec<f64> {
    let mut product = vec![0.0; matrix.first().map_or(0, Vec::len)];
    for (weight, line) in row.iter().zip(matrix) {
        for (sum, p) in product.iter_mut().zip(line) {
            *sum += weight * p;
        }
    }
    product
}

/// A matrix times itself. Rows are scaled to 1, so that repeating it does not drift.
fn squared(matrix: &Matrix) -> Matrix {
    let of_row = |row: &Vec<f64>| {
        let product = times(row, matrix);
        let sum: f64 = product.iter().sum();
        product.iter().map(|p| p / sum).collect()
    };
    matrix.iter().map(of_row).collect()
}

/// The 2^n-th power of the first of `powers`, which holds those made so far.
pub fn power(powers: &mut Vec<Matrix>, n: usize) -> &Matrix {
    while powers.len() <= n {
        let next = squared(&powers[powers.len() - 1]);
        powers.push(next);
    }
    &powers[n]
}

/// Doublings after which a chain has forgotten where it began.
const DOUBLINGS: usize = 60;

/// Where a chain is in the long run when it begins as `start` says.
///
/// It is the limit of the chain that half of the time stays where it is: that one has the same
/// shares, and no period.
pub fn stationary(transition: &Matrix, start: &[f64]) -> Vec<f64> {
    let mut lazy = transition.clone();
    for (i, row) in lazy.iter_mut().enumerate() {
        for p in row.iter_mut() {
            *p /= 2.0;
        }
        row[i] += 0.5;
    }
    let limit = (0..DOUBLINGS).fold(lazy, |matrix, _| squared(&matrix));
    times(start, &limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn two_states_have_their_known_shares() {
        let shares = stationary(&vec![vec![0.9, 0.1], vec![0.3, 0.7]], &[1.0, 0.0]);
        assert!(near(&shares, &[0.75, 0.25]), "{shares:?}");
    }

    /// A chain with a period, and one that falls apart, keep what their beginning decides.
    #[test]
    fn chains_without_a_limit_of_their_own() {
        assert!(near(&stationary(&vec![vec![0.0, 1.0], vec![1.0, 0.0]], &[1.0, 0.0]), &[0.5, 0.5]));
        assert!(near(&stationary(&vec![vec![1.0, 0.0], vec![0.0, 1.0]], &[0.2, 0.8]), &[0.2, 0.8]));
    }

    #[test]
    fn powers_are_repeated_products() {
        let matrix = vec![vec![0.5, 0.3, 0.2], vec![0.1, 0.8, 0.1], vec![0.4, 0.0, 0.6]];
        let mut row = vec![0.2, 0.3, 0.5];
        let at_once = times(&row, power(&mut vec![matrix.clone()], 3));
        for _ in 0..8 {
            row = times(&row, &matrix);
        }
        assert!(near(&row, &at_once));
    }
}
