//! The original threshold policy (`prabhu`, section II).
//!
//! A user on the FACH asks for a dedicated channel while more than `high` packets wait. When the
//! pool is exhausted, a user on a dedicated channel with fewer than `low` packets is moved back,
//! whether somebody waits or not.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;

use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};
use crate::switching::State;

params! {
    /// The two thresholds on a user's queue at the Node B, the packet on the air included.
    pub struct Thresholds {
        // The defaults: `T_l` is Table I's, `T_h` the optimum that the study finds.
        /// A dedicated channel is asked for above so many packets (T_h); 0 asks at the first.
        pub high: u32 = 4,
        /// It is given back below so many packets (T_l); 0 keeps it.
        pub low: u32 = 1,
    }
}

impl Checked for Thresholds {
    fn check(&self, check: &mut Check) {
        check.require(self.low <= self.high.saturating_add(1), "low", || {
            format!(
                "a user would be moved back below {} packets who has just been moved for having more than {}; \
                 expected at most {}",
                self.low,
                self.high,
                u64::from(self.high) + 1
            )
        });
    }
}

impl Thresholds {
    /// Asks for a channel, or takes that back, as the queue of a user on the FACH is.
    pub fn ask(&self, user: usize, rrc: &mut Rrc<'_>) {
        if rrc.state(user) == State::Fach {
            if rrc.packets(user) > self.high as usize { rrc.ask(user) } else { rrc.withdraw(user) }
        }
    }

    /// Whether a user on a dedicated channel has too little to be there.
    pub fn is_idle(&self, user: usize, rrc: &Rrc<'_>) -> bool {
        rrc.state(user) == State::Dch && rrc.packets(user) < self.low as usize
    }
}

/// The thresholds at work.
#[derive(Debug)]
pub struct ThresholdPolicy {
    thresholds: Thresholds,
}

impl SwitchingParams for Thresholds {
    fn build(&self, _users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(ThresholdPolicy { thresholds: self.clone() })
    }
}

impl SwitchingPolicy for ThresholdPolicy {
    fn react(&mut self, _: Event, user: usize, rrc: &mut Rrc<'_>) {
        self.thresholds.ask(user, rrc);
        if rrc.is_full() {
            for i in 0..rrc.holders().len() {
                let holder = rrc.holders()[i];
                if self.thresholds.is_idle(holder, rrc) {
                    rrc.release(holder);
                }
            }
        }
    }
}
