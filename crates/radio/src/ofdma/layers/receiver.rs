use super::MAX_PORTS;
use super::lanes::{Complex, LANES, Reals};

/// By port, to each receive antenna.
pub type Paths = [[Complex; MAX_PORTS]; MAX_PORTS];

/// 1 + SNR (TS 36.211, 6.3.3.3, 6.3.4.3). Two ports send space-frequency block codes; of four, ports 0 and 2,
/// and 1 and 3, do so in turn: the geometric mean over both pairs.
pub fn diversity(paths: &Paths, ports: usize, receive: usize, snr: f32) -> Reals {
    // Half of the power comes from each port of a pair.
    let pair = |ports: [usize; 2]| {
        let mut sum = [1.0; LANES];
        for port in ports {
            for Complex { re, im } in &paths[port][..receive] {
                for lane in 0..LANES {
                    sum[lane] += snr / 2.0 * (re[lane] * re[lane] + im[lane] * im[lane]);
                }
            }
        }
        sum
    };
    if ports == 2 {
        return pair([0, 1]);
    }
    let [even, odd] = [pair([0, 2]), pair([1, 3])];
    std::array::from_fn(|lane| even[lane].sqrt() * odd[lane].sqrt())
}

/// Geometric mean over layers of 1 + SINR, which is the inverse of element `k` on the diagonal of `M^-1` with
/// `M = I + snr H^H H`; `snr` is that of one layer at a channel of 1.
pub fn mmse<const L: usize>(columns: &[[Complex; MAX_PORTS]; L], receive: usize, snr: f32) -> Reals {
    let mut matrix = [[Complex::ZERO; L]; L];
    for a in 0..L {
        matrix[a][a].re = [1.0; LANES];
        for b in a..L {
            for (of_b, of_a) in columns[b].iter().zip(&columns[a]).take(receive) {
                matrix[a][b].add_product(&[snr; LANES], of_b, of_a);
            }
        }
    }
    for pivot in 0..L {
        sweep(&mut matrix, pivot);
    }
    let mut mean = [1.0; LANES];
    for (k, row) in matrix.iter().enumerate() {
        for (mean, negative) in mean.iter_mut().zip(&row[k].re) {
            *mean *= root::<L>((-1.0 / negative).max(1.0));
        }
    }
    mean
}

/// Only elements on and above the diagonal are used; after all pivots the matrix is the negative inverse
/// (Goodnight, "A tutorial on the SWEEP operator", 1979).
#[inline]
fn sweep<const L: usize>(matrix: &mut [[Complex; L]; L], pivot: usize) {
    // As the matrix is the identity plus a positive semidefinite one, no pivot is less than 1.
    let inverse = matrix[pivot][pivot].re.map(|value| 1.0 / value.max(1.0));
    let negative = inverse.map(|value| -value);
    let column: [Complex; L] =
        std::array::from_fn(|i| if i < pivot { matrix[i][pivot] } else { matrix[pivot][i].conjugate() });
    for i in 0..L {
        for j in i..L {
            if i == pivot && j == pivot {
                matrix[i][j].re = negative;
            } else if i == pivot || j == pivot {
                matrix[i][j].scale(&inverse);
            } else {
                matrix[i][j].add_product(&negative, &column[i], &column[j]);
            }
        }
    }
}

/// Of degree `L`, 1 to 4.
fn root<const L: usize>(value: f32) -> f32 {
    match L {
        1 => value,
        2 => value.sqrt(),
        3 => libm::cbrtf(value),
        _ => value.sqrt().sqrt(),
    }
}
