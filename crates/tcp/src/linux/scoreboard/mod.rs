//! The scoreboard: what is in flight, what arrived beyond a gap, what is lost (RFC 6675).
//!
//! Payload is cut into segments when it is sent first, and segments are numbered. Every segment is in
//! exactly one state; `pipe` (RFC 6675, 4) is what is left of the bytes outstanding when those lost
//! or delivered are taken away.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::units::Time;

use super::DUP_THRESH;
use super::rate::Snapshot;
use crate::segment::SackBlocks;

#[cfg(test)]
mod tests;

/// What has become of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Sent, and nothing heard.
    InFlight,
    /// Given up and not yet sent again.
    Lost,
    /// Delivered beyond a gap.
    Sacked,
}

/// An outstanding segment. It fits into a cache line.
#[derive(Clone, Copy, Debug)]
pub struct SentSegment {
    first: u64,
    length: u32,
    /// What has become of it.
    pub state: State,
    /// Whether it was sent more than once.
    pub retransmitted: bool,
    /// When it was sent last.
    pub sent: Time,
    /// What it remembers of that moment.
    pub snapshot: Snapshot,
}

impl SentSegment {
    /// Bytes of payload.
    pub fn bytes(&self) -> u64 {
        u64::from(self.length)
    }

    /// One past the last byte.
    pub fn end(&self) -> u64 {
        self.first + self.bytes()
    }

    /// First byte, and one past the last.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.end())
    }
}

/// The scoreboard of one connection.
#[derive(Debug)]
pub struct Scoreboard {
    mss: u64,
    /// Bytes that the application has written.
    written: u64,
    /// First byte not yet acknowledged, and the next to be sent for the first time.
    una: u64,
    next: u64,
    /// Number of the first outstanding segment.
    first: u64,
    segments: VecDeque<SentSegment>,
    /// Bytes in flight, and bytes given up and not yet sent again.
    pipe: u64,
    lost_bytes: u64,
    sacked_segments: u32,
    /// One past the highest segment that was reported delivered beyond a gap.
    highest_sacked: u64,
    /// No segment below this one is lost.
    lost_from: u64,
    /// Times and numbers of all transmissions, oldest first; those overtaken by events are skipped.
    order: VecDeque<(Time, u64)>,
    /// Retransmissions given up so far.
    repeats_lost: u64,
    /// Segments given up since they were last asked for.
    given_up: Vec<SentSegment>,
    /// Blocks of the last ACK that had any: what they cover has been delivered.
    known: [Block; SackBlocks::MOST],
}

/// A block of an ACK.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// First byte, and one past the last.
    range: (u64, u64),
    /// One past the last segment that lies within.
    end: u64,
}

impl Scoreboard {
    /// An empty scoreboard for segments of at most `mss` bytes.
    pub fn new(mss: u64) -> Self {
        Self {
            mss,
            written: 0,
            una: 0,
            next: 0,
            first: 0,
            segments: VecDeque::new(),
            pipe: 0,
            lost_bytes: 0,
            sacked_segments: 0,
            highest_sacked: 0,
            lost_from: 0,
            order: VecDeque::new(),
            repeats_lost: 0,
            given_up: Vec::new(),
            known: <_>::default(),
        }
    }

    /// Adds `bytes` to what is to be sent.
    pub fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Bytes that the application has written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// First byte not yet acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Next byte to be sent for the first time.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether everything written has been sent.
    pub fn is_exhausted(&self) -> bool {
        self.next == self.written
    }

    /// Bytes in flight (RFC 6675, `pipe`).
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Segments delivered beyond a gap.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Segments sent and not yet acknowledged.
    pub fn outstanding_segments(&self) -> u64 {
        self.segments.len() as u64
    }

    /// Segments given up and not yet sent again.
    pub fn lost_segments(&self) -> u64 {
        self.lost_bytes.div_ceil(self.mss)
    }

    /// Number of the first outstanding segment, if there is one.
    pub fn head(&self) -> Option<u64> {
        (!self.segments.is_empty()).then_some(self.first)
    }

    /// Number of the last outstanding segment, if there is one.
    pub fn tail(&self) -> Option<u64> {
        (!self.segments.is_empty()).then(|| self.end() - 1)
    }

