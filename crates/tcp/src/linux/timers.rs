//! The timers of a sender. Each is a time or absent; the connection is woken for the earliest.
//!
//! The timeout and the probe move on with every ACK. The time of waking does not move with them: an
//! alarm that comes too early finds nothing due and is set anew, which costs less than setting it
//! each time.

use super::jiffies;
use crate::units::{Duration, Time};

/// What the one timer of the retransmission queue waits for (Linux: `icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Retransmission timeout (RFC 6298).
    Timeout,
    /// Tail loss probe (RFC 8985, 7).
    Probe,
    /// End of the time for which RACK waits for reordered segments (RFC 8985, 6.2).
    Reorder,
}

/// Everything that a sender may wait for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timers {
    /// Loss: setting one of these stops the others.
    pub loss: Option<(Time, Pending)>,
    /// Probe of a closed window (RFC 9293, 3.8.6.1).
    pub persist: Option<Time>,
    /// The pacer lets the next segment go.
    pub pacing: Option<Time>,
    wake: Option<Time>,
}

impl Timers {
    /// When the connection must be woken: at the earliest timer or before.
    pub fn wake(&self) -> Option<Time> {
        self.wake
    }

    /// Sets the time of waking after the timers have changed.
    pub fn settle(&mut self, now: Time) {
        let earliest = self.earliest();
        let stays = self.wake.is_some_and(|wake| now < wake && earliest.is_some_and(|at| wake <= at));
        if !stays {
            self.wake = earliest;
        }
    }

    fn earliest(&self) -> Option<Time> {
        let at = |timer: Option<Time>| timer.map_or(u64::MAX, |at| at.0);
        let first = at(self.loss.map(|(at, _)| at)).min(at(self.persist)).min(at(self.pacing));
        (first < u64::MAX).then_some(Time(first))
    }

    /// What the timer of the retransmission queue waits for.
    pub fn pending(&self) -> Option<Pending> {
        self.loss.map(|(_, pending)| pending)
    }

    /// Sets it to run after `wait`, by the kernel's clock.
    #[inline(never)] // Many callers: one copy stays in the cache.
    pub fn set(&mut self, now: Time, wait: Duration, pending: Pending) {
        self.loss = Some((jiffies::expiry(now, wait), pending));
    }

    /// Stops a timer if its time has come; says whether it had.
    pub fn take_due(timer: &mut Option<Time>, now: Time) -> bool {
        let due = timer.is_some_and(|at| at <= now);
        if due {
            *timer = None;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waking_moves_forward_at_once_and_back_when_it_comes() {
        let mut timers = Timers { loss: Some((Time(100), Pending::Timeout)), ..Timers::default() };
        timers.settle(Time(0));
        assert_eq!(timers.wake(), Some(Time(100)));
        timers.loss = Some((Time(150), Pending::Timeout));
        timers.settle(Time(50));
        assert_eq!(timers.wake(), Some(Time(100)));
        timers.settle(Time(100));
        assert_eq!(timers.wake(), Some(Time(150)));
        timers.pacing = Some(Time(120));
        timers.settle(Time(110));
        assert_eq!(timers.wake(), Some(Time(120)));
        timers = Timers { wake: timers.wake, ..Timers::default() };
        timers.settle(Time(115));
        assert_eq!(timers.wake(), None);
    }
}
