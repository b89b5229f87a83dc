//! F-RTO (RFC 5682, 3.1) as in Linux (`tcp_process_loss`, version 6): detects from the ACKs after a timeout
//! whether the timeout was spurious.
//!
//! After the first segment is retransmitted, an ACK that advances releases new data instead of the other
//! outstanding segments. If an ACK delivers a segment that was sent before the timeout and never
//! retransmitted, it had only been late, and the timeout was spurious. Linux concludes this from the first
//! ACK already, and without SACK too, unless the ACK covers a retransmission.
//!
//! Eifel detection (RFC 3522) is applied first: timestamps show which transmission was answered. F-RTO serves
//! connections without timestamps, and those whose first ACK answers the retransmission although the rest of
//! the window was only late.

use super::loss::Episode;
use super::sender::{AckResult, Sender};

/// Stage of the detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frto {
    /// No evidence yet.
    Waiting,
    /// Step 2.b: the ACK being processed releases only new segments.
    Probing,
}

impl Sender {
    /// Processes an ACK. Returns true if it shows that the timeout was spurious.
    pub(super) fn is_spurious_timeout(&mut self, result: &AckResult) -> bool {
        let Episode::Loss { until, frto: Some(_) } = self.episode else {
            return false;
        };
        // Step 3.b.
        if result.original {
            return true;
        }
        let has_sent_new = self.scoreboard.next() > until;
        let can_send_new = self.has_new();
        let frto = if has_sent_new {
            // Step 3.a: the new data arrived, the old data did not.
            let is_real = result.sacked || result.duplicate;
            (!is_real).then_some(Frto::Waiting)
        } else if result.acked > 0 && self.scoreboard.una() < until {
            can_send_new.then_some(Frto::Probing)
        } else {
            Some(Frto::Waiting)
        };
        self.episode = Episode::Loss { until, frto };
        false
    }

    /// Returns the detection to start at a timeout (step 1). There is none if a recovery is in progress,
    /// whose retransmissions would be taken for originals, unless this is a repeated timeout, which restarts
    /// the detection.
    pub(super) fn begin_frto(&self) -> Option<Frto> {
        let may = !self.episode.repairs() || self.timeouts > 0;
        (self.params.frto && may).then_some(Frto::Waiting)
    }

    /// Ends step 2.b after the ACK has released what windows and pacer allow. The detection continues if new
    /// data was sent. If not, it is abandoned, and the function returns true: lost segments may be retransmitted
    /// (`tcp_xmit_recovery`).
    pub(super) fn ends_frto_probe(&mut self) -> bool {
        let Episode::Loss { until, frto: Some(Frto::Probing) } = self.episode else {
            return false;
        };
        let has_sent_new = self.scoreboard.next() > until;
        self.episode = Episode::Loss { until, frto: has_sent_new.then_some(Frto::Waiting) };
        !has_sent_new
    }

    /// Returns true if only new segments may be sent.
    pub(super) fn is_probing_timeout(&self) -> bool {
        matches!(self.episode, Episode::Loss { frto: Some(Frto::Probing), .. })
    }
}
