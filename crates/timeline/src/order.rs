//! In-order delivery: finds the packets whose data the application receives when a packet arrives.

use std::collections::BTreeMap;

use nodeb_tcp::numbering::Numbering;
use nodeb_tcp::segment::Segment;

/// State of in-order delivery at the application that receives a connection's data.
#[derive(Debug)]
pub struct InOrder {
    numbering: Numbering,
    /// Number of the next data expected, in segments or bytes as in `numbering`.
    next: u64,
    /// Data received beyond a gap, by the number of their first segment or byte. The value is the
    /// number after their last segment or byte, and the index of the packet that carried the data.
    waiting: BTreeMap<u64, (u64, usize)>,
}

impl InOrder {
    /// Creates the state of a new connection, which has received no data.
    pub fn new(numbering: Numbering) -> Self {
        Self { numbering, next: 1, waiting: BTreeMap::new() }
    }

    /// Records the arrival of a packet, and calls `hand` with the index of every packet whose data can be
    /// delivered as a result.
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
