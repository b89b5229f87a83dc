//! Each write starts a new segment; segment 0 is the SYN.

use std::collections::VecDeque;

use crate::segment::HEADER_BYTES;

#[derive(Clone, Copy, Debug)]
struct Write {
    first: u64,
    /// Last segment plus 1.
    end: u64,
    last_payload: u32,
}

#[derive(Clone, Debug)]
pub struct Segments {
    payload: u64,
    /// With an unacknowledged segment, and always the newest.
    writes: VecDeque<Write>,
    end: u64,
    wire_bytes: u64,
    /// Removed by [`Self::forget_below`].
    forgotten_bytes: u64,
}

impl Segments {
    /// On the wire.
    pub fn new(packet_size: u64) -> Self {
        let payload = packet_size - u64::from(HEADER_BYTES);
        Self { payload, writes: VecDeque::new(), end: 1, wire_bytes: 0, forgotten_bytes: 0 }
    }

    /// 0 bytes have no effect.
    pub fn write(&mut self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let segments = bytes.div_ceil(self.payload);
        let last_payload = (bytes - (segments - 1) * self.payload) as u32;
        let first = self.end;
        self.end += segments;
        self.writes.push_back(Write { first, end: self.end, last_payload });
        self.wire_bytes += bytes + segments * u64::from(HEADER_BYTES);
    }

    /// Last segment plus 1; 1 without any write.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// With headers, each data segment once.
    pub fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    /// On the wire; not removed by [`Self::forget_below`].
    pub fn size_of(&self, seq: u64) -> u32 {
        if seq == 0 {
            return HEADER_BYTES;
        }
        // Most connections have only one write, so the first write is tried before a binary search.
        let at = match self.writes.front() {
            Some(front) if seq < front.end => 0,
            _ => self.writes.partition_point(|write| write.end <= seq),
        };
        let payload = match self.writes.get(at) {
            Some(write) if seq + 1 == write.end => write.last_payload,
            _ => self.payload as u32,
        };
        payload + HEADER_BYTES
    }

    /// The newest is always kept.
    pub fn forget_below(&mut self, una: u64) {
        while self.writes.len() > 1 && self.writes[0].end <= una {
            let write = self.writes.pop_front();
            self.forgotten_bytes += write.map_or(0, |write| self.bytes_below(write, write.end));
        }
    }

    fn bytes_below(&self, write: Write, seq: u64) -> u64 {
        match seq {
            _ if seq >= write.end => {
                (write.end - write.first - 1) * self.payload + u64::from(write.last_payload)
            }
            _ => seq.saturating_sub(write.first) * self.payload,
        }
    }

    /// `una` must have been passed to [`Self::forget_below`].
    pub fn bytes_up_to(&self, una: u64) -> u64 {
        // Of the writes still in the list, only the first one may be partly acknowledged.
        self.forgotten_bytes + self.writes.front().map_or(0, |write| self.bytes_below(*write, una))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_is_split_into_full_segments_and_rest() {
        let mut segments = Segments::new(1500);
        segments.write(50_000);
        assert_eq!(segments.end(), 36);
        assert_eq!(segments.wire_bytes(), 50_000 + 35 * 40);
        let sizes = [0, 1, 34, 35].map(|seq| segments.size_of(seq));
        assert_eq!(sizes, [40, 1500, 1500, 50_000 - 34 * 1460 + 40]);
    }

    #[test]
    fn writes_do_not_share_segments() {
        let mut segments = Segments::new(1500);
        for bytes in [100, 0, 1460, 1461] {
            segments.write(bytes);
        }
        assert_eq!(segments.end(), 5);
        assert_eq!([1, 2, 3, 4].map(|seq| segments.size_of(seq)), [140, 1500, 1500, 41]);
        let bytes = [1, 2, 3, 4, 5].map(|una| {
            let mut segments = segments.clone();
            segments.forget_below(una);
            segments.bytes_up_to(una)
        });
        assert_eq!(bytes, [0, 100, 1560, 3020, 3021]);
        segments.forget_below(3);
        assert_eq!(segments.bytes_up_to(3), 1560);
        assert_eq!([3, 4].map(|seq| segments.size_of(seq)), [1500, 41]);
    }
}
