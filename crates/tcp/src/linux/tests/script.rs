//! A sender alone, to which a test delivers ACKs and which reports the segments that it sends.

use super::*;

/// Sender of segments of 1000 B on a path with a round-trip time of 100 ms. Its connection is
/// established at 100 ms.
pub struct Script {
    pub sender: Sender,
    pub now: Time,
    params: Linux,
}

/// A sent segment as tests compare it: the number of the segment, and true if it is a
/// retransmission.
pub type Sent = (u64, bool);

pub const MSS: u64 = 1_000;
/// Value of the threshold in [`Script::window`] if there is no slow-start threshold.
pub const NONE: u64 = u64::MAX / MSS;

impl Script {
    /// Creates a sender with `segments` segments of application data. Returns the script, and the
    /// segments that the sender sends when the connection is established.
    pub fn begin(params: Linux, segments: u64) -> (Self, Vec<Sent>) {
        let packet_size = Size(MSS + u64::from(params.header_bytes()));
        let params = Linux { packet_size, pacing: false, ..params };
        let mut new = Self { sender: Sender::new(0, &params), now: Time::ZERO, params };
        let mut out = Vec::new();
        new.sender.write(Time::ZERO, segments * MSS, &mut out);
        new.sender.open(Time::ZERO, &mut out);
        assert_eq!(out.len(), 1, "one SYN");
        new.now = Time::ZERO + MS(100);
        let sent = new.acknowledge(0, &[]);
        (new, sent)
    }

    /// Advances the time by `ms` milliseconds, and asserts that no timer makes the sender send in
    /// this time.
    pub fn wait(&mut self, ms: u64) {
        let sent = self.pause(ms);
        assert!(sent.is_empty(), "{sent:?} before {:?}", self.now);
    }

    /// Advances the time by `ms` milliseconds. Returns the segments that the sender sends because
    /// of timers.
    pub fn pause(&mut self, ms: u64) -> Vec<Sent> {
        self.now += MS(ms);
        let mut out = Vec::new();
        while let Some(at) = self.sender.timer().filter(|&at| at <= self.now) {
            self.sender.on_timer(at, &mut out);
        }
        numbers(&out)
    }

    /// Advances the time to the next expiry of a timer at which the sender sends. Returns the
    /// segments sent.
    pub fn time_out(&mut self) -> Vec<Sent> {
        let mut out = Vec::new();
        while out.is_empty() {
            self.now = self.sender.timer().expect("a timer");
            self.sender.on_timer(self.now, &mut out);
        }
        numbers(&out)
    }

    /// Delivers an ACK of all segments before `next`, with SACK blocks given in segments, and
    /// without an echoed timestamp. Returns the segments that the sender sends.
    pub fn acknowledge(&mut self, next: u64, blocks: &[(u64, u64)]) -> Vec<Sent> {
        self.echo(next, blocks, 0)
    }

    /// Delivers an ACK like [`Self::acknowledge`] that echoes the timestamp `echo_us`.
    pub fn echo(&mut self, next: u64, blocks: &[(u64, u64)], echo_us: u32) -> Vec<Sent> {
        let ack = Segment { echo_us, ..self.ack(next, blocks) };
        self.take(&ack)
    }

    /// Delivers an ACK like [`Self::acknowledge`] that echoes an ECN mark.
    pub fn mark(&mut self, next: u64, blocks: &[(u64, u64)]) -> Vec<Sent> {
        let mut ack = self.ack(next, blocks);
        ack.ecn.echo = true;
        self.take(&ack)
    }

    /// Returns an ACK of all segments before `next`, with the SACK blocks `blocks`, each as (first
    /// segment, last segment + 1).
    pub fn ack(&self, next: u64, blocks: &[(u64, u64)]) -> Segment {
        let window = self.params.receive_buffer.0 as u32;
        let seq = FIRST_BYTE + next * MSS;
        let mut ack = Segment { seq, window, timestamp_us: 1, ..Segment::control(0, Kind::Ack) };
        for &(first, end) in blocks {
            ack.sack.push(FIRST_BYTE + first * MSS, FIRST_BYTE + end * MSS);
        }
        ack
    }

    /// Delivers an ACK to the sender. Returns the segments that the sender sends.
    pub fn take(&mut self, ack: &Segment) -> Vec<Sent> {
        let mut out = Vec::new();
        self.sender.on_ack(self.now, ack, &mut out);
        numbers(&out)
    }

    /// Returns the congestion window and the slow-start threshold in whole segments. The threshold
    /// is [`NONE`] before the first reduction.
    pub fn window(&self) -> (u64, u64) {
        (self.sender.control.cwnd / MSS, self.sender.control.ssthresh / MSS)
    }
}

fn numbers(out: &[Segment]) -> Vec<Sent> {
    out.iter().map(|packet| (packet.seq / MSS, packet.retransmission)).collect()
}
