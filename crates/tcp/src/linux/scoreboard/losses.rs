//! What is lost: marking it, taking that back, and what is to be sent again.

use super::{Scoreboard, SentSegment};
use crate::linux::DUP_THRESH;

/// Number of a transmission in the order of sending that RACK has given up: no segment has it.
const GIVEN_UP: u64 = u64::MAX;

impl Scoreboard {
    /// Returns the number of segments given up and not reported delivered since, sent again or not (`lost_out`).
    pub fn lost_segments(&self) -> u64 {
        self.lost_bytes.div_ceil(self.mss)
    }

    /// Returns true if anything is lost, sent again or not.
    pub fn has_losses(&self) -> bool {
        self.lost_bytes > 0
    }

    /// Returns true if a repair is in flight.
    pub fn has_repairs(&self) -> bool {
        self.repaired_bytes > 0
    }

    /// Returns the number of segments whose repair is in flight (`retrans_out`).
    pub fn repairs(&self) -> u32 {
        self.segments.iter().filter(|segment| segment.repaired).count() as u32
    }

    /// Returns the number of repairs given up so far.
    pub fn repairs_lost(&self) -> u64 {
        self.repairs_lost
    }

    /// Returns the segments given up since this was last called.
    pub fn drain_given_up(&mut self) -> impl Iterator<Item = SentSegment> + '_ {
        self.given_up.drain(..)
    }

    /// Returns the first segment lost and not yet sent again, unless as much is being repaired as is lost
    /// (`tcp_xmit_retransmit_queue`).
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.repaired_bytes >= self.lost_bytes {
            return None;
        }
        self.lost_from = self.lost_from.max(self.first);
        while !self.get(self.lost_from)?.awaits_repair() {
            self.lost_from += 1;
        }
        Some(self.lost_from)
    }

    /// Gives up the last transmission of a segment (`tcp_mark_skb_lost`); returns its bytes, or 0 if that is
    /// not in flight.
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
            self.repaired_bytes -= bytes;
            self.repairs_lost += 1;
        } else {
            self.lost_bytes += bytes;
        }
        self.given_up.push(segment);
        self.pipe -= bytes;
        self.lost_from = self.lost_from.min(number);
        bytes
    }

    /// Takes back all marks: what was given up is in flight, beside its repair if there is one
    /// (`tcp_undo_cwnd_reduction`).
    #[cold]
    pub fn unmark_lost(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.lost = false);
        self.pipe += std::mem::take(&mut self.lost_bytes);
    }

    /// Marks what RFC 6675's `IsLost` calls lost: segments that were sent once and have at least
    /// `DupThresh` segments delivered beyond them. Returns the bytes.
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

    /// Marks transmissions in flight, oldest first. `visit` says of each whether it is lost, or `None` to stop.
    /// Returns the bytes newly lost.
    pub fn mark_in_order(&mut self, mut visit: impl FnMut(&SentSegment) -> Option<bool>) -> u64 {
        let (mut bytes, mut at) = (0, 0);
        while let Some(&(sent, number)) = self.order.get(at) {
            let current = self.current(sent, number).filter(|segment| !segment.awaits_repair());
            match current.map(&mut visit) {
                Some(None) => break,
                Some(Some(true)) => {
                    // It is not looked at again, also if it turns out to be late: Linux takes it from the list.
                    self.order[at].1 = GIVEN_UP;
                    bytes += self.mark_lost(number);
                }
                _ => {}
            }
            at += 1;
        }
        self.drop_stale();
        bytes
    }

    /// Marks all segments that are `lost`, whenever they were sent. Returns the bytes newly lost.
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
