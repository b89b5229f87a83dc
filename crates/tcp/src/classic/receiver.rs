//! RFC 5681, 4.2, as ns-2's `DelAckSink`: acknowledges every second segment in order, a single one after the
//! delay, and at once segments out of order or in a gap and, unless `delayed_syn_ack` applies, the SYN.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

use super::params::Classic;
use crate::segment::{HEADER_BYTES, Kind, SackBlocks, Segment};

#[derive(Debug)]
pub struct Receiver {
    flow: u32,
    /// Of the ACK of the SYN; 0 for none.
    request_bytes: u32,
    delay: Duration,
    delayed_syn_ack: bool,
    /// In order.
    delivered_bytes: u64,
    /// 0, the SYN, at the start.
    expected: u64,
    /// Payload from `expected` on, `None` for a missing segment, which the first always is; empty without a
    /// gap.
    beyond: VecDeque<Option<u32>>,
    /// The first segment that the next ACK answers is a retransmission.
    answers: Option<bool>,
    /// Of the delayed ACK.
    timer: Option<Time>,
    /// At most three (first, last + 1) beyond a gap, most recently reported first; `None` without SACK.
    recent: Option<Vec<(u64, u64)>>,
}

/// RFC 2018, 3.
const SACK_BLOCK_BYTES: u32 = 8;

impl Receiver {
    /// Every segment is acknowledged at once if `delayed_ack` is 0.
    pub fn new(flow: u32, request_bytes: u32, tcp: &Classic) -> Self {
        Self {
            flow,
            request_bytes,
            delay: tcp.delayed_ack,
            delayed_syn_ack: tcp.delayed_syn_ack(),
            delivered_bytes: 0,
            expected: 0,
            beyond: VecDeque::new(),
            answers: None,
            timer: None,
            recent: tcp.control.wants_sack().then(Vec::new),
        }
    }

    fn record(&mut self, segment: &Segment) {
        let payload = segment.size - HEADER_BYTES;
        if segment.seq == self.expected {
            self.beyond.pop_front();
            self.deliver(payload);
            while let Some(&Some(payload)) = self.beyond.front() {
                self.beyond.pop_front();
                self.deliver(payload);
            }
        } else if segment.seq > self.expected {
            let offset = (segment.seq - self.expected) as usize;
            if self.beyond.len() <= offset {
                self.beyond.resize(offset + 1, None);
            }
            self.beyond[offset] = Some(payload);
        }
    }

    fn deliver(&mut self, payload: u32) {
        self.expected += 1;
        self.delivered_bytes += u64::from(payload);
    }

    /// Triggered by `seq`; number 0 until both the SYN and the first data segment have arrived.
    fn ack(&mut self, seq: u64, payload: u32) -> Segment {
        let sack = self.report(seq);
        let size = HEADER_BYTES + payload + SACK_BLOCK_BYTES * sack.len() as u32;
        let answers_retransmission = self.answers.take().unwrap_or(false);
        let ack = Segment::control(self.flow, Kind::Ack);
        Segment { size, seq: self.in_order(), sack, answers_retransmission, ..ack }
    }

    /// First the block with `seq`, then the most recently reported (RFC 2018, 4); none without SACK.
    fn report(&mut self, seq: u64) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if self.recent.is_none() {
            return blocks;
        }
        let newest = self.block_around(seq);
        let covered = newest.unwrap_or((0, self.expected));
        let Some(recent) = &mut self.recent else {
            return blocks;
        };
        recent.retain(|&(first, end)| !(covered.0 <= first && end <= covered.1));
        if let Some(newest) = newest {
            recent.insert(0, newest);
        }
        recent.truncate(SackBlocks::MAX);
        for &(first, end) in recent.iter() {
            blocks.push(first, end);
        }
        blocks
    }

    /// (first, last + 1), if received beyond a gap.
    fn block_around(&self, seq: u64) -> Option<(u64, u64)> {
        let at = usize::try_from(seq.checked_sub(self.expected)?).ok()?;
        let arrived = |i: &usize| self.beyond.get(*i).is_some_and(Option::is_some);
        let first = (0..at).rev().take_while(arrived).last().unwrap_or(at);
        let end = (at..self.beyond.len()).take_while(arrived).last()? + 1;
        Some((self.expected + first as u64, self.expected + end as u64))
    }

    /// Highest segment in order; 0 if there is none.
    fn in_order(&self) -> u64 {
        self.expected.saturating_sub(1)
    }
}

