use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    pub overflowed: u64,
    pub early: u64,
    /// Congestion Experienced (RFC 3168).
    pub marked: u64,
}

impl QueueCounts {
    /// By a full queue or earlier.
    pub fn dropped(&self) -> u64 {
        self.overflowed + self.early
    }
}

impl std::iter::Sum for QueueCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, of| Self {
            overflowed: sum.overflowed + of.overflowed,
            early: sum.early + of.early,
            marked: sum.marked + of.marked,
        })
    }
}

#[derive(Debug, Default)]
pub struct DropLog {
    pub counts: QueueCounts,
    discarded: Vec<(Packet, Cause)>,
}

impl DropLog {
    pub fn take_discarded(&mut self) -> std::vec::Drain<'_, (Packet, Cause)> {
        self.discarded.drain(..)
    }

    /// That [`Self::take_discarded`] has not returned yet.
    #[inline]
    pub fn has_discarded(&self) -> bool {
        !self.discarded.is_empty()
    }

    pub fn refuse_overflow(&mut self) {
        self.counts.overflowed += 1;
    }

    pub fn refuse_early(&mut self) {
        self.counts.early += 1;
    }

    pub fn discard_overflow(&mut self, packet: Packet) {
        self.counts.overflowed += 1;
        self.discarded.push((packet, Cause::Overflow));
    }

    pub fn discard_early(&mut self, packet: Packet) {
        self.counts.early += 1;
        self.discarded.push((packet, Cause::EarlyDrop));
    }

    /// Returns false if the transport is not ECN-capable (RFC 3168, section 5).
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let is_capable = packet.ecn.is_capable();
        if is_capable {
            packet.ecn = EcnField::Ce;
            self.counts.marked += 1;
        }
        is_capable
    }
}
