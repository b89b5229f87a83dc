//! RFC 6675, with the tags of Linux (`tcp_sacktag_write_queue`). `pipe` are outstanding segments neither
//! delivered nor lost, and retransmissions in flight (repairs); a short segment takes the room of a
//! full-sized one, as Linux's windows count segments (`tcp_packets_in_flight`).

mod losses;
mod segment;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::units::Time;

pub use self::segment::{Duplicates, SentSegment};
use super::rate::Snapshot;
use crate::segment::SackBlocks;

#[derive(Debug)]
pub struct Scoreboard {
    mss: u64,
    /// By the application, since the start.
    written: u64,
    /// First unacknowledged byte.
    una: u64,
    /// To be sent for the first time.
    next: u64,
    /// Segment number, or the next one if nothing is outstanding.
    first: u64,
    segments: VecDeque<SentSegment>,
    /// `lost_out`.
    lost_segments: u32,
    repairs: u32,
    sacked_segments: u32,
    /// Beyond a gap, plus 1; 0 if there was none.
    highest_sacked: u64,
    /// A search for lost segments can start here.
    lost_from: u64,
    /// `tsorted_sent_queue`, oldest first; a transmission no longer counts if its segment was sent again,
    /// delivered, or marked lost by RACK.
    order: VecDeque<(Time, u64)>,
    /// Marked lost, since the start.
    lost_retransmissions: u64,
    newly_lost: Vec<SentSegment>,
    /// Of the last ACK with any: already marked as delivered.
    previous_blocks: [Block; SackBlocks::MAX],
}

/// With the segments that it covers.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// (first byte, last byte + 1).
    range: (u64, u64),
    /// Last segment entirely within the block, plus 1.
    end: u64,
}

impl Scoreboard {
    pub fn new(mss: u64) -> Self {
        Self {
            mss,
            written: 0,
            una: 0,
            next: 0,
            first: 0,
            segments: VecDeque::new(),
            lost_segments: 0,
            repairs: 0,
            sacked_segments: 0,
            highest_sacked: 0,
            lost_from: 0,
            order: VecDeque::new(),
            lost_retransmissions: 0,
            newly_lost: Vec::new(),
            previous_blocks: <_>::default(),
        }
    }

    /// After the data already written.
    pub fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    pub fn written(&self) -> u64 {
        self.written
    }

    /// Counted from 0.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Counted from 0.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Everything written has been sent at least once.
    pub fn is_exhausted(&self) -> bool {
        self.next == self.written
    }

    /// `tcp_packets_in_flight` in bytes, `mss` per segment.
    pub fn pipe(&self) -> u64 {
        let left = u64::from(self.sacked_segments + self.lost_segments);
        (self.outstanding_segments() + u64::from(self.repairs) - left) * self.mss
    }

