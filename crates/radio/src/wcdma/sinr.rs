//! Average signal-to-interference-plus-noise ratio of a path (`hossain`, equation 3).

/// The power that a phone's own signal competes with, in units of the power of a code of the basic
/// rate as the phone receives it. Energy per bit is constant, so a code of rate m counts m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interference {
    /// Sum of the rates of all codes of the cell, the phone's own included (the study's x).
    pub own_cell: f64,
    /// The same of all other cells together, weighted with how much of it arrives (the study's
    /// eta alpha G).
    pub other_cells: f64,
}

/// Average SINR of a path that carries the share `path` of the power received, with `spreading`
/// chips per bit of the basic rate and `eb_n0` (linear) as energy per bit over noise density.
///
/// `1 / SINR = x / 3N (1 / path - 1) + other / (3N path) + 1 / (2 path Eb/N0)`. Codes of a cell are
/// orthogonal on one path, so the cell disturbs itself only through the other paths; what comes
/// from other cells is not synchronous, for which `3N` in the place of `N` stands (Pursley 1977).
///
/// A share or an energy of 0 gives 0. Half of the result is the mean signal-to-noise ratio of the
/// path in the sense of Proakis, the study's gamma.
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

    const NOBODY: Interference = Interference { own_cell: 0.0, other_cells: 0.0 };

    #[test]
    fn without_interference_it_is_twice_the_energy_of_the_path() {
        assert!((sinr(0.25, NOBODY, 128.0, 10.0) - 5.0).abs() < 1e-12);
        assert!(sinr(0.0, NOBODY, 128.0, 10.0).abs() < f64::EPSILON);
        assert!(sinr(0.25, NOBODY, 128.0, 0.0).abs() < f64::EPSILON);
    }

    /// Four equal paths, eight basic codes, other cells with the power of ten: by hand
    /// 8 * 3 / 384 + 10 * 4 / 384 + 1 / 5.
    #[test]
    fn the_terms_add_up() {
        let interference = Interference { own_cell: 8.0, other_cells: 10.0 };
        let expected = 1.0 / (24.0 / 384.0 + 40.0 / 384.0 + 0.2);
        assert!((sinr(0.25, interference, 128.0, 10.0) - expected).abs() < 1e-12);
    }

    proptest! {
        /// Codes on one path are orthogonal.
        #[test]
        fn a_single_path_has_no_interference_of_its_own_cell(own_cell in 0.0..1e4f64, eb_n0 in 0.01..1e4f64) {
            let with_others = sinr(1.0, Interference { own_cell, ..NOBODY }, 128.0, eb_n0);
            prop_assert!((with_others / (2.0 * eb_n0) - 1.0).abs() < 1e-12);
        }

        #[test]
        fn more_interference_is_worse_and_more_energy_better(
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