    /// Number of the next segment to be sent for the first time.
    pub fn end(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// The bytes of segment `number`, outstanding or the next to be sent for the first time. It is
    /// sent as large as it comes out, without waiting for more (no Nagle).
    pub fn range(&self, number: u64) -> (u64, u64) {
        self.get(number).map_or_else(|| self.next_range(), SentSegment::range)
    }

    /// Returns the bytes of the next segment to be sent for the first time.
    pub fn next_range(&self) -> (u64, u64) {
        (self.next, self.written.min(self.next + self.mss))
    }

    /// An outstanding segment.
    pub fn get(&self, number: u64) -> Option<&SentSegment> {
        self.segments.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut SentSegment> {
        self.segments.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Adds the next segment, sent now.
    pub fn send_next(&mut self, now: Time, snapshot: Snapshot) {
        let (number, (first, end)) = (self.end(), self.next_range());
        self.order.push_back((now, number));
        self.next = end;
        self.pipe += end - first;
        self.segments.push_back(SentSegment {
            first,
            length: (end - first) as u32,
            state: State::InFlight,
            retransmitted: false,
            sent: now,
            snapshot,
        });
    }

    /// Takes note that segment `number` is sent again. One that had been reported delivered must have
    /// been thrown away by the receiver (RFC 2018, 8).
    pub fn send_again(&mut self, now: Time, number: u64, snapshot: Snapshot) {
        let Some(segment) = self.get_mut(number) else {
            return;
        };
        let (before, bytes) = (segment.state, segment.bytes());
        *segment =
            SentSegment { state: State::InFlight, retransmitted: true, sent: now, snapshot, ..*segment };
        match before {
            State::Lost => self.lost_bytes -= bytes,
            State::Sacked => {
                self.sacked_segments -= 1;
                self.known = <_>::default();
            }
            State::InFlight => self.pipe -= bytes,
        }
        self.pipe += bytes;
        self.order.push_back((now, number));
    }

    /// Takes a cumulative acknowledgement; hands over what it delivers. Segments delivered before,
    /// beyond a gap, are not handed over again. A number within a segment acknowledges what is below.
    /// Returns how many segments are acknowledged, and whether any had been sent again.
    pub fn acknowledge(&mut self, ack: u64, mut deliver: impl FnMut(&SentSegment)) -> (u64, bool) {
        let (before, mut repeated) = (self.first, false);
        while let Some(segment) = self.segments.front().filter(|segment| segment.end() <= ack) {
            self.una = segment.end();
            repeated |= segment.retransmitted;
            match segment.state {
                State::Sacked => self.sacked_segments -= 1,
                State::Lost => self.lost_bytes -= segment.bytes(),
                State::InFlight => self.pipe -= segment.bytes(),
            }
            if segment.state != State::Sacked {
                deliver(segment);
            }
            self.segments.pop_front();
            self.first += 1;
        }
        self.lost_from = self.lost_from.max(self.first);
        self.drop_stale();
        (self.first - before, repeated)
    }

    /// When the first outstanding segment was last sent.
    pub fn head_sent(&self) -> Option<Time> {
        self.segments.front().map(|segment| segment.sent)
    }

    /// Retransmissions in flight.
    pub fn repeated_in_flight(&self) -> u32 {
        let flying = |s: &&SentSegment| s.retransmitted && s.state == State::InFlight;
        self.segments.iter().filter(flying).count() as u32
    }

    /// Takes the blocks of an ACK; hands over each segment that they deliver, once.
    pub fn sack(&mut self, blocks: impl Iterator<Item = (u64, u64)>, mut deliver: impl FnMut(&SentSegment)) {
        let mut now_known = <[Block; SackBlocks::MOST]>::default();
        for (range, now) in blocks.zip(&mut now_known) {
            // Most blocks are as they were, or have grown at their end.
            let known =
                self.known.iter().find(|known| known.range.0 == range.0 && !self.has_grown(**known)).copied();
            *now = match known {
                Some(known) if known.range.1 == range.1 => known,
                _ => Block { range, end: self.holding(range.1) },
            };
            let from = known.map_or_else(|| self.first_from(range.0), |known| known.end);
            self.sack_range(from.max(self.first)..now.end, &mut deliver);
        }
        self.known = now_known;
    }

    /// Returns true if a block reached beyond what had been sent, and holds segments that have been sent since.
    #[inline]
    fn has_grown(&self, known: Block) -> bool {
        self.get(known.end).is_some_and(|segment| segment.first < known.range.1)
    }

    /// Returns the number of the first outstanding segment that begins at `byte` or above.
    fn first_from(&self, byte: u64) -> u64 {
        let number = self.holding(byte);
        number + u64::from(self.get(number).is_some_and(|segment| segment.first < byte))
    }

    /// Returns the number of the outstanding segment that holds `byte`, of the first one if all lie above, and
    /// of the next to be sent if all lie below.
    fn holding(&self, byte: u64) -> u64 {
        // Most segments are full, so that a division finds it.
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
            let Some(segment) = self.get_mut(number).filter(|segment| segment.state != State::Sacked) else {
                continue;
            };
            let before = std::mem::replace(&mut segment.state, State::Sacked);
            let bytes = segment.bytes();
            deliver(segment);
            let counted = if before == State::Lost { &mut self.lost_bytes } else { &mut self.pipe };
            *counted -= bytes;
            self.sacked_segments += 1;
            self.highest_sacked = self.highest_sacked.max(number + 1);
        }
    }

    /// Gives up a segment; returns its bytes, or 0 if it is not in flight.
    pub fn mark_lost(&mut self, number: u64) -> u64 {
        let Some(segment) = self.get_mut(number).filter(|segment| segment.state == State::InFlight) else {
            return 0;
        };
        segment.state = State::Lost;
        let segment = *segment;
        let bytes = segment.bytes();
        self.repeats_lost += u64::from(segment.retransmitted);
        self.given_up.push(segment);
        self.pipe -= bytes;
        self.lost_bytes += bytes;
        self.lost_from = self.lost_from.min(number);
        bytes
    }

    /// Retransmissions given up so far.
    pub fn repeats_lost(&self) -> u64 {
        self.repeats_lost
    }

    /// The segments given up since this was last called.
    pub fn drain_given_up(&mut self) -> impl Iterator<Item = SentSegment> + '_ {
        self.given_up.drain(..)
    }

    /// Everything given up and not yet sent again is taken to be in flight after all.
    pub fn unmark_lost(&mut self) {
        while let Some(number) = self.next_lost() {
            if let Some(segment) = self.get_mut(number) {
                segment.state = State::InFlight;
                // RACK looks at it again in the order of sending, where it may be late.
                let entry = (segment.sent, number);
                let at = self.order.partition_point(|&(time, _)| time < entry.0);
                if !self.order.range(at..).take_while(|(time, _)| *time == entry.0).any(|e| *e == entry) {
                    self.order.insert(at, entry);
                }
            }
        }
        self.pipe += std::mem::take(&mut self.lost_bytes);
    }

    /// The first segment given up and not yet sent again.
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.lost_bytes == 0 {
            return None;
        }
        self.lost_from = self.lost_from.max(self.first);
        while self.get(self.lost_from)?.state != State::Lost {
            self.lost_from += 1;
        }
        Some(self.lost_from)
    }

