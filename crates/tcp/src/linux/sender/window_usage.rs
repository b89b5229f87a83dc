//! Use of the congestion window by the application (RFC 7661, as Linux implements it: `tcp_cwnd_validate`).

use nodeb_base::units::Time;

use super::Sender;
use crate::linux::loss::Episode;

/// Use of the congestion window in the present round and in the present period.
///
/// A round ends when all data outstanding at its start is acknowledged. A period ends when the window is
/// fully used, or after a timeout without growth.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowUsage {
    /// Largest number of bytes outstanding in this round (`max_packets_out`).
    outstanding: u64,
    /// Whether the window limited the sender in this round (`is_cwnd_limited`).
    limited: bool,
    /// Byte whose acknowledgement ends the round (`cwnd_usage_seq`).
    until: u64,
    /// Largest number of bytes outstanding in this period (`snd_cwnd_used`).
    used: u64,
    /// Time from which the timeout of the period counts (`snd_cwnd_stamp`).
    since: Time,
}

impl WindowUsage {
    /// Starts a new period at `now`.
    pub(in super::super) fn begin_period(&mut self, now: Time) {
        self.used = 0;
        self.since = now;
    }

    /// Restarts the timeout of the period, because the window has changed or could have grown
    /// (`tcp_cong_avoid`).
    pub(in super::super) fn renew(&mut self, now: Time) {
        self.since = now;
    }
}

impl Sender {
    /// Records that new data was sent or, if `limited` is true, that the congestion window
    /// prevented it. If the application has not fully used the window for a retransmission timeout,
    /// the window is reduced (`tcp_cwnd_application_limited`).
    pub(super) fn record_usage(&mut self, now: Time, limited: bool) {
        let outstanding = self.scoreboard.next() - self.scoreboard.una();
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

    /// Returns true if the congestion window limits the sender. In slow start this is also the case
    /// if more than half of the window is in use (`tcp_is_cwnd_limited`).
    pub(super) fn is_window_limited(&self) -> bool {
        let slow_start = self.control.is_slow_start;
        self.usage.limited || (slow_start && self.control.cwnd < 2 * self.usage.outstanding)
    }
}
