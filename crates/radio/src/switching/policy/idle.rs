//! Inactivity timers of users on dedicated channels, used by several policies.

use nodeb_base::units::{Duration, Time};

use super::threshold::Thresholds;
use super::{Event, Rrc};

/// Inactivity timers of all users, and the thresholds of their queues. A user is idle while it is on
/// a dedicated channel with a queue below the lower threshold; its timer runs during this time. A
/// user on the FACH with a queue above the upper threshold requests a channel.
#[derive(Debug)]
pub struct IdleTimers {
    thresholds: Thresholds,
    /// Time from the start of an inactivity timer to its expiry.
    pub timeout: Duration,
    since: Vec<Option<Time>>,
}

impl IdleTimers {
    /// Creates the timers of `users` users; no timer runs. The thresholds `high` and `low` are numbers
    /// of packets.
    pub fn new([high, low]: [u32; 2], timeout: Duration, users: usize) -> Self {
        Self { thresholds: Thresholds { high, low }, timeout, since: vec![None; users] }
    }

    /// Requests a channel for `user`, or withdraws the request, according to the thresholds. The
    /// user's timer starts when the user becomes idle, restarts if a packet arrives and the user is
    /// still idle, and stops when the user is not idle.
    pub fn update(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        self.thresholds.ask(user, rrc);
        if !self.thresholds.is_idle(user, rrc) {
            self.since[user] = None;
        } else if self.since[user].is_none() || event == Event::Arrival {
            self.since[user] = Some(rrc.now());
        }
    }

    /// Returns the start of a user's timer, or `None` if the timer does not run.
    pub fn since(&self, user: usize) -> Option<Time> {
        self.since[user]
    }

    /// Starts to move a user from its dedicated channel to the FACH, and stops the user's timer.
    pub fn release(&mut self, user: usize, rrc: &mut Rrc<'_>) {
        self.since[user] = None;
        rrc.set_timer(user, None);
        rrc.release(user);
    }

    /// Releases the channels of users whose inactivity timer has expired, as long as more users wait
    /// than channels are free or being released. If users still wait, arms the policy's timers of the
    /// other idle users for the expiries. `end` takes the start of an inactivity timer and the
    /// current time, and returns the expiry.
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
