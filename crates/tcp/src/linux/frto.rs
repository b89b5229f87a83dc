//! F-RTO (RFC 5682, 3.1) as in Linux 6 (`tcp_process_loss`): detects from the ACKs after a timeout
//! whether the timeout was spurious.
//!
//! After the first segment is retransmitted, an ACK of new data releases new segments instead of
//! retransmissions of the other outstanding segments. If an ACK delivers a segment that was sent
//! before the timeout and never retransmitted, that segment had only been late, and the timeout was
//! spurious. Linux draws this conclusion even from the first ACK, but without SACK not from an ACK
//! that covers a retransmission.
//!
//! Eifel detection (RFC 3522) is applied before F-RTO: timestamps show which transmission an ACK
//! answers. So F-RTO is needed only in two cases: on connections without timestamps or with the key
//! `undo` off, and if the first ACK answers the retransmission although all other segments of the
//! window were only late.

use super::loss::Episode;
use super::sender::{AckResult, Sender};

/// Stage of F-RTO's detection of a spurious timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frto {
    /// No ACK has yet shown whether the timeout was spurious.
    Waiting,
    /// Step 2.b of RFC 5682: the ACK that is being processed releases only new segments.
    Probing,
}

impl Sender {
    /// Processes an ACK after a timeout. Returns true if the ACK shows that the timeout was
    /// spurious.
    pub(super) fn is_spurious_timeout(&mut self, result: &AckResult) -> bool {
        let Episode::Loss { until, frto: Some(_) } = self.episode else {
            return false;
        };
        // Step 3.b: the ACK delivers a segment that was sent before the timeout and never
        // retransmitted.
        if result.original {
            return true;
        }
        let has_sent_new = self.scoreboard.next() > until;
        let can_send_new = self.has_new();
        let frto = if has_sent_new {
            // Step 3.a: a duplicate ACK or SACK shows that new data arrived but old data did not,
            // so the old data was lost.
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

    /// Returns the stage with which the detection starts at a timeout (step 1), or `None` if the
    /// timeout is not examined. It is not examined if F-RTO is off, or if a recovery is in
    /// progress, since retransmissions of the recovery would be taken for originals. A repeated
    /// timeout restarts the detection.
    pub(super) fn begin_frto(&self) -> Option<Frto> {
        let may = !self.episode.repairs() || self.timeouts > 0;
        (self.params.frto && may).then_some(Frto::Waiting)
    }

    /// Ends step 2.b after the ACK has released what windows and pacer allow. The detection
    /// continues if new data was sent. Otherwise it ends, and the function returns true, which
    /// means that lost segments may be retransmitted (`tcp_xmit_recovery`).
    pub(super) fn ends_frto_probe(&mut self) -> bool {
        let Episode::Loss { until, frto: Some(Frto::Probing) } = self.episode else {
            return false;
        };
        let has_sent_new = self.scoreboard.next() > until;
        self.episode = Episode::Loss { until, frto: has_sent_new.then_some(Frto::Waiting) };
        !has_sent_new
    }

    /// Returns true if the sender may send only new segments and no retransmissions on this ACK
    /// (step 2.b).
    pub(super) fn is_probing_timeout(&self) -> bool {
        matches!(self.episode, Episode::Loss { frto: Some(Frto::Probing), .. })
    }
}
