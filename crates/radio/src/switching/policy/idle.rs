use nodeb_base::units::{Duration, Time};

use super::threshold::Thresholds;
use super::{Event, Rrc};

/// A user is idle while on a dedicated channel with a queue below the lower threshold; a user on the FACH
/// with one above the upper threshold requests a channel.
#[derive(Debug)]
pub struct IdleTimers {
    thresholds: Thresholds,
    pub timeout: Duration,
    since: Vec<Option<Time>>,
}

impl IdleTimers {
    /// Thresholds in packets.
    pub fn new([high, low]: [u32; 2], timeout: Duration, users: usize) -> Self {
        Self { thresholds: Thresholds { high, low }, timeout, since: vec![None; users] }
    }

    /// A timer starts when the user becomes idle, restarts with each packet while idle, and stops when not
    /// idle.
    pub fn update(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        self.thresholds.ask(user, rrc);
        if !self.thresholds.is_idle(user, rrc) {
            self.since[user] = None;
        } else if self.since[user].is_none() || event == Event::Arrival {
            self.since[user] = Some(rrc.now());
        }
    }

    pub fn since(&self, user: usize) -> Option<Time> {
        self.since[user]
    }

    pub fn release(&mut self, user: usize, rrc: &mut Rrc<'_>) {
        self.since[user] = None;
        rrc.set_timer(user, None);
        rrc.release(user);
    }

    /// As long as more users wait than channels are free or being released; then arms timers for the other
    /// idle users. `end` gives the expiry from the timer's start and the current time.
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
