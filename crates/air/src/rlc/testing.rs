//! TTIs of 10 ms.

use std::collections::VecDeque;

use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::RlcPair;

pub const MS: u64 = 1_000_000;

fn packet(number: u64, bytes: u32) -> Packet {
    Packet::new(number, bytes)
}

/// `per_tti` PDUs in each TTI.
pub struct Air<R: RlcPair> {
    pub rlc: R,
    pub now: Time,
    per_tti: usize,
    /// True if it arrives intact.
    in_flight: VecDeque<(R::Pdu, bool)>,
    /// With the start of the TTI in ms.
    pub sent: Vec<(u64, R::Pdu)>,
    pub delivered: Vec<(u64, u64)>,
    pub dropped: Vec<u64>,
}

impl<R: RlcPair<Pdu: Clone>> Air<R> {
    pub fn new(rlc: R, per_tti: usize) -> Self {
        let (sent, delivered, dropped) = (Vec::new(), Vec::new(), Vec::new());
        Self { rlc, now: Time::ZERO, per_tti, in_flight: VecDeque::new(), sent, delivered, dropped }
    }

    pub fn push(&mut self, numbers: std::ops::Range<u64>, bytes: u32) {
        for number in numbers {
            assert!(self.rlc.push(self.now, packet(number, bytes)));
        }
    }

    /// PDUs arrive at the end of the TTI, in error if `lost`.
    pub fn tti(&mut self, lost: &mut impl FnMut(&R::Pdu) -> bool) {
        self.on_time();
        for _ in 0..self.per_tti {
            let Some(pdu) = self.rlc.send(self.now) else { break };
            self.sent.push((self.now.0 / MS, pdu.clone()));
            let arrives = !lost(&pdu);
            self.in_flight.push_back((pdu, arrives));
        }
        let end = Time(self.now.0 + 10 * MS);
        // Timers may expire during the TTI, so they are handled before the PDUs arrive at its end.
        while let Some(at) = self.rlc.due().filter(|at| *at < end) {
            assert!(at >= self.now, "an event due at {at:?} was not processed until {:?}", self.now);
            self.now = at;
            self.on_time();
        }
        self.now = end;
        for (pdu, arrives) in self.in_flight.drain(..) {
            self.rlc.arrive(end, pdu, arrives);
        }
        self.on_time();
    }

    pub fn on_time(&mut self) {
        if self.rlc.due().is_some_and(|at| at <= self.now) {
            self.rlc.on_time(self.now);
        }
        assert!(self.rlc.due().is_none_or(|at| at > self.now), "a timer expires again without end");
        let ms = self.now.0 / MS;
        let sdus = self.rlc.sdus();
        self.delivered.extend(sdus.delivered.drain(..).map(|packet| (ms, packet.id.0)));
        self.dropped.extend(sdus.dropped.drain(..).map(|packet| packet.id.0));
    }

    pub fn run(&mut self, ttis: usize, mut lost: impl FnMut(&R::Pdu) -> bool) {
        for _ in 0..ttis {
            self.tti(&mut lost);
        }
    }

    pub fn is_quiet(&self) -> bool {
        !self.rlc.is_ready() && self.rlc.due().is_none() && self.in_flight.is_empty()
    }
}
