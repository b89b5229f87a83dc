//! What queues write down about the packets they drop or mark.

use crate::packet::Packet;

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

/// Counts drops and marks and, when asked to, keeps the packets dropped after they had been taken.
#[derive(Debug, Default)]
pub struct Ledger {
    /// What has been done so far.
    pub counts: QueueCounts,
    discarded: Option<Vec<Packet>>,
}

impl Ledger {
    /// Keeps from now on every packet that is dropped after it had been taken.
    pub fn keep_discarded(&mut self) {
        self.discarded.get_or_insert_default();
    }

    /// Packets dropped after they had been taken, oldest first, since the last call.
    pub fn take_discarded(&mut self) -> Vec<Packet> {
        self.discarded.as_mut().map(std::mem::take).unwrap_or_default()
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
        self.keep(packet);
    }

    /// A packet that has waited is dropped to signal congestion.
    pub fn discard_early(&mut self, packet: Packet) {
        self.counts.early += 1;
        self.keep(packet);
    }

    /// Marks a packet whose transport understands that (RFC 3168, section 5); otherwise `false`.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        if packet.ecn.capable {
            packet.ecn.experienced = true;
            self.counts.marked += 1;
        }
        packet.ecn.capable
    }

    fn keep(&mut self, packet: Packet) {
        if let Some(discarded) = &mut self.discarded {
            discarded.push(packet);
        }
    }
}
