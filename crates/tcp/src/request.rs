//! The phone's requests, which are repeated until they are heard.
//!
//! A request stands for what a real client sends before data flow: the SYN of the connection it
//! opens, or an application's request. Its retransmission is that of RFC 6298, 2.1 and 5.5, without a
//! round-trip estimate.

use nodeb_base::units::{Duration, Time};

use crate::segment::{Kind, Segment};

const MAX_DOUBLINGS: u32 = 4;

/// Who asks, and asks again until it has been heard.
#[derive(Debug)]
pub struct Requester {
    /// How long an answer is waited for; doubled each time.
    timeout: Duration,
    /// What is asked, how often it was sent, and when it is sent again.
    asking: Option<(Segment, u32, Time)>,
}

impl Requester {
    /// Has asked nothing, and will wait for an answer as long as `timeout` at first.
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, asking: None }
    }

    /// Asks with `packet`; returns what to send.
    pub fn ask(&mut self, now: Time, packet: Segment) -> Segment {
        self.asking = Some((packet, 1, now + self.timeout));
        packet
    }

    /// A packet of this kind has been heard. A late copy of the SYN says nothing of the request after it.
    pub fn on_request(&mut self, kind: Kind) {
        self.asking =
            self.asking.filter(|(packet, ..)| packet.kind == Kind::Request && kind == Kind::Connect);
    }

    /// When [`Self::on_timer`] must be called.
    pub fn timer(&self) -> Option<Time> {
        self.asking.map(|(_, _, at)| at)
    }

    /// The time of [`Self::timer`] has come; returns what to send again.
    pub fn on_timer(&mut self, now: Time) -> Option<Segment> {
        let (packet, sent, at) = self.asking.as_mut().filter(|(_, _, at)| *at <= now)?;
        *at = now + Duration(self.timeout.0 << (*sent).min(MAX_DOUBLINGS));
        *sent += 1;
        Some(Segment { retransmission: true, ..*packet })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_repeated_ever_later_until_it_is_heard() {
        let mut requester = Requester::new(Duration::from_secs(3));
        assert_eq!(requester.timer(), None);
        let first = requester.ask(Time::ZERO, Segment::control(7, Kind::Connect));
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

    /// A path longer than the timeout: the SYN comes twice, the second time after the request was sent and lost.
    #[test]
    fn a_late_syn_does_not_answer_the_request() {
        let mut requester = Requester::new(Duration::from_secs(1));
        requester.ask(Time::ZERO, Segment::control(7, Kind::Request));
        requester.on_request(Kind::Connect);
        assert!(requester.timer().is_some());
        requester.on_request(Kind::Request);
        assert_eq!(requester.timer(), None);
    }
}
