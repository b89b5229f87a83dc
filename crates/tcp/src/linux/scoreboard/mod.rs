//! The scoreboard: segments in flight, segments delivered beyond a gap, and lost segments (RFC
//! 6675).
//!
//! Payload is divided into numbered segments at the first transmission. Each segment has the tags
//! of Linux (`tcp_sacktag_write_queue`): delivered beyond a gap, lost, and retransmission in
//! flight. The data in flight, `pipe`, are the outstanding segments that are neither delivered nor
//! lost, and the retransmissions in flight. As windows of Linux count segments
//! (`tcp_packets_in_flight`), a short segment takes the room of a full-sized one. In the names of
//! this module, a repair is the retransmission of a lost segment.

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

/// Scoreboard of one connection: the outstanding segments, and the data not sent yet.
#[derive(Debug)]
pub struct Scoreboard {
    mss: u64,
    /// Number of bytes that the application has written since the start of the connection.
    written: u64,
    /// First byte that is not yet acknowledged.
    una: u64,
    /// Next byte to be sent for the first time.
    next: u64,
    /// Number of the first outstanding segment, or of the next segment if nothing is outstanding.
    first: u64,
    segments: VecDeque<SentSegment>,
    /// Room of the window in bytes that the data in flight takes: `mss` per segment.
    pipe: u64,
    /// Number of segments marked lost (`lost_out`).
    lost_segments: u32,
    /// Number of retransmissions in flight (`retrans_out`).
    repairs: u32,
    sacked_segments: u32,
    /// Number of the highest segment that was reported delivered beyond a gap, plus 1; 0 if there
    /// was none.
    highest_sacked: u64,
    /// Segment number below which no lost segment awaits retransmission, so that a search can start
    /// there.
    lost_from: u64,
    /// Times and segment numbers of all transmissions, oldest first (`tsorted_sent_queue`). A
    /// transmission no longer counts if its segment was sent again later or has been delivered, or
    /// if RACK has marked it lost.
    order: VecDeque<(Time, u64)>,
    /// Number of retransmissions marked lost since the start of the connection.
    lost_retransmissions: u64,
    /// Segments marked lost since the last call of [`Self::drain_newly_lost`].
    newly_lost: Vec<SentSegment>,
    /// SACK blocks beyond a gap of the last ACK that had any blocks. Their segments are already
    /// marked as delivered, and need not be marked again.
    previous_blocks: [Block; SackBlocks::MAX],
}

/// SACK block of an ACK, with the segments that it covers.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Bytes of the block, as (first byte, last byte + 1).
    range: (u64, u64),
    /// Number of the last segment that lies entirely within the block, plus 1.
    end: u64,
}

