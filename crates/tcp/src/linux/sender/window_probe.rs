//! RFC 9293, 3.8.6.1; Linux 6: `tcp_probe_timer` and its callees.

use nodeb_base::units::{Duration, Time};

use super::{Pending, Sender};
use crate::linux::FIRST_BYTE;
use crate::segment::Segment;

/// `tcp_probe0_when`.
const MAX_DOUBLINGS: u32 = 10;

impl Sender {
    /// `tcp_probe0_when`: the retransmission timeout, at least `min_rto`, doubled with each probe up to
    /// `max_rto`.
    fn probe_wait(&self) -> Duration {
        let base = self.rtt.rto().max(self.params.min_rto);
        Duration(base.0.saturating_mul(1 << self.window_probes.min(MAX_DOUBLINGS))).min(self.params.max_rto)
    }

    /// `tcp_check_probe_timer`: nothing outstanding and no room for the next segment, so only a probe can
    /// show that the window has opened.
    pub(super) fn update_window_probe_timer(&mut self, now: Time) {
        let waits = self.timers.pending() == Some(Pending::Window);
        if self.scoreboard.head().is_some() || self.scoreboard.is_exhausted() || self.timers.pacing.is_some()
        {
            if waits {
                self.timers.loss = None;
            }
        } else if !waits {
            self.window_probes = 0;
            self.timers.set(now, self.probe_wait(), Pending::Window);
        }
        if self.scoreboard.head().is_none() && self.timers.pending() != Some(Pending::Window) {
            self.timers.loss = None;
        }
    }

    /// `tcp_send_probe0`: the retransmission timeout is not backed off.
    #[cold]
    pub(super) fn on_window_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.counts.packets += 1;
        out.push(self.packet(now, FIRST_BYTE + self.scoreboard.una(), 0));
        self.window_probes += 1;
        self.timers.set(now, self.probe_wait(), Pending::Window);
    }

    /// `tcp_ack_probe`.
    pub(super) fn on_window_probe_ack(&mut self, now: Time) {
        if self.timers.pending() != Some(Pending::Window) {
            return;
        }
        if self.has_new() {
            self.window_probes = 0;
            self.timers.loss = None;
        } else {
            self.timers.set(now, self.probe_wait(), Pending::Window);
        }
    }
}
