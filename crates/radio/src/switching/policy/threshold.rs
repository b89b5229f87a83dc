//! `prabhu`, section II: more than `high` waiting packets on the FACH request a channel; if none is free,
//! users on dedicated channels with fewer than `low` packets go back, even if no other user waits.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;

use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};
use crate::switching::State;

params! {
    /// Thresholds on a user's queue at the Node B, which includes the packet in transmission.
    pub struct Thresholds {
        // The default of `low` is `T_l` in Table I of the study, and that of `high` is the optimum
        // of `T_h` found in the study.
        /// Number of packets in a user's queue above which a dedicated channel is requested (T_h);
        /// 0 requests it at the first packet.
        pub high: u32 = 4,
        /// Number of packets in a user's queue below which its channel is released if no channel is
        /// free (T_l). With 0 the user keeps its channel.
        pub low: u32 = 1,
    }
}

impl Checked for Thresholds {
    fn check(&self, check: &mut Check) {
        check.require(self.low <= self.high.saturating_add(1), "low", || {
            format!(
                "below {} packets a user is moved back who has just been moved for more than {} packets; \
                 expected at most {}",
                self.low,
                self.high,
                u64::from(self.high) + 1
            )
        });
    }
}

impl Thresholds {
    pub fn ask(&self, user: usize, rrc: &mut Rrc<'_>) {
        if rrc.state(user) == State::Fach {
            if rrc.packets(user) > self.high as usize { rrc.ask(user) } else { rrc.withdraw(user) }
        }
    }

    pub fn is_idle(&self, user: usize, rrc: &Rrc<'_>) -> bool {
        rrc.state(user) == State::Dch && rrc.packets(user) < self.low as usize
    }
}

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
