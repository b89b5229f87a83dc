//! Outer loop of link adaptation: a correction of reported channel qualities by ACKs and NACKs.
//!
//! A NACK of a first transmission makes later blocks more robust by a step, and an ACK makes them
//! less robust by `step p / (1 - p)`, so that the share of failed first transmissions approaches
//! `p` (Sampath, Kumar & Holtzman, VTC 1997, for power control).

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Probability;

params! {
    /// Parameters of the outer loop of link adaptation.
    ///
    /// The loop shifts the channel qualities known to the base station until first transmissions
    /// fail at a target rate.
    pub struct OuterLoop {
        /// Target for the share of first transmissions that fail.
        pub target_bler: Probability = Probability(0.1),
        /// Step in dB by which a NACK lowers later qualities. An ACK raises them by this step times p / (1 - p),
        /// where p is `target_bler`.
        pub step_db: f64 = 0.5,
    }
}

impl Checked for OuterLoop {
    fn check(&self, check: &mut Check) {
        let Self { target_bler, step_db } = self;
        check.require(target_bler.0 > 0.0 && target_bler.0 <= 0.9, "target_bler", || {
            format!("{} is out of range; expected more than 0 and at most 0.9", target_bler.0)
        });
        check.require(*step_db > 0.0 && *step_db <= 5.0, "step_db", || {
            format!("{step_db} is out of range; expected more than 0 and at most 5")
        });
    }
}
