use nodeb_base::units::Time;

use super::Episode;
use crate::linux::sender::{AckResult, Sender, Transmission};
use crate::linux::timers::Pending;
use crate::segment::Segment;

impl Sender {
    /// RFC 6298, 5.4 to 5.6; Linux: `tcp_enter_loss`.
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

    /// `tcp_enter_loss`: in the present recovery, or by an earlier timeout since which nothing was
    /// acknowledged.
    fn is_reduced_already(&self) -> bool {
        let una = self.scoreboard.una();
        match self.episode {
            Episode::Open => false,
            Episode::Recovery { until, .. } => until > una,
            Episode::Loss { until, .. } => until > una && self.timeouts > 0,
        }
    }

    /// `tcp_process_loss`.
    pub(super) fn evaluate_timeout(&mut self, now: Time, ack: &Segment, result: &AckResult) {
        if result.advances() && self.is_spurious_reduction(ack) {
            self.undo_timeout(now, self.params.sack);
        } else if self.is_spurious_timeout(result) {
            self.undo_timeout(now, true);
        } else if self.episode.until().is_some_and(|until| until <= self.scoreboard.una()) {
            self.finish(now, ack);
        }
    }

    /// `tcp_try_undo_loss`: without SACK the end may be delayed by duplicate ACKs of retransmissions.
    fn undo_timeout(&mut self, now: Time, opens: bool) {
        self.undo_reduction(now, true);
        self.timeouts = 0;
        if opens && !self.is_end_delayed() {
            self.reopen(now);
        }
    }
}
