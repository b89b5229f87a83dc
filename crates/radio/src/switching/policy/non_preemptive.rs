//! The modified threshold policy, non pre-emptive (`prabhu`, section V).
//!
//! As the pre-emptive one, but the timer is always waited for. At its end the user is moved back
//! if another one waits; if not, the timer starts again. It is not simulated round by round: when
//! somebody asks, the end of the round under way follows from when the first began.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};

use super::idle::IdleTimers;
use super::threshold::Thresholds;
use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

params! {
    /// Thresholds and a timer.
    pub struct NonPreemptive {
        /// A dedicated channel is asked for above so many packets (T_h); 0 asks at the first.
        pub high: u32 = Thresholds::default().high,
        /// The timer runs below so many packets (T_l); 0 keeps the channel.
        pub low: u32 = Thresholds::default().low,
        /// The timer (T_out).
        pub timeout: Duration = Duration::from_millis(500),
    }
}

impl Checked for NonPreemptive {
    fn check(&self, check: &mut Check) {
        Thresholds { high: self.high, low: self.low }.check(check);
        check.require(self.timeout.0 > 0, "timeout", || {
            "a timer of 0 s would start again for ever; expected more, or the policy `threshold`".to_owned()
        });
    }
}

/// The policy at work.
#[derive(Debug)]
pub struct NonPreemptivePolicy {
    idle: IdleTimers,
}

/// The end of the round of a timer of length `timeout` that is under way at `now`, or ends just
/// then, `since` being the beginning of the first.
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
