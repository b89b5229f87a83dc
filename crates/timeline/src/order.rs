//! By the application.

use std::collections::BTreeMap;

use nodeb_tcp::numbering::Numbering;
use nodeb_tcp::segment::Segment;

#[derive(Debug)]
pub struct InOrder {
    numbering: Numbering,
    /// Segments or bytes as in `numbering`.
    next: u64,
    /// Beyond a gap, by first number: the number after the last, and the packet.
    waiting: BTreeMap<u64, (u64, usize)>,
}

impl InOrder {
    pub fn new(numbering: Numbering) -> Self {
        Self { numbering, next: 1, waiting: BTreeMap::new() }
    }

    /// `hand` gets every packet whose data can then be delivered.
    pub fn arrive(&mut self, segment: &Segment, packet: usize, mut hand: impl FnMut(usize)) {
        if !self.numbering.is_data(segment) {
            return;
        }
        let length = match self.numbering {
            Numbering::Segments => 1,
            Numbering::Bytes { header_bytes } => u64::from(segment.size - header_bytes),
        };
        let end = segment.seq + length;
        if end <= self.next {
            return; // All data of the segment were received before, so nothing can be delivered.
        }
        self.waiting.entry(segment.seq).or_insert((end, packet));
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() <= self.next) {
            let (end, packet) = first.remove();
            if end > self.next {
                self.next = end;
                hand(packet);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nodeb_tcp::segment::Kind;

    use super::*;

    #[test]
    fn data_beyond_a_gap_wait_for_it() {
        let mut order = InOrder::new(Numbering::Bytes { header_bytes: 40 });
        let mut arrive = |seq, bytes: u32, packet| {
            let segment = Segment { seq, size: 40 + bytes, ..Segment::control(0, Kind::Data) };
            let mut handed = Vec::new();
            order.arrive(&segment, packet, |packet| handed.push(packet));
            handed
        };
        assert_eq!(arrive(1, 100, 0), [0]);
        assert_eq!(arrive(201, 100, 1), [0; 0]);
        assert_eq!(arrive(1, 100, 2), [0; 0], "received before");
        assert_eq!(arrive(301, 50, 3), [0; 0]);
        assert_eq!(arrive(101, 100, 4), [4, 1, 3]);
    }
}