impl crate::Receiver for Receiver {
    fn connect(&self, _: Time) -> Segment {
        Segment::control(self.flow, Kind::Connect)
    }

    fn request(&self, _: Time, bytes: u32) -> Segment {
        Segment { size: HEADER_BYTES + bytes, ..Segment::control(self.flow, Kind::Request) }
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Segment> {
        let seq = segment.seq;
        self.record(segment);
        self.answers.get_or_insert(segment.retransmission);
        let in_order = seq + 1 == self.expected && self.beyond.is_empty();
        let may_wait = seq > 0 || self.delayed_syn_ack;
        if in_order && may_wait && self.delay > Duration::ZERO && self.timer.is_none() {
            self.timer = Some(now + self.delay);
            return None;
        }
        self.timer = None;
        Some(self.ack(seq, if seq == 0 { self.request_bytes } else { 0 }))
    }

    fn on_timer(&mut self, _: Time) -> Option<Segment> {
        self.timer = None;
        Some(self.ack(self.in_order(), 0))
    }

    fn timer(&self) -> Option<Time> {
        self.timer
    }

    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::recovery::{ControlSpec, sack::Sack};
    use super::*;
    use crate::Receiver as _;

    fn segment(seq: u64) -> Segment {
        Segment { seq, ..Segment::control(0, Kind::Data) }
    }

    fn receiver(delayed_ack_ms: u64, request_bytes: u32) -> Receiver {
        let delayed_ack = Duration::from_millis(delayed_ack_ms);
        Receiver::new(0, request_bytes, &Classic { delayed_ack, ..Classic::default() })
    }

    fn acks(receiver: &mut Receiver, segments: &[u64]) -> Vec<Option<u64>> {
        segments
            .iter()
            .map(|&seq| receiver.on_segment(Time::ZERO, &segment(seq)).map(|ack| ack.seq))
            .collect()
    }

    #[test]
    fn every_second_in_order_segment_is_acknowledged() {
        let mut receiver = receiver(100, 0);
        assert_eq!(acks(&mut receiver, &[0, 1, 2, 3]), [Some(0), None, Some(2), None]);
        assert_eq!(receiver.timer(), Some(Time(100_000_000)));
        assert_eq!(receiver.on_timer(Time::ZERO).map(|ack| ack.seq), Some(3));
        assert_eq!(receiver.timer(), None);
    }

    #[test]
    fn gaps_are_acknowledged_at_once() {
        let mut receiver = receiver(100, 0);
        assert_eq!(
            acks(&mut receiver, &[0, 1, 3, 5, 2, 4, 6]),
            [Some(0), None, Some(1), Some(1), Some(3), Some(5), None]
        );
    }

    #[test]
    fn without_delay_every_segment_is_acknowledged() {
        let mut receiver = receiver(0, 100);
        assert_eq!(receiver.on_segment(Time::ZERO, &segment(0)).map(|ack| ack.size), Some(140));
        assert_eq!(acks(&mut receiver, &[1, 2, 2]), [Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn newest_of_at_most_three_blocks_is_first() {
        let control = ControlSpec::Sack(Sack::default());
        let params = Classic { control, delayed_ack: Duration::ZERO, ..Classic::default() };
        let mut receiver = Receiver::new(0, 0, &params);
        let mut report = |seq| {
            let ack = receiver.on_segment(Time::ZERO, &segment(seq)).unwrap();
            assert_eq!(ack.size as usize, 40 + 8 * ack.sack.len());
            ack.sack.of(ack.seq).collect::<Vec<_>>()
        };
        assert_eq!(report(0), []);
        assert_eq!(report(1), []);
        assert_eq!(report(3), [(3, 4)]);
        assert_eq!(report(5), [(5, 6), (3, 4)]);
        assert_eq!(report(7), [(7, 8), (5, 6), (3, 4)]);
        assert_eq!(report(9), [(9, 10), (7, 8), (5, 6)]);
        assert_eq!(report(4), [(3, 6), (9, 10), (7, 8)]);
        assert_eq!(report(2), [(9, 10), (7, 8)]);
        assert_eq!(report(6), [(9, 10)]);
    }
}
