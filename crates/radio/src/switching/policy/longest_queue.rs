//! Longest queue first: of those who wait, the one with most to send gets the channel.
//!
//! When sources go on after their burst has been acknowledged, the mean delay of a burst follows from
//! the throughput alone (Little's law), and that from what a dedicated channel's time is spent on.
//! A switch costs the same whoever is switched, so it should go to the user for whom it carries
//! most. A long queue is one that is known to be there, with a congestion window that is open
//! already, where `prabhu` takes whoever asked first. Users with little to send meanwhile finish
//! on the FACH without any switch, so `high` can be low: it adapts to how many wait. A user whose
//! queue has been short for `timeout` gives way as soon as somebody waits, not at the end of a round
//! as in the non pre-emptive policy.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::idle::IdleTimers;
use super::threshold::Thresholds;
use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

params! {
    /// Thresholds and a timer.
    pub struct LongestQueue {
        /// A dedicated channel is asked for above so many packets; 0 asks at the first.
        pub high: u32 = 2,
        /// The timer runs below so many packets; 0 keeps the channel.
        pub low: u32 = 1,
        /// How long a queue must be short before its user gives the channel to one who waits.
        pub timeout: Duration = Duration::from_millis(450),
    }
}

impl Checked for LongestQueue {
    fn check(&self, check: &mut Check) {
        Thresholds { high: self.high, low: self.low }.check(check);
    }
}

/// The policy at work.
#[derive(Debug)]
pub struct LongestQueuePolicy {
    idle: IdleTimers,
}

impl SwitchingParams for LongestQueue {
    fn build(&self, users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(LongestQueuePolicy { idle: IdleTimers::new([self.high, self.low], self.timeout, users) })
    }
}

impl SwitchingPolicy for LongestQueuePolicy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        self.idle.update(event, user, rrc);
        let timeout = self.idle.timeout;
        self.idle.release_for_others(rrc, |since, _| since + timeout);
    }

    fn pick(&self, rrc: &Rrc<'_>) -> usize {
        let waiting = rrc.waiting();
        let queue = |position: &usize| rrc.packets(waiting[*position]);
        // Of equal queues the one that asked first.
        (0..waiting.len()).rev().max_by_key(queue).unwrap_or(0)
    }
}
