//! RFC 2861; Linux: `tcp_cwnd_validate`.

use nodeb_base::units::Time;

use super::Sender;
use crate::linux::loss::Episode;

/// A round ends when data outstanding at its start is acknowledged, when window or pacer stop the sender, or
/// when more is outstanding without that; a period when the window is fully used, or has not grown for a
/// retransmission timeout.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowUsage {
    /// `max_packets_out`.
    outstanding: u64,
    /// `is_cwnd_limited`.
    limited: bool,
    /// `cwnd_usage_seq`.
    until: u64,
    /// `snd_cwnd_used`.
    used: u64,
    /// `snd_cwnd_stamp`.
    since: Time,
}

impl WindowUsage {
    pub(in super::super) fn begin_period(&mut self, now: Time) {
        self.used = 0;
        self.since = now;
    }

    /// `tcp_cong_avoid`: the window has changed or could have grown.
    pub(in super::super) fn renew(&mut self, now: Time) {
        self.since = now;
    }
}

impl Sender {
    /// `tcp_cwnd_application_limited`: an unused window is reduced after a retransmission timeout with
    /// `slow_start_after_idle`, but not in a recovery, in disorder, or while the send buffer blocks.
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

    /// `tcp_is_cwnd_limited`: in slow start also with more than half in use.
    pub(super) fn is_window_limited(&self) -> bool {
        let slow_start = self.control.is_slow_start;
        self.usage.limited || (slow_start && self.control.cwnd < 2 * self.usage.outstanding)
    }
}
