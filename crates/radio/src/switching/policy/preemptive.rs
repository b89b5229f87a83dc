//! A user with fewer than `low` packets keeps its dedicated channel for `timeout`, as ACKs may bring new
//! packets in this time. After the timeout, the user keeps the channel while another channel is free. An
//! arriving packet restarts the timer, or stops it if the queue is then no longer short. If another user
//! waits for a channel, a user with a short queue releases its channel at once. With a timeout of 0 this is
//! the original threshold policy.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::idle::IdleTimers;
use super::threshold::Thresholds;
use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

params! {
    /// Parameters of the pre-emptive policy, by which users release channels as soon as another
    /// user waits.
    pub struct Preemptive {
        /// Number of packets in a user's queue above which a dedicated channel is requested (T_h);
        /// 0 requests it at the first packet.
        pub high: u32 = Thresholds::default().high,
        /// Number of packets in a user's queue below which its timer runs (T_l); 0 keeps the
        /// channel.
        pub low: u32 = Thresholds::default().low,
        /// Time after which a user with a short queue releases its channel if no channel is free
        /// (T_out). If another user waits, the user with the short queue releases it at once.
        pub timeout: Duration = Duration::from_millis(500),
    }
}

impl Checked for Preemptive {
    fn check(&self, check: &mut Check) {
        Thresholds { high: self.high, low: self.low }.check(check);
    }
}

#[derive(Debug)]
pub struct PreemptivePolicy {
    idle: IdleTimers,
}

impl SwitchingParams for Preemptive {
    fn build(&self, users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(PreemptivePolicy { idle: IdleTimers::new([self.high, self.low], self.timeout, users) })
    }
}

impl PreemptivePolicy {
    fn must_go(&self, user: usize, rrc: &Rrc<'_>) -> bool {
        let is_over = |since| rrc.is_full() && since + self.idle.timeout <= rrc.now();
        self.idle.since(user).is_some_and(|since| rrc.unmet() > 0 || is_over(since))
    }
}

impl SwitchingPolicy for PreemptivePolicy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        self.idle.update(event, user, rrc);
        let end = self.idle.since(user).map(|since| since + self.idle.timeout);
        rrc.set_timer(user, end.filter(|end| *end > rrc.now()));
        for i in 0..rrc.holders().len() {
            let holder = rrc.holders()[i];
            if self.must_go(holder, rrc) {
                self.idle.release(holder, rrc);
            }
        }
    }
}
