//! Requests of the phone, or of a proxy to the server, which are retransmitted until they arrive.
//!
//! A request is a packet that a client sends to get a connection or data: the SYN of a connection
//! that the client opens, or the request of an application. The request is retransmitted by the
//! rules of RFC 6298, 2.1 and 5.5, with a fixed initial timeout instead of an estimate of the
//! round-trip time.

use nodeb_base::units::{Duration, Time};

use crate::segment::{Kind, Segment};

const MAX_DOUBLINGS: u32 = 4;

/// Sender of a client's requests, one at a time. The client is the phone or a proxy. The pending
/// request is retransmitted until it arrives at the other end of the connection.
#[derive(Debug)]
pub struct Requester {
    /// Time from the first transmission of a request to its first retransmission. The interval
    /// doubles with each retransmission, up to 2^[`MAX_DOUBLINGS`] times this value.
    timeout: Duration,
    /// Pending request: the packet, the number of its transmissions so far, and the time of the
    /// next transmission.
    pending: Option<(Segment, u32, Time)>,
}

impl Requester {
    /// Creates a requester without a pending request. `timeout` is the time after which an
    /// unanswered request is retransmitted for the first time.
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, pending: None }
    }

    /// Makes `packet` the pending request, and arms the timer of its retransmission. Returns
    /// `packet`, which the caller must send now.
    pub fn start(&mut self, now: Time, packet: Segment) -> Segment {
        self.pending = Some((packet, 1, now + self.timeout));
        packet
    }

    /// Handles the arrival of a request of kind `kind` at the other end of the connection. This
    /// arrival ends the pending request, but a late copy of the SYN (`Connect`) does not end a
    /// pending application request.
    pub fn on_request(&mut self, kind: Kind) {
        self.pending =
            self.pending.filter(|(packet, ..)| packet.kind == Kind::Request && kind == Kind::Connect);
    }

    /// Returns the time at which [`Self::on_timer`] must be called, or `None` if no request is
    /// pending.
    pub fn timer(&self) -> Option<Time> {
        self.pending.map(|(_, _, at)| at)
    }

    /// Handles the expiry of [`Self::timer`]. Returns the packet to retransmit, or `None` if no
    /// retransmission is due at `now`.
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

    /// The round-trip time exceeds the timeout, so the SYN is retransmitted and arrives twice. The
    /// second copy arrives after the phone has sent its request, which was lost.
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
