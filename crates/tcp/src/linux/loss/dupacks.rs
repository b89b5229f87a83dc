//! Without SACK (RFC 6582, RFC 6937).

use nodeb_base::units::Time;

use super::Episode;
use crate::linux::control::Phase;
use crate::linux::sender::{AckResult, Sender};

impl Sender {
    /// A duplicate ACK delivers a segment beyond the gap, which the ACK that fills the gap must not count
    /// again (RFC 6937, 3).
    #[cold]
    pub(in super::super) fn estimate_deliveries(&mut self, now: Time, result: &mut AckResult) {
        // After a timeout a duplicate ACK counts only if new data was sent, since only new data can
        // cause it (`tcp_process_loss`). While the end of an episode is delayed, no duplicate ACK
        // counts (`tcp_fastretrans_alert` returns before `tcp_add_reno_sack`).
        let is_loss = self.episode.phase() == Phase::Loss;
        let has_sent_new = self.episode.until().is_none_or(|until| self.scoreboard.next() > until);
        if result.duplicate && (self.is_end_delayed() || (is_loss && !has_sent_new)) {
            return;
        }
        if result.duplicate {
            self.dupacks += 1;
            if !self.limit_duplicates(0) {
                (result.segments, result.delivered) = (1, self.mss);
            }
        } else if result.acked > 0 {
            let (segments, known) = (result.acked_segments, u64::from(self.dupacks));
            let unknown = segments.saturating_sub(known).max(1);
            result.delivered = result.acked * unknown / segments.max(1);
            result.segments = unknown;
            self.dupacks = known.saturating_sub(segments.saturating_sub(1)) as u32;
            self.limit_duplicates(segments);
            if !self.episode.is_recovery() {
                self.dupacks = 0;
            }
            // Without SACK it is unknown which of the acknowledged segments arrived before the
            // retransmission. So an ACK that covers a retransmission does not count as evidence of
            // late originals.
            result.original &= !result.repeated;
        }
        if result.delivered > 0 {
            self.sampler.count(now, result.delivered);
        }
    }

    /// `tcp_check_reno_reordering`: at most the outstanding segments that can have arrived, not those marked
    /// lost or else the first; true if there were more, so the degree of reordering grows.
    #[cold]
    fn limit_duplicates(&mut self, acked: u64) -> bool {
        let outstanding = self.scoreboard.outstanding_segments();
        let holes = self.scoreboard.lost_segments().max(1).min(outstanding);
        let max = outstanding - holes;
        let too_many = u64::from(self.dupacks) > max;
        if too_many {
            self.dupacks = max as u32;
            self.reordering.record_duplicates(outstanding + acked);
        }
        too_many
    }

    /// RFC 6582, 3.2, step 2; Linux: `tcp_is_non_sack_preventing_reopen`: duplicate ACKs of retransmissions
    /// must not start another episode; losses in the meantime are left to the timeout.
    pub(super) fn is_end_delayed(&self) -> bool {
        !self.params.sack && self.episode.repairs() && self.episode.until() == Some(self.scoreboard.una())
    }

    /// RFC 6582: at the degree of reordering, or on a partial ACK in a recovery; bytes newly marked.
    #[cold]
    pub(super) fn find_loss_by_dupacks(&mut self, result: &AckResult) -> u64 {
        let is_lost = |number: &u64| self.scoreboard.get(*number).is_some_and(|segment| segment.lost);
        let Some(head) = self.scoreboard.head().filter(|head| !self.is_end_delayed() && !is_lost(head))
        else {
            return 0;
        };
        let lost = match self.episode {
            Episode::Open | Episode::Recovery { repairs: false, .. } => {
                self.dupacks >= self.reordering.degree()
            }
            Episode::Recovery { .. } => result.acked > 0,
            Episode::Loss { .. } => false,
        };
        if lost { self.scoreboard.mark_lost(head) } else { 0 }
    }
}
