/// A row of probabilities per state, each with a sum of 1.
pub type Matrix = Vec<Vec<f64>>;

pub fn times(row: &[f64], matrix: &Matrix) -> Vec<f64> {
    let mut product = vec![0.0; matrix.first().map_or(0, Vec::len)];
    for (weight, line) in row.iter().zip(matrix) {
        for (sum, p) in product.iter_mut().zip(line) {
            *sum += weight * p;
        }
    }
    product
}

/// Rows are scaled to a sum of 1, so that rounding errors do not grow with repeated squaring.
fn squared(matrix: &Matrix) -> Matrix {
    let of_row = |row: &Vec<f64>| {
        let product = times(row, matrix);
        let sum: f64 = product.iter().sum();
        product.iter().map(|p| p / sum).collect()
    };
    matrix.iter().map(of_row).collect()
}

/// `powers[n]` is `powers[0]` to the power 2^n; missing elements are appended.
pub fn power(powers: &mut Vec<Matrix>, n: usize) -> &Matrix {
    while powers.len() <= n {
        let next = squared(&powers[powers.len() - 1]);
        powers.push(next);
    }
    &powers[n]
}

/// The matrix then covers 2^60 steps.
const DOUBLINGS: usize = 60;

/// Limit of a chain that in each step keeps its state with probability 1/2 and otherwise follows
/// `transition`: it has the same stationary distributions and no period.
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
    fn two_states_have_their_analytic_shares() {
        let shares = stationary(&vec![vec![0.9, 0.1], vec![0.3, 0.7]], &[1.0, 0.0]);
        assert!(near(&shares, &[0.75, 0.25]), "{shares:?}");
    }

    #[test]
    fn periodic_and_disconnected_chains() {
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
