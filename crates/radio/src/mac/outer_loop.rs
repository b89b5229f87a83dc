//! Outer loop of link adaptation: a correction of reported channel qualities by ACKs and NACKs.
//!
//! A NACK of a first transmission makes later blocks more robust by a step, and an ACK makes them
//! less robust by `step p / (1 - p)`, so that the share of failed first transmissions approaches
//! `p` (Sampath, Kumar & Holtzman, VTC 1997, for power control).

use std::ops::{Add, Neg};

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

impl OuterLoop {
    /// Returns the steps by which a NACK lowers later qualities and an ACK raises them, in units of `unit_db` dB.
    pub fn steps(&self, unit_db: f64) -> [f64; 2] {
        let Probability(p) = self.target_bler;
        let step = self.step_db / unit_db;
        [step, step * p / (1.0 - p)]
    }

    /// Returns a new correction for a user in dB. It starts at 0 and stays within -6 to 6 dB.
    pub fn correction_db(&self) -> Correction<f64> {
        Correction { steps: self.steps(1.0), largest: 6.0, value: 0.0 }
    }
}

/// Correction of a user's channel qualities by the outer loop, in decibels or CQIs.
#[derive(Clone, Copy, Debug)]
pub struct Correction<T> {
    /// Steps by which a NACK lowers the correction and an ACK raises it.
    pub steps: [T; 2],
    /// Largest correction in either direction.
    pub largest: T,
    /// Current correction, which is added to qualities.
    pub value: T,
}

impl<T: Copy + PartialOrd + Add<Output = T> + Neg<Output = T>> Correction<T> {
    /// Raises or lowers the correction after the ACK or NACK of a first transmission, at most to
    /// `largest` in either direction.
    pub fn on_answer(&mut self, acknowledged: bool) {
        let [down, up] = self.steps;
        let value = self.value + if acknowledged { up } else { -down };
        self.value = if value > self.largest {
            self.largest
        } else if value < -self.largest {
            -self.largest
        } else {
            value
        };
    }
}

impl Correction<f64> {
    /// Returns the linear factor of SNRs for a correction in dB.
    #[inline]
    pub fn factor(&self) -> f32 {
        if self.value == 0.0 { 1.0 } else { libm::pow(10.0, self.value / 10.0) as f32 }
    }
}
