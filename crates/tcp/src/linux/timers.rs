//! The timers of a sender. Each is a time or absent; the connection is woken for the earliest.
//!
//! The timeout and the probe move on with every ACK. The time of waking does not move with them: an
//! alarm that comes too early finds nothing due and is set anew, which costs less than setting it
//! each time.

use crate::units::Time;

/// Everything that a sender may wait for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timers {
    /// Retransmission timeout (RFC 6298).
    pub rto: Option<Time>,
    /// Tail loss probe (RFC 8985, 7).
    pub probe: Option<Time>,
    /// End of the time for which RACK waits for reordered segments (RFC 8985, 6.2).
    pub reorder: Option<Time>,
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
        let first = at(self.rto).min(at(self.probe)).min(at(self.reorder));
        let first = first.min(at(self.persist)).min(at(self.pacing));
        (first < u64::MAX).then_some(Time(first))
    }

    /// Stops the timers that wait for an answer: nothing is outstanding.
    pub fn stop_waiting(&mut self) {
        (self.rto, self.probe, self.reorder) = (None, None, None);
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
        let mut timers = Timers { rto: Some(Time(100)), ..Timers::default() };
        timers.settle(Time(0));
        assert_eq!(timers.wake(), Some(Time(100)));
        timers.rto = Some(Time(150));
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
