//! RFC 2018, RFC 2883; bytes are counted from 0.

use std::ops::Range;

use super::FIRST_BYTE;
use crate::segment::SackBlocks;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// No new bytes.
    Duplicate,
    /// No data beyond a gap has arrived.
    InOrder,
    /// New bytes, with a gap before or after the arrival.
    AroundGap,
}

#[derive(Debug)]
pub struct Reassembly {
    /// `RCV.NXT`.
    expected: u64,
    /// (first byte, last byte + 1), ascending and disjoint.
    beyond: Vec<(u64, u64)>,
    /// A byte of each of the most recently changed ranges, newest first.
    recent: Vec<u64>,
    /// For a D-SACK on the next ACK.
    duplicate: Option<(u64, u64)>,
    with_dsack: bool,
}

/// As many as an ACK has SACK blocks.
const RECENT: usize = SackBlocks::MAX;

impl Reassembly {
    pub fn new(with_dsack: bool) -> Self {
        Self {
            expected: 0,
            beyond: Vec::with_capacity(16),
            recent: Vec::with_capacity(RECENT + 1),
            duplicate: None,
            with_dsack,
        }
    }

    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// To the highest received byte, gaps included.
    pub fn beyond(&self) -> u64 {
        self.beyond.last().map_or(0, |(_, end)| end - self.expected)
    }

    /// `first` to `end - 1`.
    pub fn take(&mut self, first: u64, end: u64) -> Arrival {
        if self.beyond.is_empty() && first == self.expected && first < end {
            self.expected = end;
            return Arrival::InOrder;
        }
        if let (Some(last), Some(recent)) = (self.beyond.last_mut(), self.recent.first_mut())
            && last.1 == first
            && last.0 <= *recent
        {
            // The segment continues the range that changed last, so no other range is affected.
            (last.1, *recent) = (end, first);
            return Arrival::AroundGap;
        }
        self.merge(first, end)
    }

    /// May overlap or touch any range in `beyond`.
    #[inline(never)]
    fn merge(&mut self, first: u64, end: u64) -> Arrival {
        // The new bytes overlap or touch the ranges with the indices `from..to`.
        let from = self.beyond.partition_point(|&(_, e)| e < first);
        let to = self.beyond.partition_point(|&(f, _)| f <= end);
        let known = self.beyond[from..to].iter().any(|&(f, e)| f <= first && end <= e);
        if end <= self.expected || known {
            self.duplicate = self.with_dsack.then_some((first, end));
            return Arrival::Duplicate;
        }
        self.record_overlaps(first, end, from..to);
        let gap = !self.beyond.is_empty() || first > self.expected;
        let merged = self.beyond[from..to].iter().fold((first, end), |(a, b), &(f, e)| (a.min(f), b.max(e)));
        if merged.0 <= self.expected {
            self.expected = merged.1;
            self.beyond.drain(..to);
            let expected = self.expected;
            self.recent.retain(|&byte| byte >= expected);
        } else {
            self.beyond.splice(from..to, [merged]);
            self.recent.retain(|&byte| !(merged.0..merged.1).contains(&byte));
            self.recent.insert(0, first);
            self.recent.truncate(RECENT);
        }
        if gap { Arrival::AroundGap } else { Arrival::InOrder }
    }

    /// Below the next expected byte, or in `beyond[ranges]`; only the first of separate parts
    /// (`tcp_data_queue`, `tcp_data_queue_ofo` and `tcp_dsack_extend` of Linux 6).
    fn record_overlaps(&mut self, first: u64, end: u64, ranges: Range<usize>) {
        if !self.with_dsack {
            return;
        }
        let below = (first, self.expected.min(end));
        let overlaps = self.beyond[ranges].iter().map(|&(f, e)| (f.max(first), e.min(end)));
        for (from, to) in std::iter::once(below).chain(overlaps).filter(|(from, to)| from < to) {
            match &mut self.duplicate {
                Some(known) if from <= known.1 => known.1 = known.1.max(to),
                Some(_) => {}
                None => self.duplicate = Some((from, to)),
            }
        }
    }

