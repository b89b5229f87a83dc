//! TTI boundaries and wake-up of a TTI-driven bearer.

use nodeb_base::engine::Key;
use nodeb_base::units::{Duration, Time};

/// TTI boundaries, counted from time zero, and the number of TTIs already simulated.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    tti: Duration,
    /// Number of the first TTI not yet simulated.
    pub next: u64,
}

impl Grid {
    /// Creates a grid of TTIs of length `tti`, none of them simulated.
    pub fn new(tti: Duration) -> Self {
        Self { tti, next: 0 }
    }

    /// Returns the start of TTI `tti`.
    #[inline]
    pub fn beginning(&self, tti: u64) -> Time {
        Time(tti * self.tti.0)
    }

    /// Returns the number of the first TTI that is not yet simulated and starts at or after `now`.
    #[inline]
    pub fn from(&self, now: Time) -> u64 {
        if self.beginning(self.next) >= now { self.next } else { now.0.div_ceil(self.tti.0) }
    }

    /// Returns the start of the first TTI that is not yet simulated and starts at or after `now`.
    #[inline]
    pub fn next_beginning(&self, now: Time) -> Time {
        self.beginning(self.from(now))
    }

    /// Returns the number of the first TTI that starts after `time`, which equals the number of
    /// TTIs that start until `time`.
    #[inline]
    pub fn begun_by(&self, time: Time) -> u64 {
        time.0 / self.tti.0 + 1
    }
}

/// Key of the next wake-up of a bearer; `None` if it sleeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextWake(Option<Key>);

impl NextWake {
    /// Returns the key of the next wake-up, or `None` if the bearer sleeps.
    #[inline]
    pub fn key(&self) -> Option<Key> {
        self.0
    }

    /// Returns true if the wake-up is due at `key`, and clears it if so.
    #[inline]
    pub fn take(&mut self, key: Key) -> bool {
        let wakes = self.0 == Some(key);
        if wakes {
            self.0 = None;
        }
        wakes
    }

    /// Sets the wake-up to `at`. If its time is unchanged, it keeps its position among simultaneous
    /// events.
    #[inline]
    pub fn set(&mut self, at: Option<Time>, key: impl FnOnce(Time) -> Key) {
        if at != self.0.map(|(at, _)| at) {
            self.0 = at.map(key);
        }
    }
}
