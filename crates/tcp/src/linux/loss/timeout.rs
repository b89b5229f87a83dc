//! The retransmission timeout, and the undoing of its effects if it was spurious.

use nodeb_base::units::Time;

use super::Episode;
use crate::linux::sender::{AckResult, Sender, Transmission};
use crate::linux::timers::Pending;
use crate::segment::Segment;

impl Sender {
    /// Handles the expiry of the retransmission timer: marks segments lost, reduces the window, and
    /// retransmits the first outstanding segment (RFC 6298, 5.4 to 5.6; Linux: `tcp_enter_loss`).
    #[cold]
    pub(in super::super) fn on_timeout(&mut self, now: Time, out: &mut Vec<Segment>) {
        let Some(head) = self.scoreboard.head() else {
            return;
        };
        self.counts.timeouts += 1;
        self.rtt.back_off();
        let again = self.is_reduced_already();
        let is_reneged = self.scoreboard.is_reneged();
        if is_reneged {
            self.scoreboard.forget_sacks();
        }
        if self.params.rack && !is_reneged {
            self.rack.detect_on_timeout(now, &mut self.scoreboard);
        } else {
            self.scoreboard.mark_where(|_, _| true);
        }
        self.report_losses(now);
        self.dupacks = 0;
        self.timers.loss = None;
        if !again {
            self.begin_undo(false);
        }
        self.probe = None;
        if self.episode == Episode::Open {
            self.reordering.on_timeout(self.scoreboard.sacked_segments());
        }
        let in_flight = self.scoreboard.pipe();
        self.control.report(|control| control.on_timeout(now, in_flight, again));
        self.usage.renew(now);
        self.episode = Episode::Loss { until: self.scoreboard.next(), frto: self.begin_frto() };
        self.send_cwr = self.params.ecn;
        // While the receiver's window is closed, the retransmission is a window probe, which does
        // not count here as a timeout (`tcp_retransmit_timer`).
        self.timeouts += u32::from(!self.is_window_closed());
        self.send(now, head, Transmission::Repair, out);
        self.timers.set(now, self.rtt.rto(), Pending::Timeout);
    }

    /// Returns true if the congestion window was already reduced for the outstanding data: in the
    /// present recovery, or by an earlier timeout since which nothing was acknowledged (Linux:
    /// `tcp_enter_loss`).
    fn is_reduced_already(&self) -> bool {
        let una = self.scoreboard.una();
        match self.episode {
            Episode::Open => false,
            Episode::Recovery { until, .. } => until > una,
            Episode::Loss { until, .. } => until > una && self.timeouts > 0,
        }
    }

    /// Evaluates an ACK after a timeout. Undoes the window reduction if the timeout was spurious,
    /// and finishes the recovery if all its data is acknowledged (`tcp_process_loss`).
    pub(super) fn evaluate_timeout(&mut self, now: Time, ack: &Segment, result: &AckResult) {
        if result.advances() && self.is_spurious_reduction(ack) {
            self.undo_timeout(now, self.params.sack);
        } else if self.is_spurious_timeout(result) {
            self.undo_timeout(now, true);
        } else if self.episode.until().is_some_and(|until| until <= self.scoreboard.una()) {
            self.finish(now, ack);
        }
    }

    /// Undoes the window reduction of a spurious timeout, and ends the episode if `opens` is true.
    /// Without SACK the end may be delayed, since duplicate ACKs of the retransmissions may still
    /// arrive (`tcp_try_undo_loss`).
    fn undo_timeout(&mut self, now: Time, opens: bool) {
        self.undo_reduction(now, true);
        self.timeouts = 0;
        if opens && !self.is_end_delayed() {
            self.reopen(now);
        }
    }
}
