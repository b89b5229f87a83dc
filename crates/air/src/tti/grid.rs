use nodeb_base::units::{Duration, Time};

/// TTI 0 is at time zero.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    tti: Duration,
    /// First TTI that is not simulated yet.
    pub next: u64,
}

impl Grid {
    pub fn new(tti: Duration) -> Self {
        Self { tti, next: 0 }
    }

    #[inline]
    pub fn beginning(&self, tti: u64) -> Time {
        Time(tti * self.tti.0)
    }

    /// First TTI not simulated that starts at or after `now`.
    #[inline]
    pub fn from(&self, now: Time) -> u64 {
        if self.beginning(self.next) >= now { self.next } else { now.0.div_ceil(self.tti.0) }
    }

    /// Of the first TTI not simulated that starts at or after `now`.
    #[inline]
    pub fn next_beginning(&self, now: Time) -> Time {
        self.beginning(self.from(now))
    }

    /// This is also the number of the first TTI that starts after `time`.
    #[inline]
    pub fn begun_by(&self, time: Time) -> u64 {
        time.0 / self.tti.0 + 1
    }
}