    /// Beyond a gap.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    pub fn outstanding_segments(&self) -> u64 {
        self.segments.len() as u64
    }

    /// `tcp_any_retrans_done`.
    pub fn has_retransmitted(&self) -> bool {
        self.has_repairs() || self.segments.front().is_some_and(|segment| segment.retransmitted)
    }

    /// `tcp_highest_sack_seq`: highest byte beyond a gap plus 1, else the first unacknowledged.
    pub fn fack(&self) -> u64 {
        let highest = || self.get(self.highest_sacked - 1).map(SentSegment::end);
        if self.sacked_segments == 0 { self.una } else { highest().unwrap_or(self.una) }
    }

    pub fn head(&self) -> Option<u64> {
        (!self.segments.is_empty()).then_some(self.first)
    }

    pub fn tail(&self) -> Option<u64> {
        (!self.segments.is_empty()).then(|| self.end() - 1)
    }

    /// To be sent for the first time.
    pub fn end(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// Outstanding or next; no Nagle algorithm.
    pub fn range(&self, number: u64) -> (u64, u64) {
        self.get(number).map_or_else(|| self.next_range(), SentSegment::range)
    }

    /// Empty if all data has been sent.
    pub fn next_range(&self) -> (u64, u64) {
        (self.next, self.written.min(self.next + self.mss))
    }

    /// If it is outstanding.
    pub fn get(&self, number: u64) -> Option<&SentSegment> {
        self.segments.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut SentSegment> {
        self.segments.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    pub fn send_next(&mut self, now: Time, snapshot: Snapshot) {
        let (number, (first, end)) = (self.end(), self.next_range());
        self.order.push_back((now, number));
        self.next = end;
        self.segments.push_back(SentSegment {
            first,
            length: (end - first) as u32,
            sacked: false,
            lost: false,
            repaired: false,
            retransmitted: false,
            sent: now,
            snapshot,
        });
    }

    pub fn repair(&mut self, now: Time, number: u64, snapshot: Snapshot) {
        self.probe(now, number, snapshot);
        let Some(segment) = self.get_mut(number).filter(|segment| !segment.repaired) else {
            return;
        };
        segment.repaired = true;
        self.repairs += 1;
    }

    /// Does not count as in flight in addition to the segment.
    pub fn probe(&mut self, now: Time, number: u64, snapshot: Snapshot) {
        if let Some(segment) = self.get_mut(number) {
            *segment = SentSegment { retransmitted: true, sent: now, snapshot, ..*segment };
            self.order.push_back((now, number));
        }
    }

    /// `deliver` gets segments not delivered before; segments acknowledged, and whether any had been
    /// retransmitted. A partly acknowledged one stays.
    pub fn acknowledge(&mut self, ack: u64, mut deliver: impl FnMut(&SentSegment)) -> (u64, bool) {
        let (before, mut repeated) = (self.first, false);
        while let Some(segment) = self.segments.front().filter(|segment| segment.end() <= ack) {
            self.una = segment.end();
            repeated |= segment.retransmitted;
            if segment.sacked {
                self.sacked_segments -= 1;
            } else {
                deliver(segment);
                self.lost_segments -= u32::from(segment.lost);
            }
            self.repairs -= u32::from(segment.repaired);
            self.segments.pop_front();
            self.first += 1;
        }
        self.lost_from = self.lost_from.max(self.first);
        self.drop_stale();
        (self.first - before, repeated)
    }

    /// Last transmission of the first outstanding segment.
    pub fn head_sent(&self) -> Option<Time> {
        self.segments.front().map(|segment| segment.sent)
    }

    /// Blocks within outstanding data; `deliver` gets what they report for the first time.
    pub fn sack(&mut self, blocks: impl Iterator<Item = (u64, u64)>, mut deliver: impl FnMut(&SentSegment)) {
        let mut current_blocks = <[Block; SackBlocks::MAX]>::default();
        for (range, now) in blocks.zip(&mut current_blocks) {
            // Most blocks equal a block of the previous ACK, or have only grown at their end.
            let previous = self.previous_blocks.iter().find(|previous| previous.range.0 == range.0).copied();
            *now = match previous {
                Some(previous) if previous.range.1 == range.1 => previous,
                _ => Block { range, end: self.segment_with(range.1) },
            };
            let from = previous.map_or_else(|| self.first_from(range.0), |previous| previous.end);
            self.sack_range(from.max(self.first)..now.end, &mut deliver);
        }
        self.previous_blocks = current_blocks;
    }

    /// Begins at `byte` or above, else the next to be sent.
    fn first_from(&self, byte: u64) -> u64 {
        let number = self.segment_with(byte);
        number + u64::from(self.get(number).is_some_and(|segment| segment.first < byte))
    }

    /// Or the first one above, or the next to be sent if all lie below.
    fn segment_with(&self, byte: u64) -> u64 {
        // Most segments are full-sized, so dividing the byte number by their size usually finds the
        // segment.
        let before = byte.saturating_sub(self.segments.front().map_or(byte, |segment| segment.first));
        let guess = before / self.mss;
        let holds = |segment: &SentSegment| segment.first <= byte && byte < segment.end();
        if self.segments.get(guess as usize).is_some_and(holds) {
            return self.first + guess;
        }
        self.first + self.segments.partition_point(|segment| segment.end() <= byte) as u64
    }

    fn sack_range(&mut self, numbers: Range<u64>, deliver: &mut impl FnMut(&SentSegment)) {
        for number in numbers {
            let Some(segment) = self.get_mut(number).filter(|segment| !segment.sacked) else {
                continue;
            };
            deliver(segment);
            segment.sacked = true;
            // If the segment was not lost but retransmitted, Linux assumes that the retransmission is still in flight
            // (`tcp_sacktag_one`).
            if std::mem::take(&mut segment.lost) {
                let answers_repair = std::mem::take(&mut segment.repaired);
                self.lost_segments -= 1;
                self.repairs -= u32::from(answers_repair);
            }
            self.sacked_segments += 1;
            self.highest_sacked = self.highest_sacked.max(number + 1);
        }
    }

    /// `tcp_sacktag_one`: segments that end above `una` are delivered, their retransmissions no longer in
    /// flight; `marker` as in [`Duplicates`].
    #[cold]
    pub fn sack_duplicate(
        &mut self,
        range: (u64, u64),
        marker: u64,
        una: u64,
        mut deliver: impl FnMut(&SentSegment),
    ) -> Duplicates {
        let mut found = Duplicates::default();
        for number in self.first_from(range.0)..self.segment_with(range.1) {
            let Some(segment) = self.get(number).copied() else {
                break;
            };
            if segment.retransmitted {
                found.repeated += u64::from(segment.end() > marker);
                if segment.sacked {
                    found.needless = found.needless.or(Some(segment.first));
                }
            }
            if segment.end() > una {
                self.sack_range(number..number + 1, &mut deliver);
                self.end_repair(number);
            }
        }
        found
    }

    /// No effect without a retransmission in flight.
    fn end_repair(&mut self, number: u64) {
        if let Some(segment) = self.get_mut(number).filter(|segment| segment.repaired) {
            segment.repaired = false;
            self.repairs -= 1;
        }
    }

    /// RFC 2018, 8: reported delivered but not acknowledged, so the receiver has discarded it.
    pub fn is_reneged(&self) -> bool {
        self.segments.front().is_some_and(|segment| segment.sacked)
    }

    /// `tcp_timeout_mark_lost`.
    #[cold]
    pub fn forget_sacks(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.sacked = false);
        (self.sacked_segments, self.highest_sacked, self.previous_blocks) = (0, 0, <_>::default());
    }

    /// The last of its segment, unanswered and not marked lost by RACK.
    pub fn oldest_sent(&mut self) -> Option<Time> {
        self.drop_stale();
        self.order.front().map(|&(sent, _)| sent)
    }

    /// Last sent at `sent` and not delivered.
    fn current(&self, sent: Time, number: u64) -> Option<&SentSegment> {
        self.get(number).filter(|segment| segment.sent == sent && !segment.sacked)
    }

    /// Oldest ones that no longer count.
    fn drop_stale(&mut self) {
        while let Some(&(sent, number)) = self.order.front() {
            if self.current(sent, number).is_some() {
                return;
            }
            self.order.pop_front();
        }
    }
}
