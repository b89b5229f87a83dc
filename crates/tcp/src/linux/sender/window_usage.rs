//! Record of how much of the congestion window the application uses (RFC 2861, as Linux implements
//! it: `tcp_cwnd_validate`).

use nodeb_base::units::Time;

use super::Sender;
use crate::linux::loss::Episode;

/// Use of the congestion window in the present round and in the present period.
///
/// A round ends when all data outstanding at its start is acknowledged. A new round starts early if
/// the window or the pacer stops the sender. It also starts early if the outstanding data grows in
/// a round in which neither has stopped the sender. A period ends when the window is fully used, or
/// if the window has not grown for a retransmission timeout.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowUsage {
    /// Largest room of the window in bytes that outstanding segments took in the present round
    /// (`max_packets_out`).
    outstanding: u64,
    /// Whether the congestion window or the pacer limited the sender in the present round
    /// (`is_cwnd_limited`).
    limited: bool,
    /// Number of acknowledged bytes that ends the present round (`cwnd_usage_seq`).
    until: u64,
    /// Largest room of the window in bytes that outstanding segments took in the present period
    /// (`snd_cwnd_used`).
    used: u64,
    /// Time from which the retransmission timeout counts that ends the period (`snd_cwnd_stamp`).
    since: Time,
}

impl WindowUsage {
    /// Starts a period at `now`, in which no part of the window has been used yet.
    pub(in super::super) fn begin_period(&mut self, now: Time) {
        self.used = 0;
        self.since = now;
    }

    /// Restarts the time after which the period ends, because the window has changed or could have
    /// grown (`tcp_cong_avoid`).
    pub(in super::super) fn renew(&mut self, now: Time) {
        self.since = now;
    }
}

impl Sender {
    /// Records that new data was sent or, if `limited` is true, that the congestion window or the
    /// pacer stopped the sender. If `slow_start_after_idle` is on and the application has not fully
    /// used the window for a retransmission timeout, the window is reduced
    /// (`tcp_cwnd_application_limited`). It is not reduced in a recovery, while segments are missing
    /// or retransmitted, or while the send buffer blocks the application.
    pub(super) fn record_usage(&mut self, now: Time, limited: bool) {
        let outstanding = self.scoreboard.outstanding_segments() * self.mss;
        let usage = &mut self.usage;
        let new_round = self.scoreboard.una() >= usage.until;
        if new_round || limited || (!usage.limited && outstanding > usage.outstanding) {
            *usage = WindowUsage { outstanding, limited, until: self.scoreboard.next(), ..*usage };
        }
        if self.is_window_limited() {
            self.usage.begin_period(now);
            return;
        }
        self.usage.used = self.usage.used.max(outstanding);
        if self.params.slow_start_after_idle && now.since(self.usage.since) >= self.rtt.rto() {
            if self.episode == Episode::Open && !self.disordered && !self.buffer.is_blocked() {
                let used = self.usage.used;
                self.control.report(|control| control.on_unused(used));
                self.usage.used = 0;
            }
            self.usage.renew(now);
        }
    }

    /// Returns true if the congestion window or the pacer limits the sender. In slow start the
    /// window also counts as a limit if more than half of it is in use (`tcp_is_cwnd_limited`).
    pub(super) fn is_window_limited(&self) -> bool {
        let slow_start = self.control.is_slow_start;
        self.usage.limited || (slow_start && self.control.cwnd < 2 * self.usage.outstanding)
    }
}
