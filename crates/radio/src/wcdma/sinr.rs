//! `hossain`, equation 3.

/// In received powers of a code of the basic rate; energy per bit is constant, so a code of rate m counts as
/// m codes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interference {
    /// Sum of the rates of all codes of the cell, with the phone's own (x in the study).
    pub own_cell: f64,
    /// Eta alpha G in the study: the sum of rates of another cell (alpha G), times the power received from
    /// all other cells over that from the own (eta).
    pub other_cells: f64,
}

/// `1 / SINR = x / 3N (1 / path - 1) + other / (3N path) + 1 / (2 path Eb/N0)` with `N = spreading`; 0 if
/// `path` or `eb_n0` is 0. Codes of a cell are orthogonal on one path; for asynchronous signals `3N` replaces
/// `N` (Pursley 1977). Half of the result is Proakis's mean signal-to-noise ratio of the path, gamma in the
/// study.
pub fn sinr(path: f64, interference: Interference, spreading: f64, eb_n0: f64) -> f64 {
    let Interference { own_cell, other_cells } = interference;
    let chips = 3.0 * spreading;
    let disturbance = (own_cell * (1.0 - path) + other_cells) / chips;
    path / (disturbance + 0.5 / eb_n0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NO_INTERFERENCE: Interference = Interference { own_cell: 0.0, other_cells: 0.0 };

    #[test]
    fn sinr_without_interference_is_twice_the_energy_of_the_path() {
        assert!((sinr(0.25, NO_INTERFERENCE, 128.0, 10.0) - 5.0).abs() < 1e-12);
        assert!(sinr(0.0, NO_INTERFERENCE, 128.0, 10.0).abs() < f64::EPSILON);
        assert!(sinr(0.25, NO_INTERFERENCE, 128.0, 0.0).abs() < f64::EPSILON);
    }

    /// Four equal paths, eight codes, other cells with the power of ten: 1 / SINR = 8 * 3 / 384 + 10 * 4 /
    /// 384 + 1 / 5.
    #[test]
    fn the_terms_add_up() {
        let interference = Interference { own_cell: 8.0, other_cells: 10.0 };
        let expected = 1.0 / (24.0 / 384.0 + 40.0 / 384.0 + 0.2);
        assert!((sinr(0.25, interference, 128.0, 10.0) - expected).abs() < 1e-12);
    }

    proptest! {
        /// Codes of a cell are orthogonal on one path.
        #[test]
        fn a_single_path_has_no_interference_from_the_own_cell(own_cell in 0.0..1e4f64, eb_n0 in 0.01..1e4f64) {
            let with_others = sinr(1.0, Interference { own_cell, ..NO_INTERFERENCE }, 128.0, eb_n0);
            prop_assert!((with_others / (2.0 * eb_n0) - 1.0).abs() < 1e-12);
        }

        #[test]
        fn sinr_decreases_with_interference_and_increases_with_energy(
            path in 0.001..0.999f64, own_cell in 0.0..100.0f64, other_cells in 0.0..100.0f64, eb_n0 in 0.01..1e4f64,
        ) {
            let of = |own_cell, other_cells, eb_n0| {
                sinr(path, Interference { own_cell, other_cells }, 128.0, eb_n0)
            };
            let base = of(own_cell, other_cells, eb_n0);
            prop_assert!(of(own_cell + 1.0, other_cells, eb_n0) < base);
            prop_assert!(of(own_cell, other_cells + 1.0, eb_n0) < base);
            prop_assert!(of(own_cell, other_cells, eb_n0 * 2.0) > base);
        }
    }
}