    /// Marks what RFC 6675's `IsLost` calls lost: segments that were sent once and have at least
    /// `DupThresh` segments delivered beyond them. Returns the bytes.
    pub fn mark_by_count(&mut self) -> u64 {
        let (mut beyond, mut number, mut bytes) = (0, self.highest_sacked, 0);
        while number > self.first {
            number -= 1;
            let segment = &self.segments[(number - self.first) as usize];
            match segment.state {
                State::Sacked => beyond += 1,
                State::InFlight if beyond >= DUP_THRESH && !segment.retransmitted => {
                    bytes += self.mark_lost(number);
                }
                _ => {}
            }
        }
        bytes
    }

    /// Returns when the oldest transmission not yet answered was sent.
    pub fn oldest_sent(&mut self) -> Option<Time> {
        self.drop_stale();
        self.order.front().map(|&(sent, _)| sent)
    }

    /// Transmissions not yet answered, oldest first, with their numbers. `visit` says of each whether
    /// it is lost, or `None` to stop. Returns the bytes newly lost.
    pub fn mark_in_order(&mut self, mut visit: impl FnMut(u64, &SentSegment) -> Option<bool>) -> u64 {
        let (mut bytes, mut at) = (0, 0);
        while let Some(&(sent, number)) = self.order.get(at) {
            let current = self.get(number).filter(|s| s.sent == sent && s.state == State::InFlight);
            match current.map(|segment| visit(number, segment)) {
                Some(None) => break,
                Some(Some(true)) => bytes += self.mark_lost(number),
                _ => {}
            }
            at += 1;
        }
        self.drop_stale();
        bytes
    }

    /// Forgets the oldest transmissions if they have been overtaken.
    fn drop_stale(&mut self) {
        while let Some(&(sent, number)) = self.order.front() {
            if self.get(number).is_some_and(|s| s.sent == sent && s.state == State::InFlight) {
                return;
            }
            self.order.pop_front();
        }
    }
}
