//! Timers of users on dedicated channels who have had too little to send.

use nodeb_base::units::{Duration, Time};

use super::threshold::Thresholds;
use super::{Event, Rrc};

/// The thresholds, and for each user the moment at which its idle timer was started; none while it
/// is not idle.
#[derive(Debug)]
pub struct IdleTimers {
    thresholds: Thresholds,
    /// How long a timer runs.
    pub timeout: Duration,
    since: Vec<Option<Time>>,
}

impl IdleTimers {
    /// Nobody of `users` is idle. The thresholds are the high and the low one.
    pub fn new([high, low]: [u32; 2], timeout: Duration, users: usize) -> Self {
        Self { thresholds: Thresholds { high, low }, timeout, since: vec![None; users] }
    }

    /// Asks for a channel by the thresholds. Starts a user's timer when it has become idle, starts
    /// it anew when a packet came but was not enough, and stops it otherwise.
    pub fn update(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        self.thresholds.ask(user, rrc);
        if !self.thresholds.is_idle(user, rrc) {
            self.since[user] = None;
        } else if self.since[user].is_none() || event == Event::Arrival {
            self.since[user] = Some(rrc.now());
        }
    }

    /// When a user's timer was started.
    pub fn since(&self, user: usize) -> Option<Time> {
        self.since[user]
    }

    /// Moves a user back and stops its timer.
    pub fn release(&mut self, user: usize, rrc: &mut Rrc<'_>) {
        self.since[user] = None;
        rrc.set_timer(user, None);
        rrc.release(user);
    }

    /// While somebody waits in vain, moves those back whose timer is over. `end` says when a timer
    /// that was started at its first argument ends, its second being the present.
    pub fn release_for_others(&mut self, rrc: &mut Rrc<'_>, end: impl Fn(Time, Time) -> Time) {
        for i in 0..rrc.holders().len() {
            let holder = rrc.holders()[i];
            let since = self.since[holder].filter(|_| rrc.unmet() > 0);
            let end = since.map(|since| end(since, rrc.now()));
            if end.is_some_and(|end| end <= rrc.now()) {
                self.release(holder, rrc);
            } else {
                rrc.set_timer(holder, end);
            }
        }
    }
}
