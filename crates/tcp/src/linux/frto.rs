//! F-RTO (RFC 5682, 3.1): tells by the ACKs that follow a timeout whether it was spurious, as Linux does it
//! (`tcp_process_loss`, version 6).
//!
//! After the first segment has been sent again, an ACK that advances lets new data go instead of what else was
//! outstanding. If any ACK delivers what was sent before the timeout and never again, that had only been late.
//! Linux believes this of the first ACK too, and without SACK, unless the ACK covers something sent again.
//!
//! Eifel detection (RFC 3522) goes first and knows by timestamps which transmission was answered. F-RTO is
//! there for connections without them, and for those whose first ACK answers the retransmission although
//! the rest of the window was only late.

use super::loss::Episode;
use super::sender::{Harvest, Sender};

/// How far the detection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frto {
    /// Nothing has been learned yet.
    Waiting,
    /// Step 2.b: only new segments are sent until the next ACK.
    Probing,
}

impl Sender {
    /// Leads an ACK through the detection; returns whether the timeout was spurious.
    pub(super) fn is_spurious_timeout(&mut self, harvest: &Harvest) -> bool {
        let Episode::Loss { until, frto: Some(_) } = self.episode else {
            return false;
        };
        // Step 3.b.
        if harvest.original {
            return true;
        }
        let has_sent_new = self.board.next() > until;
        let can_send_new = self.has_new();
        let frto = if has_sent_new {
            // Step 3.a: the new data arrived, the old did not.
            let is_real = harvest.sacked || harvest.duplicate;
            (!is_real).then_some(Frto::Waiting)
        } else if harvest.acked > 0 && self.board.una() < until {
            can_send_new.then_some(Frto::Probing)
        } else {
            Some(Frto::Waiting)
        };
        self.episode = Episode::Loss { until, frto };
        false
    }

    /// The detection at a timeout (step 1), unless a recovery is under way: its retransmissions would be
    /// taken for originals. Repeated timeouts begin anew.
    pub(super) fn begin_frto(&self) -> Option<Frto> {
        let may = !self.episode.repairs() || self.timeouts > 0;
        (self.params.frto && may).then_some(Frto::Waiting)
    }

    /// Whether only new segments may be sent.
    pub(super) fn is_probing_timeout(&self) -> bool {
        matches!(self.episode, Episode::Loss { frto: Some(Frto::Probing), .. })
    }
}
