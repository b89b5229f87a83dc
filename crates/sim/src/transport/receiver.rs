//! The TCP receiver at the phone: cumulative ACKs, delayed or at once.
//!
//! RFC 5681, 4.2 as ns-2's `DelAckSink` applies it: every second segment in order is
//! acknowledged, a single one after the delay; a segment out of order, one that fills part of a
//! gap, and the SYN are acknowledged at once.

use std::collections::VecDeque;

use crate::packet::{HEADER_BYTES, Kind, Packet};
use crate::units::{Duration, Time};

/// A TCP receiver.
#[derive(Debug)]
pub struct Receiver {
    flow: u32,
    /// Bytes that ride on the ACK of the SYN.
    request_bytes: u32,
    delay: Duration,
    /// Next segment expected.
    expected: u64,
    /// Which segments from `expected` on have arrived; the first is always missing.
    beyond: VecDeque<bool>,
    /// When the ACK held back must go.
    timer: Option<Time>,
}

impl Receiver {
    /// A receiver that has seen nothing. With a `delay` of zero every segment is acknowledged.
    pub fn new(flow: u32, delay: Duration, request_bytes: u32) -> Self {
        Self { flow, request_bytes, delay, expected: 0, beyond: VecDeque::new(), timer: None }
    }

    /// Takes a segment; returns the ACK to send now, if any.
    pub fn on_segment(&mut self, now: Time, seq: u64) -> Option<Packet> {
        self.record(seq);
        let in_order = seq + 1 == self.expected && self.beyond.is_empty();
        if in_order && seq > 0 && self.delay > Duration::ZERO && self.timer.is_none() {
            self.timer = Some(now + self.delay);
            return None;
        }
        self.timer = None;
        Some(self.ack(if seq == 0 { self.request_bytes } else { 0 }))
    }

    /// The delay of a held ACK is over.
    pub fn on_timer(&mut self) -> Packet {
        self.timer = None;
        self.ack(0)
    }

    fn record(&mut self, seq: u64) {
        if seq == self.expected {
            self.expected += 1;
            self.beyond.pop_front();
            while self.beyond.front() == Some(&true) {
                self.beyond.pop_front();
                self.expected += 1;
            }
        } else if seq > self.expected {
            let offset = (seq - self.expected) as usize;
            if self.beyond.len() <= offset {
                self.beyond.resize(offset + 1, false);
            }
            self.beyond[offset] = true;
        }
    }

    /// Before the SYN arrives nothing is acknowledged; its ACK is number 0.
    fn ack(&self, payload: u32) -> Packet {
        Packet {
            flow: self.flow,
            size: HEADER_BYTES + payload,
            kind: Kind::Ack,
            retransmission: false,
            seq: self.expected.saturating_sub(1),
        }
    }

    /// When [`Self::on_timer`] must be called.
    pub fn timer(&self) -> Option<Time> {
        self.timer
    }

    /// Highest segment received in order; 0 before any data.
    pub fn in_order(&self) -> u64 {
        self.expected.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acks(receiver: &mut Receiver, segments: &[u64]) -> Vec<Option<u64>> {
        segments.iter().map(|&seq| receiver.on_segment(Time::ZERO, seq).map(|ack| ack.seq)).collect()
    }

    #[test]
    fn every_second_segment_in_order_is_acknowledged() {
        let mut receiver = Receiver::new(0, Duration::from_millis(100), 0);
        assert_eq!(acks(&mut receiver, &[0, 1, 2, 3]), [Some(0), None, Some(2), None]);
        assert_eq!(receiver.timer(), Some(Time(100_000_000)));
        assert_eq!(receiver.on_timer().seq, 3);
        assert_eq!(receiver.timer(), None);
    }

    #[test]
    fn gaps_are_reported_and_filled_at_once() {
        let mut receiver = Receiver::new(0, Duration::from_millis(100), 0);
        assert_eq!(
            acks(&mut receiver, &[0, 1, 3, 5, 2, 4, 6]),
            [Some(0), None, Some(1), Some(1), Some(3), Some(5), None]
        );
    }

    #[test]
    fn without_delay_every_segment_is_acknowledged() {
        let mut receiver = Receiver::new(0, Duration::ZERO, 100);
        assert_eq!(receiver.on_segment(Time::ZERO, 0).map(|ack| ack.size), Some(140));
        assert_eq!(acks(&mut receiver, &[1, 2, 2]), [Some(1), Some(2), Some(2)]);
    }
}
