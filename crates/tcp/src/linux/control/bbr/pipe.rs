//! Unlimited data over 1 MB/s, 100 ms and a queue.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

use super::super::{AckEvent, CongestionControl, Loss, Phase};
use super::path::Path;
use crate::linux::rate::{Sampler, Snapshot};

pub const MSS: u64 = 1_000;
pub const RATE: f64 = 1e6;
pub const RTT: Duration = Duration(100_000_000);
/// In segments.
pub const BDP: u64 = 100;
const SEGMENT: Duration = Duration(1_000_000);

struct SentSegment {
    answered_at: Time,
    sent: Time,
    number: u64,
    lost: bool,
    snapshot: Snapshot,
}

pub struct Pipe<C> {
    pub control: C,
    pub now: Time,
    /// In segments; more are lost.
    pub limit: u64,
    /// By number, in addition to a full queue.
    pub loses: fn(u64) -> bool,
    /// Each ACK reports a mark (ECN) outside recovery.
    pub marks: bool,
    /// In segments, since a test last set it to 0.
    pub longest: u64,
    pub lost: u64,
    pub sent: u64,
    flight: VecDeque<SentSegment>,
    sampler: Sampler,
    free_at: Time,
    send_at: Time,
    recovery: Option<u64>,
}

impl<C: CongestionControl> Pipe<C> {
    pub fn new(control: C) -> Self {
        Self {
            control,
            now: Time::ZERO,
            limit: u64::MAX,
            loses: |_| false,
            marks: false,
            longest: 0,
            lost: 0,
            sent: 0,
            flight: VecDeque::new(),
            sampler: Sampler::default(),
            free_at: Time::ZERO,
            send_at: Time::ZERO,
            recovery: None,
        }
    }

    pub fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * MSS
    }

    /// `look` is called after each ACK.
    pub fn run(&mut self, seconds: f64, mut look: impl FnMut(&Self)) {
        let end = Time((seconds * NANOS_PER_S as f64) as u64);
        while self.now < end {
            let next_ack = self.flight.front().map(|segment| segment.answered_at);
            let may_send = self.in_flight() + MSS <= self.control.cwnd() || self.flight.is_empty();
            if may_send && next_ack.is_none_or(|at| self.send_at <= at) {
                self.now = self.now.max(self.send_at);
                self.send();
            } else if let Some(segment) = self.flight.pop_front() {
                self.now = segment.answered_at;
                self.answer(&segment);
                look(self);
            }
        }
    }

    fn send(&mut self) {
        let snapshot = self.sampler.on_send(self.now, MSS, self.in_flight(), self.flight.is_empty());
        let queue = self.free_at.since(self.now).0 / SEGMENT.0;
        let lost = queue >= self.limit || (self.loses)(self.sent);
        if !lost {
            self.free_at = self.free_at.max(self.now) + SEGMENT;
            self.longest = self.longest.max(queue);
        }
        let answered_at = self.free_at.max(self.now) + Duration(RTT.0 - SEGMENT.0);
        let (sent, number) = (self.now, self.sent);
        self.flight.push_back(SentSegment { answered_at, sent, number, lost, snapshot });
        self.sent += 1;
        let pace = self.control.pacing_rate().unwrap_or(RATE);
        self.send_at = self.now + Duration((MSS as f64 / pace * 1e9) as u64);
    }

    fn answer(&mut self, segment: &SentSegment) {
        if self.recovery.is_some_and(|end| segment.number >= end) {
            self.recovery = None;
            self.control.on_recovered(self.now);
        }
        let prior_in_flight = self.in_flight() + MSS;
        if segment.lost {
            self.lose(segment);
        } else {
            self.sampler.on_delivered(self.now, MSS, segment.sent, segment.snapshot);
        }
        let rtt = self.now.since(segment.sent);
        let marked = self.marks && self.recovery.is_none();
        if marked {
            self.reduce();
        }
        let bytes = |counts: bool| if counts { MSS } else { 0 };
        self.control.on_ack(&AckEvent {
            now: self.now,
            delivered: bytes(!segment.lost),
            lost: bytes(segment.lost),
            marked,
            prior_in_flight,
            in_flight: self.in_flight(),
            rtt: (!segment.lost).then_some(rtt),
            srtt: rtt,
            sample: self.sampler.finish(None),
            total_delivered: self.sampler.delivered(),
            phase: if self.recovery.is_some() { Phase::Recovery } else { Phase::Open },
            ..AckEvent::default()
        });
    }

    /// Detected when its ACK would have arrived.
    fn lose(&mut self, segment: &SentSegment) {
        self.lost += 1;
        let range = (segment.number * MSS, (segment.number + 1) * MSS);
        let lost = self.sampler.record_lost(MSS, segment.snapshot);
        let (now, snapshot, delivered) = (self.now, segment.snapshot, self.sampler.delivered());
        self.control.on_loss(&Loss { now, range, snapshot, lost, delivered });
        if self.recovery.is_none() {
            self.reduce();
        }
    }

    fn reduce(&mut self) {
        self.recovery = Some(self.sent);
        self.control.on_congestion(self.now, self.in_flight());
    }
}

/// Estimates within 5 %, and a queue below a bandwidth-delay product after start-up.
pub fn assert_steady_path_estimates<C: CongestionControl>(mut pipe: Pipe<C>, path: impl Fn(&C) -> &Path) {
    pipe.run(2.0, |_| {});
    pipe.longest = 0;
    pipe.run(30.0, |_| {});
    let bandwidth = path(&pipe.control).max_bandwidth();
    assert!((bandwidth / RATE - 1.0).abs() < 0.05, "{bandwidth}");
    let (min_rtt, _) = path(&pipe.control).min_rtt.unwrap();
    assert!(min_rtt.0.abs_diff(RTT.0) < RTT.0 / 20, "{min_rtt}");
    assert!(pipe.longest < BDP, "{} segments in the queue", pipe.longest);
}
