//! The clock of a bearer that works in TTIs.

use nodeb_base::engine::Key;
use nodeb_base::units::{Duration, Time};

/// A grid of TTIs from time zero on, and which of them are over.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    tti: Duration,
    /// First TTI not yet run.
    pub next: u64,
}

impl Grid {
    /// A grid of TTIs of this length, none of them run.
    pub fn new(tti: Duration) -> Self {
        Self { tti, next: 0 }
    }

    /// When TTI number `tti` begins.
    #[inline]
    pub fn beginning(&self, tti: u64) -> Time {
        Time(tti * self.tti.0)
    }

    /// First TTI that has not been run and does not begin before `now`.
    #[inline]
    pub fn from(&self, now: Time) -> u64 {
        if self.beginning(self.next) >= now { self.next } else { now.0.div_ceil(self.tti.0) }
    }

    /// When that begins.
    #[inline]
    pub fn next_beginning(&self, now: Time) -> Time {
        self.beginning(self.from(now))
    }

    /// TTIs that begin by `time`: the number of the first that begins after it.
    #[inline]
    pub fn begun_by(&self, time: Time) -> u64 {
        time.0 / self.tti.0 + 1
    }
}

/// When a bearer is woken next.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextWake(Option<Key>);

impl NextWake {
    /// The key under which it is.
    #[inline]
    pub fn key(&self) -> Option<Key> {
        self.0
    }

    /// Whether it is woken under `key`; it then sleeps until this is set.
    #[inline]
    pub fn take(&mut self, key: Key) -> bool {
        let wakes = self.0 == Some(key);
        if wakes {
            self.0 = None;
        }
        wakes
    }

    /// Sets it to `at`; if it is set to that already it keeps its place in the order of events.
    #[inline]
    pub fn set(&mut self, at: Option<Time>, key: impl FnOnce(Time) -> Key) {
        if at != self.0.map(|(at, _)| at) {
            self.0 = at.map(key);
        }
    }
}
