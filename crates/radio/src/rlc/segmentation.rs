//! Packets (SDUs) cut into the payloads of PDUs of one size.

use std::collections::VecDeque;

/// A part of an SDU in a PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Number of the SDU.
    pub sdu: u64,
    /// Where in it the part begins.
    pub offset: u32,
    /// Its bytes.
    pub bytes: u32,
    /// Whether the SDU ends here.
    pub last: bool,
}

/// An SDU that has not been cut up to its end.
#[derive(Clone, Copy, Debug)]
struct Sdu {
    number: u64,
    offset: u32,
    left: u32,
}

/// SDUs waiting to be cut.
#[derive(Debug)]
pub struct Segmenter {
    payload: u32,
    /// Bytes of a length indicator, where SDUs share PDUs.
    indicator: Option<u32>,
    queue: VecDeque<Sdu>,
    /// Bytes left in it.
    bytes: u64,
}

impl Segmenter {
    /// For PDUs of `payload` bytes. With an `indicator`, which takes so many of them, the next SDU
    /// begins behind the end of the last (TS 25.322, 9.2.2.8); without, the rest is padding.
    pub fn new(payload: u32, indicator: Option<u32>) -> Self {
        Self { payload, indicator, queue: VecDeque::new(), bytes: 0 }
    }

    /// Adds an SDU.
    pub fn push(&mut self, number: u64, bytes: u32) {
        self.queue.push_back(Sdu { number, offset: 0, left: bytes });
        self.bytes += u64::from(bytes);
    }

    /// Whether nothing is left to cut.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The first SDU of which something is left, and whether it has been cut into.
    pub fn front(&self) -> Option<(u64, bool)> {
        self.queue.front().map(|sdu| (sdu.number, sdu.offset > 0))
    }

    /// The first packet of which something is left.
    pub fn packet(&self) -> Option<u64> {
        self.queue.front().map(|sdu| sdu.number)
    }

    /// PDUs that what is left fills, or at most one more for each SDU.
    pub fn pdus(&self) -> usize {
        let sdus = self.queue.len() as u64;
        let pdus = match self.indicator {
            Some(indicator) => (self.bytes + sdus * u64::from(indicator)).div_ceil(u64::from(self.payload)),
            None => self.bytes / u64::from(self.payload) + sdus,
        };
        pdus as usize
    }

    /// Forgets all SDUs before number `kept`.
    pub fn drop_before(&mut self, kept: u64) {
        while let Some(sdu) = self.queue.front().filter(|sdu| sdu.number < kept) {
            self.bytes -= u64::from(sdu.left);
            self.queue.pop_front();
        }
    }

    /// The contents of the next PDU; empty when nothing is left.
    ///
    /// An SDU that ends with its PDU needs no indicator (the special value of the HE field, 9.2.2.7).
    /// Where it ends so short of it that no indicator fits, the rest is padding and the next PDU
    /// says so; the bytes for that are left out.
    pub fn next_pdu(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut room = self.payload;
        while room > 0
            && let Some(sdu) = self.queue.front_mut()
        {
            let bytes = sdu.left.min(room);
            let last = bytes == sdu.left;
            self.bytes -= u64::from(bytes);
            pieces.push(Piece { sdu: sdu.number, offset: sdu.offset, bytes, last });
            if last {
                self.queue.pop_front();
                let taken = self.indicator.map_or(room, |indicator| bytes + indicator);
                room = room.saturating_sub(taken);
            } else {
                sdu.offset += bytes;
                sdu.left -= bytes;
                room = 0;
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(payload: u32, indicator: Option<u32>, sdus: &[u32]) -> Vec<Vec<(u64, u32, u32, bool)>> {
        let mut segmenter = Segmenter::new(payload, indicator);
        for (number, bytes) in (0..).zip(sdus) {
            segmenter.push(number, *bytes);
        }
        let mut pdus = Vec::new();
        let expected = segmenter.pdus();
        while !segmenter.is_empty() {
            let pieces = segmenter.next_pdu();
            pdus.push(pieces.iter().map(|p| (p.sdu, p.offset, p.bytes, p.last)).collect());
        }
        assert!((pdus.len()..=pdus.len() + sdus.len()).contains(&expected), "{expected}");
        assert_eq!(segmenter.pdus(), 0);
        pdus
    }

    #[test]
    fn sdus_share_pdus_behind_an_indicator() {
        // 38 bytes: 30 + 1 for the indicator + 7 of the next.
        assert_eq!(
            cut(38, Some(1), &[30, 50]),
            [vec![(0, 0, 30, true), (1, 0, 7, false)], vec![(1, 7, 38, false)], vec![(1, 45, 5, true)]]
        );
        // Several small ones, the last without room for more than its indicator.
        assert_eq!(
            cut(10, Some(1), &[3, 2, 2, 4]),
            [vec![(0, 0, 3, true), (1, 0, 2, true), (2, 0, 2, true)], vec![(3, 0, 4, true)]]
        );
    }

    #[test]
    fn an_sdu_that_ends_with_its_pdu_needs_no_indicator() {
        assert_eq!(
            cut(10, Some(2), &[20, 9, 1]),
            [vec![(0, 0, 10, false)], vec![(0, 10, 10, true)], vec![(1, 0, 9, true)], vec![(2, 0, 1, true)]]
        );
    }

    #[test]
    fn without_indicators_pdus_are_not_shared() {
        let sizes = cut(38, None, &[576, 40]).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes, vec![1; 16 + 2]);
    }
}
