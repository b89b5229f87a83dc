//! TTI boundaries of a TTI-driven bearer, and the time of the bearer's next wake-up.

use nodeb_base::engine::Key;
use nodeb_base::units::{Duration, Time};

/// TTI boundaries, with TTI 0 at time zero, and the number of TTIs that are already simulated.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    tti: Duration,
    /// Number of the first TTI that is not yet simulated.
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

    /// Returns the number of TTIs that start at or before `time`. This is also the number of the
    /// first TTI that starts after `time`.
    #[inline]
    pub fn begun_by(&self, time: Time) -> u64 {
        time.0 / self.tti.0 + 1
    }
}

/// Key of the next wake-up of a bearer; `None` if it sleeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextWake(Option<Key>);

impl NextWake {
    /// Returns the key of the bearer's next wake-up, or `None` if the bearer sleeps.
    #[inline]
    pub fn key(&self) -> Option<Key> {
        self.0
    }

    /// Returns true if the wake-up is due at `key`, and clears the wake-up in this case.
    #[inline]
    pub fn take(&mut self, key: Key) -> bool {
        let wakes = self.0 == Some(key);
        if wakes {
            self.0 = None;
        }
        wakes
    }

    /// Sets the time of the next wake-up to `at`, or clears the wake-up if `at` is `None`. If the
    /// time does not change, the wake-up keeps its position among simultaneous events.
    #[inline]
    pub fn set(&mut self, at: Option<Time>, key: impl FnOnce(Time) -> Key) {
        if at != self.0.map(|(at, _)| at) {
            self.0 = at.map(key);
        }
    }
}
