//! F-RTO (RFC 5682, 3.1) as in Linux 6 (`tcp_process_loss`): after the first retransmission, an ACK of new
//! data releases new segments, and a delivery of a segment sent before and never retransmitted shows a
//! spurious timeout, in Linux even on the first ACK, but without SACK not on one that covers a
//! retransmission. Eifel detection (RFC 3522) comes before: F-RTO is needed without timestamps or `undo`, and
//! if the first ACK answers the retransmission although the others were only late.

use super::loss::Episode;
use super::sender::{AckResult, Sender};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frto {
    /// Undecided.
    Waiting,
    /// Step 2.b of RFC 5682: only new segments.
    Probing,
}

impl Sender {
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

    /// Step 1; not if F-RTO is off or in a recovery, whose retransmissions would be taken for originals.
    pub(super) fn begin_frto(&self) -> Option<Frto> {
        let may = !self.episode.repairs() || self.timeouts > 0;
        (self.params.frto && may).then_some(Frto::Waiting)
    }

    /// `tcp_xmit_recovery`: true if no new data was sent, so that lost segments may be retransmitted.
    pub(super) fn ends_frto_probe(&mut self) -> bool {
        let Episode::Loss { until, frto: Some(Frto::Probing) } = self.episode else {
            return false;
        };
        let has_sent_new = self.scoreboard.next() > until;
        self.episode = Episode::Loss { until, frto: has_sent_new.then_some(Frto::Waiting) };
        !has_sent_new
    }

    /// Step 2.b.
    pub(super) fn is_probing_timeout(&self) -> bool {
        matches!(self.episode, Episode::Loss { frto: Some(Frto::Probing), .. })
    }
}
