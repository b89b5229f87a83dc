//! The clock of a bearer that works in TTIs.

use crate::engine::Key;
use crate::units::{Duration, Time};

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
        now.0.div_ceil(self.tti.0).max(self.next)
    }

    /// TTIs that begin by `time`: the number of the first that begins after it.
    #[inline]
    pub fn begun_by(&self, time: Time) -> u64 {
        time.0 / self.tti.0 + 1
    }
}

/// When a bearer is woken next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alarm(Option<Key>);

impl Alarm {
    /// The key under which it rings.
    #[inline]
    pub fn key(&self) -> Option<Key> {
        self.0
    }

    /// Whether it rings under `key`; it is then silent until it is set.
    #[inline]
    pub fn ring(&mut self, key: Key) -> bool {
        let rings = self.0 == Some(key);
        if rings {
            self.0 = None;
        }
        rings
    }

    /// Sets it to `at`; an alarm that is set to that already keeps its place in the order of events.
    #[inline]
    pub fn set(&mut self, at: Option<Time>, key: impl FnOnce(Time) -> Key) {
        if at != self.0.map(|(at, _)| at) {
            self.0 = at.map(key);
        }
    }
}
