//! Record of the packets that a queue drops or marks.

use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet};

/// Counts of the packets that a queue has dropped or marked so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Packets dropped because the queue was full.
    pub overflowed: u64,
    /// Packets that the discipline dropped before the queue was full.
    pub early: u64,
    /// Packets marked Congestion Experienced instead of being dropped (RFC 3168).
    pub marked: u64,
}

impl QueueCounts {
    /// Returns the number of packets dropped because the queue was full or by the discipline before
    /// that.
    pub fn dropped(&self) -> u64 {
        self.overflowed + self.early
    }
}

/// Counters of a queue's drops and marks. Also keeps the packets that were dropped after they had been
/// accepted, until the link takes them.
#[derive(Debug, Default)]
pub struct DropLog {
    /// Counters since the start of the run.
    pub counts: QueueCounts,
    discarded: Vec<(Packet, Cause)>,
}

impl DropLog {
    /// Removes and returns the packets dropped after they had been accepted, oldest first, each with the cause.
    pub fn take_discarded(&mut self) -> std::vec::Drain<'_, (Packet, Cause)> {
        self.discarded.drain(..)
    }

    /// Returns true if [`Self::take_discarded`] would return any packet.
    #[inline]
    pub fn has_discarded(&self) -> bool {
        !self.discarded.is_empty()
    }

    /// Counts an arriving packet that is dropped because the queue is full.
    pub fn refuse_overflow(&mut self) {
        self.counts.overflowed += 1;
    }

    /// Counts an arriving packet that is dropped although there is room.
    pub fn refuse_early(&mut self) {
        self.counts.early += 1;
    }

    /// Drops a packet that was waiting, to make room.
    pub fn discard_overflow(&mut self, packet: Packet) {
        self.counts.overflowed += 1;
        self.discarded.push((packet, Cause::Overflow));
    }

    /// Drops a packet that was waiting, to signal congestion.
    pub fn discard_early(&mut self, packet: Packet) {
        self.counts.early += 1;
        self.discarded.push((packet, Cause::EarlyDrop));
    }

    /// Marks a packet if its transport is ECN-capable (RFC 3168, section 5). Returns false if it is
    /// not.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let is_capable = packet.ecn.is_capable();
        if is_capable {
            packet.ecn = EcnField::Ce;
            self.counts.marked += 1;
        }
        is_capable
    }
}
