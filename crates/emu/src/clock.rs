//! The clock that drives a world, and the timer that wakes the driver.
//!
//! Time is `CLOCK_MONOTONIC`, which nobody can set; its zero is the moment at which the world begins. It stands still
//! while the machine sleeps, and `CLOCK_BOOTTIME`, which goes on, tells by how much.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nodeb_base::units::Time;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use crate::error::{Result, system};

const SECOND: i64 = 1_000_000_000;

/// A clock whose zero is when it was made.
#[derive(Debug)]
pub struct Clock {
    zero: i64,
    /// By how much the clock that goes on in sleep was ahead.
    ahead: i64,
}

impl Default for Clock {
    fn default() -> Self {
        let zero = read(ClockId::Monotonic);
        Self { zero, ahead: read(ClockId::Boottime) - zero }
    }
}

impl Clock {
    /// The time since zero.
    pub fn now(&self) -> Time {
        Time((read(ClockId::Monotonic) - self.zero).max(0) as u64)
    }

    /// How long the machine has slept since zero.
    pub fn slept(&self) -> Duration {
        let ahead = read(ClockId::Boottime) - read(ClockId::Monotonic);
        Duration::from_nanos((ahead - self.ahead).max(0) as u64)
    }
}

fn read(clock: ClockId) -> i64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    tv_sec * SECOND + tv_nsec
}

/// Wakes whoever waits for it at a time of a clock.
#[derive(Debug)]
pub struct Timer {
    fd: OwnedFd,
    zero: i64,
    set: Option<Time>,
}

impl Timer {
    /// A timer of a clock that is not set.
    ///
    /// # Errors
    /// The system's.
    pub fn new(clock: &Clock) -> Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(system("make a timer"))?;
        Ok(Self { fd, zero: clock.zero, set: None })
    }

    /// Goes off at `at`, or at once if that is past.
    ///
    /// # Errors
    /// The system's.
    pub fn set(&mut self, at: Time) -> Result<()> {
        if self.set == Some(at) {
            return Ok(());
        }
        let at_ns = self.zero.saturating_add(i64::try_from(at.0).unwrap_or(i64::MAX)).max(1);
        let value = Timespec { tv_sec: at_ns / SECOND, tv_nsec: at_ns % SECOND };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &once).map_err(system("set its timer"))?;
        self.set = Some(at);
        Ok(())
    }

    /// It has gone off.
    pub fn gone_off(&mut self) {
        self.set = None;
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};

    #[test]
    fn a_timer_goes_off_at_its_time_and_not_before() {
        let clock = Clock::default();
        let mut timer = Timer::new(&clock).unwrap();
        let at = Time(clock.now().0 + 20_000_000);
        timer.set(at).unwrap();
        poll(&mut [PollFd::new(&timer, PollFlags::IN)], None).unwrap();
        assert!(clock.now() >= at);
    }

    #[test]
    fn a_time_that_is_past_is_now() {
        let clock = Clock::default();
        let mut timer = Timer::new(&clock).unwrap();
        timer.set(Time::ZERO).unwrap();
        poll(&mut [PollFd::new(&timer, PollFlags::IN)], None).unwrap();
    }

    #[test]
    fn nobody_slept_here() {
        assert!(Clock::default().slept() < Duration::from_millis(100));
    }
}
