//! `prabhu`, section V: unlike the pre-emptive policy, no request ends a timer early. When it ends, the user
//! is moved back to the FACH if another waits, else it restarts for another round, whose end is computed from
//! the start of the first.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};

use super::idle::IdleTimers;
use super::threshold::Thresholds;
use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

params! {
    /// Parameters of the non-pre-emptive policy, by which users release channels only at the end of
    /// a timer.
    pub struct NonPreemptive {
        /// Number of packets in a user's queue above which a dedicated channel is requested (T_h);
        /// 0 requests it at the first packet.
        pub high: u32 = Thresholds::default().high,
        /// Number of packets in a user's queue below which its timer runs (T_l); 0 keeps the
        /// channel.
        pub low: u32 = Thresholds::default().low,
        /// Length of the timer (T_out). At its end the user releases its channel if another user
        /// waits; otherwise the timer restarts.
        pub timeout: Duration = Duration::from_millis(500),
    }
}

impl Checked for NonPreemptive {
    fn check(&self, check: &mut Check) {
        Thresholds { high: self.high, low: self.low }.check(check);
        check.require(self.timeout.0 > 0, "timeout", || {
            "a timer of 0 s restarts for ever; expected a positive time, or the policy `threshold`".to_owned()
        });
    }
}

#[derive(Debug)]
pub struct NonPreemptivePolicy {
    idle: IdleTimers,
}

/// Of a timer that restarts after each `timeout`; `now` if a round ends then.
pub fn end_of_round(since: Time, timeout: Duration, now: Time) -> Time {
    let rounds = now.since(since).0.div_ceil(timeout.0).max(1);
    since + Duration(rounds * timeout.0)
}

impl SwitchingParams for NonPreemptive {
    fn build(&self, users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(NonPreemptivePolicy { idle: IdleTimers::new([self.high, self.low], self.timeout, users) })
    }
}

impl SwitchingPolicy for NonPreemptivePolicy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        self.idle.update(event, user, rrc);
        let timeout = self.idle.timeout;
        self.idle.release_for_others(rrc, |since, now| end_of_round(since, timeout, now));
    }
}