impl Scoreboard {
    /// Creates an empty scoreboard for segments of at most `mss` bytes.
    pub fn new(mss: u64) -> Self {
        Self {
            mss,
            written: 0,
            una: 0,
            next: 0,
            first: 0,
            segments: VecDeque::new(),
            pipe: 0,
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

    /// Adds `bytes` bytes of application data, to be sent after the data already written.
    pub fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Returns the number of bytes that the application has written since the start of the
    /// connection.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the first byte that is not yet acknowledged, counted from 0.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Returns the next byte to be sent for the first time, counted from 0.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns true if all data that the application has written has been sent at least once.
    pub fn is_exhausted(&self) -> bool {
        self.next == self.written
    }

    /// Returns the room of the window in bytes that the data in flight takes (`pipe` of RFC 6675).
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Returns the number of outstanding segments that were delivered beyond a gap.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Returns the number of segments sent and not yet acknowledged cumulatively.
    pub fn outstanding_segments(&self) -> u64 {
        self.segments.len() as u64
    }

    /// Returns true if a retransmission is in flight or the first segment was ever retransmitted
    /// (`tcp_any_retrans_done`).
    pub fn has_retransmitted(&self) -> bool {
        self.has_repairs() || self.segments.front().is_some_and(|segment| segment.retransmitted)
    }

    /// Returns the highest byte delivered beyond a gap, plus 1, or the first unacknowledged byte if
    /// nothing was delivered beyond a gap (`tcp_highest_sack_seq`).
    pub fn fack(&self) -> u64 {
        let highest = || self.get(self.highest_sacked - 1).map(SentSegment::end);
        if self.sacked_segments == 0 { self.una } else { highest().unwrap_or(self.una) }
    }

    /// Returns the number of the first outstanding segment, or `None` if nothing is outstanding.
    pub fn head(&self) -> Option<u64> {
        (!self.segments.is_empty()).then_some(self.first)
    }

    /// Returns the number of the last outstanding segment, or `None` if nothing is outstanding.
    pub fn tail(&self) -> Option<u64> {
        (!self.segments.is_empty()).then(|| self.end() - 1)
    }

    /// Returns the number of the next segment to be sent for the first time.
    pub fn end(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// Returns the byte range of segment `number`, which must be outstanding or the next segment to
    /// be sent for the first time. A segment is sent even if it is not full-sized (no Nagle
    /// algorithm).
    pub fn range(&self, number: u64) -> (u64, u64) {
        self.get(number).map_or_else(|| self.next_range(), SentSegment::range)
    }

    /// Returns the byte range of the next segment to be sent for the first time. The range is empty
    /// if all data has been sent.
    pub fn next_range(&self) -> (u64, u64) {
        (self.next, self.written.min(self.next + self.mss))
    }

    /// Returns the outstanding segment with the number `number`, or `None` if this segment is not
    /// outstanding.
    pub fn get(&self, number: u64) -> Option<&SentSegment> {
        self.segments.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut SentSegment> {
        self.segments.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Records that the next segment is sent for the first time, with the snapshot `snapshot`.
    pub fn send_next(&mut self, now: Time, snapshot: Snapshot) {
        let (number, (first, end)) = (self.end(), self.next_range());
        self.order.push_back((now, number));
        self.next = end;
        self.pipe += self.mss;
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

    /// Records that lost segment `number` is retransmitted, with the snapshot `snapshot`.
    pub fn repair(&mut self, now: Time, number: u64, snapshot: Snapshot) {
        self.probe(now, number, snapshot);
        let Some(segment) = self.get_mut(number).filter(|segment| !segment.repaired) else {
            return;
        };
        segment.repaired = true;
        self.repairs += 1;
        self.pipe += self.mss;
    }

    /// Records that segment `number` is retransmitted as a probe. The retransmission does not count
    /// as in flight in addition to the segment.
    pub fn probe(&mut self, now: Time, number: u64, snapshot: Snapshot) {
        if let Some(segment) = self.get_mut(number) {
            *segment = SentSegment { retransmitted: true, sent: now, snapshot, ..*segment };
            self.order.push_back((now, number));
        }
    }

    /// Processes a cumulative acknowledgement of all bytes below `ack`. Calls `deliver` with each
    /// acknowledged segment that was not already delivered beyond a gap. A segment that is only
    /// partly below `ack` stays outstanding. Returns the number of segments acknowledged, and true
    /// if any of these segments had been retransmitted.
    pub fn acknowledge(&mut self, ack: u64, mut deliver: impl FnMut(&SentSegment)) -> (u64, bool) {
        let (before, mut repeated) = (self.first, false);
        while let Some(segment) = self.segments.front().filter(|segment| segment.end() <= ack) {
            self.una = segment.end();
            repeated |= segment.retransmitted;
            if segment.sacked {
                self.sacked_segments -= 1;
            } else {
                deliver(segment);
                if segment.lost {
                    self.lost_segments -= 1;
                } else {
                    self.pipe -= self.mss;
                }
            }
            if segment.repaired {
                self.repairs -= 1;
                self.pipe -= self.mss;
            }
            self.segments.pop_front();
            self.first += 1;
        }
        self.lost_from = self.lost_from.max(self.first);
        self.drop_stale();
        (self.first - before, repeated)
    }

    /// Returns the time at which the first outstanding segment was last sent, or `None` if nothing
    /// is outstanding.
    pub fn head_sent(&self) -> Option<Time> {
        self.segments.front().map(|segment| segment.sent)
    }

    /// Processes the SACK blocks of an ACK, which must lie within outstanding data. Calls `deliver`
    /// with each segment that these blocks report for the first time.
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

    /// Returns the number of the first outstanding segment that begins at `byte` or above, or of
    /// the next segment to be sent if there is none.
    fn first_from(&self, byte: u64) -> u64 {
        let number = self.segment_with(byte);
        number + u64::from(self.get(number).is_some_and(|segment| segment.first < byte))
    }

    /// Returns the number of the outstanding segment that contains `byte`. If all outstanding
    /// segments lie above `byte`, returns the number of the first one. If all lie below, returns
    /// the number of the next segment to be sent.
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
            if std::mem::take(&mut segment.lost) {
                let answers_repair = std::mem::take(&mut segment.repaired);
                self.lost_segments -= 1;
                if answers_repair {
                    self.repairs -= 1;
                    self.pipe -= self.mss;
                }
            } else {
                // Only the original leaves the pipe. If the segment was retransmitted, Linux assumes
                // that the retransmission is still in flight (`tcp_sacktag_one`).
                self.pipe -= self.mss;
            }
            self.sacked_segments += 1;
            self.highest_sacked = self.highest_sacked.max(number + 1);
        }
    }

    /// Processes a D-SACK of the bytes `range`. Segments in this range that end above `una` count
    /// as delivered, and `deliver` is called for each that was not reported before. Their
    /// retransmissions are no longer in flight (`tcp_sacktag_one`). Returns the number of
    /// retransmitted segments in the range that end above `marker`, and the first byte of the first
    /// needless retransmission, if any.
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

    /// Records that the retransmission of segment `number` is no longer in flight. Has no effect if
    /// no retransmission of the segment was in flight.
    fn end_repair(&mut self, number: u64) {
        if let Some(segment) = self.get_mut(number).filter(|segment| segment.repaired) {
            segment.repaired = false;
            self.repairs -= 1;
            self.pipe -= self.mss;
        }
    }

    /// Returns true if the first outstanding segment was reported delivered but is not
    /// acknowledged, which means that the receiver has discarded it (reneging; RFC 2018, 8).
    pub fn is_reneged(&self) -> bool {
        self.segments.front().is_some_and(|segment| segment.sacked)
    }

    /// Discards all information from SACKs, so that the segments they reported count as in flight
    /// again (Linux: `tcp_timeout_mark_lost`).
    #[cold]
    pub fn forget_sacks(&mut self) {
        for segment in self.segments.iter_mut().filter(|segment| segment.sacked) {
            segment.sacked = false;
            self.pipe += self.mss;
        }
        (self.sacked_segments, self.highest_sacked, self.previous_blocks) = (0, 0, <_>::default());
    }

    /// Returns the time of the oldest transmission that still counts, or `None` if none does. A
    /// transmission counts if it is the last one of its segment, no ACK or SACK has answered it,
    /// and RACK has not marked it lost.
    pub fn oldest_sent(&mut self) -> Option<Time> {
        self.drop_stale();
        self.order.front().map(|&(sent, _)| sent)
    }

    /// Returns segment `number` if it was last sent at `sent` and was not reported delivered,
    /// otherwise `None`.
    fn current(&self, sent: Time, number: u64) -> Option<&SentSegment> {
        self.get(number).filter(|segment| segment.sent == sent && !segment.sacked)
    }

    /// Removes the oldest transmissions from `order` as long as they no longer count.
    fn drop_stale(&mut self) {
        while let Some(&(sent, number)) = self.order.front() {
            if self.current(sent, number).is_some() {
                return;
            }
            self.order.pop_front();
        }
    }
}