    /// A duplicate first (RFC 2883, 4), then the most recently changed (RFC 2018, 4).
    pub fn report(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let Some((first, end)) = self.duplicate.take() {
            blocks.push(FIRST_BYTE + first, FIRST_BYTE + end);
        }
        for &byte in &self.recent {
            if blocks.len() == SackBlocks::MAX {
                break;
            }
            let at = self.beyond.partition_point(|&(_, e)| e <= byte);
            if let Some(&(first, end)) = self.beyond.get(at) {
                blocks.push(FIRST_BYTE + first, FIRST_BYTE + end);
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Segments of 500 B; next expected byte and SACK blocks.
    fn take(data: &mut Reassembly, number: u64) -> (u64, Vec<(u64, u64)>) {
        data.take(500 * number, 500 * number + 500);
        let blocks = data.report();
        let payload = |(first, end)| (first - FIRST_BYTE, end - FIRST_BYTE);
        (data.expected(), blocks.of(FIRST_BYTE + data.expected()).map(payload).collect())
    }

    #[test]
    fn second_case_of_rfc_2018() {
        // In section 4 of RFC 2018 the first of eight segments, with bytes 5000 to 5499, is lost.
        // Here bytes are counted from 0 instead of 5000.
        let mut data = Reassembly::new(true);
        for number in 1..8 {
            assert_eq!(take(&mut data, number), (0, vec![(500, 500 + 500 * number)]));
        }
        assert_eq!(take(&mut data, 0), (4_000, vec![]));
    }

    #[test]
    fn third_case_of_rfc_2018() {
        // The 2nd, 4th, 6th and 8th segments are lost. Then retransmissions of the 4th and the 2nd
        // segment arrive.
        let mut data = Reassembly::new(true);
        assert_eq!(take(&mut data, 0), (500, vec![]));
        assert_eq!(take(&mut data, 2), (500, vec![(1_000, 1_500)]));
        assert_eq!(take(&mut data, 4), (500, vec![(2_000, 2_500), (1_000, 1_500)]));
        assert_eq!(take(&mut data, 6), (500, vec![(3_000, 3_500), (2_000, 2_500), (1_000, 1_500)]));
        assert_eq!(take(&mut data, 3), (500, vec![(1_000, 2_500), (3_000, 3_500)]));
        assert_eq!(take(&mut data, 1), (2_500, vec![(3_000, 3_500)]));
    }

    #[test]
    fn duplicates_are_reported_first_and_once() {
        // By RFC 2883, 4.1, D-SACKs report complete duplicates: a segment below the acknowledgement
        // number, and a segment within a SACK block.
        let mut data = Reassembly::new(true);
        take(&mut data, 0);
        assert_eq!(take(&mut data, 0), (500, vec![(0, 500)]));
        assert_eq!(take(&mut data, 2), (500, vec![(1_000, 1_500)]));
        assert_eq!(take(&mut data, 2), (500, vec![(1_000, 1_500), (1_000, 1_500)]));
        assert_eq!(take(&mut data, 1), (1_500, vec![]));
    }

    /// RFC 2883, 4.2.
    #[test]
    fn duplicate_part_of_segment_is_reported() {
        let take = |data: &mut Reassembly, first, end| {
            data.take(first, end);
            let blocks = data.report();
            blocks.of(FIRST_BYTE).map(|(a, b)| (a - FIRST_BYTE, b - FIRST_BYTE)).collect::<Vec<_>>()
        };
        let mut data = Reassembly::new(true);
        data.take(0, 500);
        assert_eq!(take(&mut data, 200, 700), [(200, 500)], "below what is expected");
        take(&mut data, 1_000, 1_500);
        assert_eq!(take(&mut data, 1_200, 1_700), [(1_200, 1_500), (1_000, 1_700)], "the end of a range");
        take(&mut data, 2_000, 2_100);
        assert_eq!(take(&mut data, 1_900, 2_300), [(2_000, 2_100), (1_900, 2_300), (1_000, 1_700)]);
        assert_eq!(take(&mut data, 700, 1_100), [(1_000, 1_100), (1_900, 2_300)], "what fills the gap");
        let mut silent = Reassembly::new(false);
        silent.take(0, 500);
        assert_eq!(take(&mut silent, 200, 700), []);
    }

    proptest! {
        /// `take` has a shortcut for the range that changed last.
        #[test]
        fn merge_agrees_with_shortcut(segments in prop::collection::vec((0u64..40, 1u64..4), 1..200)) {
            let (mut data, mut merged) = (Reassembly::new(true), Reassembly::new(true));
            for (first, length) in segments {
                let (first, end) = (100 * first, 100 * (first + length));
                prop_assert_eq!(data.take(first, end), merged.merge(first, end));
                prop_assert_eq!((data.expected(), data.beyond()), (merged.expected(), merged.beyond()));
                prop_assert_eq!(data.report(), merged.report());
            }
        }

        /// SACK blocks report only what has arrived.
        #[test]
        fn any_order_completes_reassembly(order in prop::collection::vec(0u64..30, 1..200)) {
            let (mut data, mut have) = (Reassembly::new(true), [false; 31]);
            for number in order {
                let was_known = std::mem::replace(&mut have[number as usize], true);
                let arrival = data.take(500 * number, 500 * number + 500);
                prop_assert_eq!(was_known, arrival == Arrival::Duplicate);
                let expected = have.iter().take_while(|&&known| known).count() as u64 * 500;
                prop_assert_eq!(data.expected(), expected);
                for (first, end) in data.report().of(FIRST_BYTE + expected) {
                    prop_assert!(((first - FIRST_BYTE) / 500..(end - FIRST_BYTE) / 500).all(|n| have[n as usize]));
                }
            }
        }
    }
}
