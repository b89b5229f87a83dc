//! SYNs and application requests, retransmitted by RFC 6298, 2.1 and 5.5, with a fixed initial timeout.

use nodeb_base::units::{Duration, Time};

use crate::segment::{Kind, Segment};

const MAX_DOUBLINGS: u32 = 4;

/// One at a time.
#[derive(Debug)]
pub struct Requester {
    /// To the first retransmission, doubled with each, up to 2^[`MAX_DOUBLINGS`].
    timeout: Duration,
    /// Transmissions so far, and time of the next.
    pending: Option<(Segment, u32, Time)>,
}

impl Requester {
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, pending: None }
    }

    /// `packet` must be sent now.
    pub fn start(&mut self, now: Time, packet: Segment) -> Segment {
        self.pending = Some((packet, 1, now + self.timeout));
        packet
    }

    /// A late copy of the SYN (`Connect`) does not end an application request.
    pub fn on_request(&mut self, kind: Kind) {
        self.pending =
            self.pending.filter(|(packet, ..)| packet.kind == Kind::Request && kind == Kind::Connect);
    }

    pub fn timer(&self) -> Option<Time> {
        self.pending.map(|(_, _, at)| at)
    }

    /// The packet to retransmit.
    pub fn on_timer(&mut self, now: Time) -> Option<Segment> {
        let (packet, sent, at) = self.pending.as_mut().filter(|(_, _, at)| *at <= now)?;
        *at = now + Duration(self.timeout.0 << (*sent).min(MAX_DOUBLINGS));
        *sent += 1;
        Some(Segment { retransmission: true, ..*packet })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_retransmitted_with_backoff_until_answered() {
        let mut requester = Requester::new(Duration::from_secs(3));
        assert_eq!(requester.timer(), None);
        let first = requester.start(Time::ZERO, Segment::control(7, Kind::Connect));
        assert!(!first.retransmission);
        let mut times = Vec::new();
        for _ in 0..7 {
            let at = requester.timer().unwrap();
            assert_eq!(requester.on_timer(Time(at.0 - 1)), None);
            assert_eq!(requester.on_timer(at), Some(Segment { retransmission: true, ..first }));
            times.push(at.0 / 1_000_000_000);
        }
        assert_eq!(times, [3, 9, 21, 45, 93, 141, 189]);
        requester.on_request(Kind::Connect);
        assert_eq!(requester.timer(), None);
    }

    /// The second copy of the SYN arrives after the phone has sent its request, which was lost.
    #[test]
    fn late_syn_does_not_answer_request() {
        let mut requester = Requester::new(Duration::from_secs(1));
        requester.start(Time::ZERO, Segment::control(7, Kind::Request));
        requester.on_request(Kind::Connect);
        assert!(requester.timer().is_some());
        requester.on_request(Kind::Request);
        assert_eq!(requester.timer(), None);
    }
}
