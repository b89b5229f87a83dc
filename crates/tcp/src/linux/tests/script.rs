use super::*;

/// Segments of 1000 B, 100 ms, established at 100 ms.
pub struct Script {
    pub sender: Sender,
    pub now: Time,
    params: Linux,
}

/// Segment, and whether it is a retransmission.
pub type Sent = (u64, bool);

pub const MSS: u64 = 1_000;
/// No slow-start threshold in [`Script::window`].
pub const NONE: u64 = u64::MAX / MSS;

impl Script {
    /// With what is sent when the connection is established.
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

    /// No timer sends.
    pub fn wait(&mut self, ms: u64) {
        let sent = self.pause(ms);
        assert!(sent.is_empty(), "{sent:?} before {:?}", self.now);
    }

    /// Sent because of timers.
    pub fn pause(&mut self, ms: u64) -> Vec<Sent> {
        self.now += MS(ms);
        let mut out = Vec::new();
        while let Some(at) = self.sender.timer().filter(|&at| at <= self.now) {
            self.sender.on_timer(at, &mut out);
        }
        numbers(&out)
    }

    /// The next expiry at which something is sent.
    pub fn time_out(&mut self) -> Vec<Sent> {
        let mut out = Vec::new();
        while out.is_empty() {
            self.now = self.sender.timer().expect("a timer");
            self.sender.on_timer(self.now, &mut out);
        }
        numbers(&out)
    }

    /// Blocks in segments, no timestamp; what is then sent.
    pub fn acknowledge(&mut self, next: u64, blocks: &[(u64, u64)]) -> Vec<Sent> {
        self.echo(next, blocks, 0)
    }

    /// With the timestamp `echo_us`.
    pub fn echo(&mut self, next: u64, blocks: &[(u64, u64)], echo_us: u32) -> Vec<Sent> {
        let ack = Segment { echo_us, ..self.ack(next, blocks) };
        self.take(&ack)
    }

    /// With an ECN mark.
    pub fn mark(&mut self, next: u64, blocks: &[(u64, u64)]) -> Vec<Sent> {
        let mut ack = self.ack(next, blocks);
        ack.ecn.echo = true;
        self.take(&ack)
    }

    /// Blocks as (first segment, last segment + 1).
    pub fn ack(&self, next: u64, blocks: &[(u64, u64)]) -> Segment {
        let window = self.params.receive_buffer.0 as u32;
        let seq = FIRST_BYTE + next * MSS;
        let mut ack = Segment { seq, window, timestamp_us: 1, ..Segment::control(0, Kind::Ack) };
        for &(first, end) in blocks {
            ack.sack.push(FIRST_BYTE + first * MSS, FIRST_BYTE + end * MSS);
        }
        ack
    }

    pub fn take(&mut self, ack: &Segment) -> Vec<Sent> {
        let mut out = Vec::new();
        self.sender.on_ack(self.now, ack, &mut out);
        numbers(&out)
    }

    /// In whole segments; the threshold may be [`NONE`].
    pub fn window(&self) -> (u64, u64) {
        (self.sender.control.cwnd / MSS, self.sender.control.ssthresh / MSS)
    }
}

fn numbers(out: &[Segment]) -> Vec<Sent> {
    out.iter().map(|packet| (packet.seq / MSS, packet.retransmission)).collect()
}
