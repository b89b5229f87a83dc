//! Record of the packets that a queue drops or marks, for the link's counters and events.

use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet};

/// Numbers of packets that a queue has dropped or marked so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Number of packets dropped because the queue was full.
    pub overflowed: u64,
    pub early: u64,
    /// Number of packets marked Congestion Experienced instead of being dropped (RFC 3168).
    pub marked: u64,
}

impl QueueCounts {
    /// Returns the number of packets dropped, either because the queue was full or earlier by the
    /// queue discipline.
    pub fn dropped(&self) -> u64 {
        self.overflowed + self.early
    }
}

/// Counters of the packets that a queue drops or marks.
#[derive(Debug, Default)]
pub struct DropLog {
    pub counts: QueueCounts,
    discarded: Vec<(Packet, Cause)>,
}

impl DropLog {
    pub fn take_discarded(&mut self) -> std::vec::Drain<'_, (Packet, Cause)> {
        self.discarded.drain(..)
    }

    /// Returns true if packets were accepted and dropped later, and [`Self::take_discarded`] has not returned
    /// them yet.
    #[inline]
    pub fn has_discarded(&self) -> bool {
        !self.discarded.is_empty()
    }

    /// Counts an arriving packet that the queue drops because it is full.
    pub fn refuse_overflow(&mut self) {
        self.counts.overflowed += 1;
    }

    /// Counts an arriving packet that the queue discipline drops although the queue has room.
    pub fn refuse_early(&mut self) {
        self.counts.early += 1;
    }

    /// Drops a waiting packet because the queue has exceeded its limit.
    pub fn discard_overflow(&mut self, packet: Packet) {
        self.counts.overflowed += 1;
        self.discarded.push((packet, Cause::Overflow));
    }

    /// Drops a waiting packet to signal congestion, although the queue is not full.
    pub fn discard_early(&mut self, packet: Packet) {
        self.counts.early += 1;
        self.discarded.push((packet, Cause::EarlyDrop));
    }

    /// Marks a packet as Congestion Experienced and counts it, if its transport is ECN-capable (RFC 3168,
    /// section 5). Returns false if it is not.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let is_capable = packet.ecn.is_capable();
        if is_capable {
            packet.ecn = EcnField::Ce;
            self.counts.marked += 1;
        }
        is_capable
    }
}
