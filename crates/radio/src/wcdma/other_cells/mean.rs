use nodeb_base::check::{Check, Checked};
use nodeb_base::params;

use super::OtherCellsLoad;

params! {
    /// Mean interference of other cells, which is the same for every phone.
    pub struct MeanInterference {
        /// Power received from all other cells divided by that from the own cell, if each transmits
        /// the same (eta in `hossain`).
        pub factor: f64 = 0.6,
        /// Load of the other cells, which determines the power of their interference.
        pub load: OtherCellsLoad,
    }
}

/// A larger value must be a typing error.
const LARGEST_FACTOR: f64 = 100.0;

impl Checked for MeanInterference {
    fn check(&self, check: &mut Check) {
        check.range("factor", self.factor, 0.0..=LARGEST_FACTOR);
        check.within("load", |check| self.load.check(check));
    }
}
