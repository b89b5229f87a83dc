//! What queues write down about the packets they drop or mark.

use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet};

/// What a queue has done to packets so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Packets dropped because the queue was full.
    pub overflowed: u64,
    /// Packets that the discipline dropped before the queue was full.
    pub early: u64,
    /// Packets marked instead (RFC 3168, CE).
    pub marked: u64,
}

impl QueueCounts {
    /// Packets dropped for whatever reason.
    pub fn dropped(&self) -> u64 {
        self.overflowed + self.early
    }
}

/// Counts drops and marks, and keeps the packets dropped after they had been taken until they are
/// fetched.
#[derive(Debug, Default)]
pub struct Ledger {
    /// What has been done so far.
    pub counts: QueueCounts,
    discarded: Vec<(Packet, Cause)>,
}

impl Ledger {
    /// Packets dropped after they had been taken, oldest first, since the last call, and why.
    pub fn take_discarded(&mut self) -> std::vec::Drain<'_, (Packet, Cause)> {
        self.discarded.drain(..)
    }

    /// Whether [`Self::take_discarded`] has any.
    #[inline]
    pub fn has_discarded(&self) -> bool {
        !self.discarded.is_empty()
    }

    /// The packet that arrives finds no room.
    pub fn refuse_overflow(&mut self) {
        self.counts.overflowed += 1;
    }

    /// The packet that arrives is dropped although there is room.
    pub fn refuse_early(&mut self) {
        self.counts.early += 1;
    }

    /// A packet that has waited is dropped to make room.
    pub fn discard_overflow(&mut self, packet: Packet) {
        self.counts.overflowed += 1;
        self.discarded.push((packet, Cause::Overflow));
    }

    /// A packet that has waited is dropped to signal congestion.
    pub fn discard_early(&mut self, packet: Packet) {
        self.counts.early += 1;
        self.discarded.push((packet, Cause::EarlyDrop));
    }

    /// Marks a packet whose transport understands that (RFC 3168, section 5); otherwise `false`.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let is_capable = packet.ecn.is_capable();
        if is_capable {
            packet.ecn = EcnField::Ce;
            self.counts.marked += 1;
        }
        is_capable
    }
}
