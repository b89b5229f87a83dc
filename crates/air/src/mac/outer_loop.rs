//! A NACK of a first transmission makes later blocks more robust by a step, and an ACK less by `step p / (1 -
//! p)`, so that the share of failures approaches `p` (Sampath, Kumar & Holtzman, VTC 1997, for power
//! control). Here n - 1 more blocks are chosen before the answer to a block arrives: if all fail for one
//! cause, n full steps would correct it n times over, so each answer corrects by 1/n. As n counts
//! retransmissions too, it hardly depends on answers, and the loop still balances at `p`.

use std::ops::{Add, Div, Neg};

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
        /// Whether the blocks under way share the step: the answer to a block that was first sent while n blocks of the
        /// phone, itself and retransmissions included, waited for answers corrects by 1/n of the step. Otherwise each
        /// answer corrects by the whole step.
        pub per_round_trip: bool = true,
        /// Largest correction in dB, in either direction. Default: that of a target of 1 % if reports say nothing about
        /// the SNR of a block, with Rayleigh fading: blocks fail at the rate 1 / (1 + 10^(limit_db / 10)).
        pub limit_db: f64 = 20.0,
    }
}

impl Checked for OuterLoop {
    fn check(&self, check: &mut Check) {
        let Self { target_bler, step_db, limit_db, .. } = self;
        check.require(target_bler.0 > 0.0 && target_bler.0 <= 0.9, "target_bler", || {
            format!("{} is out of range; expected more than 0 and at most 0.9", target_bler.0)
        });
        for (key, value, most) in [("step_db", step_db, 5.0), ("limit_db", limit_db, 60.0)] {
            check.require(*value > 0.0 && *value <= most, key, || {
                format!("{value} is out of range; expected more than 0 and at most {most}")
            });
        }
    }
}

impl OuterLoop {
    /// In units of `unit_db` dB.
    pub fn correction<T>(&self, unit_db: f64, number: impl Fn(f64) -> T) -> Correction<T> {
        let Probability(p) = self.target_bler;
        let step = self.step_db / unit_db;
        Correction {
            steps: [step, step * p / (1.0 - p)].map(&number),
            per_round_trip: self.per_round_trip,
            largest: number(self.limit_db / unit_db),
            value: number(0.0),
        }
    }

    pub fn correction_db(&self) -> Correction<f64> {
        self.correction(1.0, |db| db)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Correction<T> {
    /// Down at a NACK, up at an ACK.
    steps: [T; 2],
    /// Blocks under way share the steps.
    per_round_trip: bool,
    largest: T,
    pub value: T,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstAnswer {
    pub acknowledged: bool,
    /// Blocks that waited for answers when this one was first sent, itself and retransmissions included.
    pub under_way: u8,
}

impl<T> Correction<T>
where
    T: Copy + PartialOrd + Add<Output = T> + Neg<Output = T> + Div<Output = T> + From<u8>,
{
    pub fn on_answer(&mut self, answer: FirstAnswer) {
        let [down, up] = self.steps;
        let step = if answer.acknowledged { up } else { -down };
        let sharers = if self.per_round_trip { answer.under_way.max(1) } else { 1 };
        let value = self.value + step / T::from(sharers);
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
    /// Of SNRs, for a correction in dB.
    #[inline]
    pub fn factor(&self) -> f32 {
        if self.value == 0.0 { 1.0 } else { libm::pow(10.0, self.value / 10.0) as f32 }
    }
}
