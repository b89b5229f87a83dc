//! The mean sense: every phone of the cell receives the same from other cells.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;

use super::Load;

params! {
    /// Interference in the mean.
    pub struct Mean {
        /// Power received from all other cells over that received from the own one, when all send the
        /// same (the study's eta).
        pub factor: f64 = 0.6,
        /// How busy the other cells are.
        pub load: Load,
    }
}

/// More than this is a typing error.
const LARGEST_FACTOR: f64 = 100.0;

impl Checked for Mean {
    fn check(&self, check: &mut Check) {
        check.range("factor", self.factor, 0.0..=LARGEST_FACTOR);
        check.within("load", |check| self.load.check(check));
    }
}
