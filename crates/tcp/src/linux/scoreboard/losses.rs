use super::{Scoreboard, SentSegment};
use crate::linux::DUP_THRESH;

/// In `Scoreboard::order`: RACK has marked the transmission lost.
const MARKED_LOST: u64 = u64::MAX;

impl Scoreboard {
    /// `lost_out`: retransmitted ones count, too.
    pub fn lost_segments(&self) -> u64 {
        self.lost_segments.into()
    }

    /// Even if retransmitted.
    pub fn has_losses(&self) -> bool {
        self.lost_segments > 0
    }

    pub fn has_repairs(&self) -> bool {
        self.repairs > 0
    }

    /// `retrans_out`.
    pub fn repairs(&self) -> u32 {
        self.repairs
    }

    /// Since the start.
    pub fn lost_retransmissions(&self) -> u64 {
        self.lost_retransmissions
    }

    pub fn drain_newly_lost(&mut self) -> impl Iterator<Item = SentSegment> + '_ {
        self.newly_lost.drain(..)
    }

    /// `tcp_xmit_retransmit_queue`: `None` also if as many retransmissions are in flight as segments are
    /// lost.
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.repairs >= self.lost_segments {
            return None;
        }
        self.lost_from = self.lost_from.max(self.first);
        while !self.get(self.lost_from)?.awaits_repair() {
            self.lost_from += 1;
        }
        Some(self.lost_from)
    }

    /// `tcp_mark_skb_lost`; bytes of the segment, 0 if it is not in flight.
    pub fn mark_lost(&mut self, number: u64) -> u64 {
        let Some(segment) =
            self.get_mut(number).filter(|segment| !segment.sacked && !segment.awaits_repair())
        else {
            return 0;
        };
        let was_lost = std::mem::replace(&mut segment.lost, true);
        segment.repaired &= !was_lost;
        let (segment, bytes) = (*segment, segment.bytes());
        if was_lost {
            self.repairs -= 1;
            self.lost_retransmissions += 1;
        } else {
            self.lost_segments += 1;
        }
        self.newly_lost.push(segment);
        self.lost_from = self.lost_from.min(number);
        bytes
    }

    /// `tcp_undo_cwnd_reduction`: lost segments are in flight again, in addition to their retransmissions.
    #[cold]
    pub fn unmark_lost(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.lost = false);
        self.lost_segments = 0;
    }

    /// RFC 6675's `IsLost`: sent only once, and `DupThresh` segments beyond it delivered; bytes newly marked.
    pub fn mark_by_count(&mut self) -> u64 {
        let (mut beyond, mut number, mut bytes) = (0, self.highest_sacked, 0);
        while number > self.first {
            number -= 1;
            let segment = &self.segments[(number - self.first) as usize];
            if segment.sacked {
                beyond += 1;
            } else if beyond >= DUP_THRESH && !segment.retransmitted {
                bytes += self.mark_lost(number);
            }
        }
        bytes
    }

    /// The oldest first, until `None`; bytes newly marked.
    pub fn mark_in_order(&mut self, mut visit: impl FnMut(&SentSegment) -> Option<bool>) -> u64 {
        let (mut bytes, mut at) = (0, 0);
        while let Some(&(sent, number)) = self.order.get(at) {
            let current = self.current(sent, number).filter(|segment| !segment.awaits_repair());
            match current.map(&mut visit) {
                Some(None) => break,
                Some(Some(true)) => {
                    // Linux removes the transmission from its list, so it is not visited again,
                    // even if its loss mark is removed later.
                    self.order[at].1 = MARKED_LOST;
                    bytes += self.mark_lost(number);
                }
                _ => {}
            }
            at += 1;
        }
        self.drop_stale();
        bytes
    }

    /// In ascending order; bytes newly marked.
    pub fn mark_where(&mut self, mut lost: impl FnMut(u64, &SentSegment) -> bool) -> u64 {
        let mut bytes = 0;
        for number in self.first..self.end() {
            if self.get(number).is_some_and(|segment| lost(number, segment)) {
                bytes += self.mark_lost(number);
            }
        }
        bytes
    }
}
