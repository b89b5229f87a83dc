//! Of the waiting users, the one with the longest queue gets the channel: `prabhu` serves the earliest
//! request, which may come from a user with few packets. By Little's law the mean delay of a burst follows
//! from the throughput, which is high if channels are seldom idle, so a switch should be made for much data.
//! `high` can be low: the more users wait, the longer is the queue that gets the channel. A queue short for
//! `timeout` releases its channel as soon as another user waits.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::idle::IdleTimers;
use super::threshold::Thresholds;
use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

params! {
    /// Parameters of longest queue first, which gives a channel to the waiting user with the
    /// longest queue.
    pub struct LongestQueue {
        /// Number of packets in a user's queue above which a dedicated channel is requested; 0
        /// requests it at the first packet.
        pub high: u32 = 2,
        /// Number of packets in a user's queue below which its timer runs; 0 keeps the channel.
        pub low: u32 = 1,
        /// Time for which a user's queue must be shorter than `low` before the user releases its
        /// channel to a waiting user.
        pub timeout: Duration = Duration::from_millis(450),
    }
}

impl Checked for LongestQueue {
    fn check(&self, check: &mut Check) {
        Thresholds { high: self.high, low: self.low }.check(check);
    }
}

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
        // The reversed order makes the earliest request win among users with equally long queues.
        (0..waiting.len()).rev().max_by_key(queue).unwrap_or(0)
    }
}
