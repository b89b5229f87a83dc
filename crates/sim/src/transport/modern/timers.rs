//! The timers of a sender. Each is a time or absent; the connection is woken for the earliest.

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
}

impl Timers {
    /// The earliest.
    pub fn next(&self) -> Option<Time> {
        [self.rto, self.probe, self.reorder, self.persist, self.pacing].into_iter().flatten().min()
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
