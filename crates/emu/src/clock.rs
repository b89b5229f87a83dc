//! `CLOCK_MONOTONIC`, which no user can set, from the start of the world. It stops while the machine is
//! suspended, `CLOCK_BOOTTIME` continues: the increase of their difference is the time in suspend.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nodeb_base::units::Time;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use crate::error::{Result, system};

const SECOND: i64 = 1_000_000_000;

/// Monotonic clock that reads zero at its creation.
#[derive(Debug)]
pub struct Clock {
    zero: i64,
    /// `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC` at creation, ns.
    ahead: i64,
}

impl Default for Clock {
    fn default() -> Self {
        let zero = read(ClockId::Monotonic);
        Self { zero, ahead: read(ClockId::Boottime) - zero }
    }
}

impl Clock {
    pub fn now(&self) -> Time {
        Time((read(ClockId::Monotonic) - self.zero).max(0) as u64)
    }

    pub fn slept(&self) -> Duration {
        let ahead = read(ClockId::Boottime) - read(ClockId::Monotonic);
        Duration::from_nanos((ahead - self.ahead).max(0) as u64)
    }
}

fn read(clock: ClockId) -> i64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    tv_sec * SECOND + tv_nsec
}

/// timerfd: readable at a given time of a [`Clock`].
#[derive(Debug)]
pub struct Timer {
    fd: OwnedFd,
    zero: i64,
    set: Option<Time>,
}

impl Timer {
    /// Creates a disarmed timer that uses the time of `clock`.
    ///
    /// # Errors
    /// Returns an error if the system call fails.
    pub fn new(clock: &Clock) -> Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(system("make a timer"))?;
        Ok(Self { fd, zero: clock.zero, set: None })
    }

    /// Arms the timer for `at`. It expires at once if `at` is in the past.
    ///
    /// # Errors
    /// Returns an error if the system call fails.
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

    /// Records that the timer has expired, so that it can be armed for the same time again.
    pub fn expired(&mut self) {
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
    fn timer_expires_at_its_time_and_not_before() {
        let clock = Clock::default();
        let mut timer = Timer::new(&clock).unwrap();
        let at = Time(clock.now().0 + 20_000_000);
        timer.set(at).unwrap();
        poll(&mut [PollFd::new(&timer, PollFlags::IN)], None).unwrap();
        assert!(clock.now() >= at);
    }

    #[test]
    fn timer_set_in_the_past_expires_at_once() {
        let clock = Clock::default();
        let mut timer = Timer::new(&clock).unwrap();
        timer.set(Time::ZERO).unwrap();
        poll(&mut [PollFd::new(&timer, PollFlags::IN)], None).unwrap();
    }

    #[test]
    fn new_clock_has_no_time_in_suspend() {
        assert!(Clock::default().slept() < Duration::from_millis(100));
    }
}
