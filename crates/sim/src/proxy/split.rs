//! Like an HTTP proxy and like I-TCP (Bakre & Badrinath, ICDCS 1995), the proxy acknowledges the server's
//! data itself and forwards them under its own congestion control. It opens both connections when the phone's
//! first packet arrives, or the one to the phone at the server's first segment if the server opens. Not
//! modelled: a limit on the bytes held (their maximum is reported), processing time, caching, and the FIN, in
//! place of which the total number of bytes is given.

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::TimerKind;
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};
use nodeb_tcp::request::Requester;
use nodeb_tcp::segment::{Kind, Segment};
use nodeb_tcp::{Receiver, Sender, TcpSpec};

use crate::proxy::rnf::law::{Law, Windows};
use crate::proxy::rnf::meter::Message;

params! {
    /// Parameters of the split connection, whose proxy relays data between two TCP connections.
    pub struct Split {
        /// TCP between proxy and phone; absent: the same as between server and proxy.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tcp: Option<TcpSpec>,
    }
}

impl Checked for Split {
    fn check(&self, check: &mut Check) {
        if let Some(tcp) = &self.tcp {
            check.within("tcp", |check| tcp.check(check));
        }
    }
}

/// For the world to transmit.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Towards the phone.
    pub down: Vec<Segment>,
    /// Towards the server.
    pub up: Vec<Segment>,
}

#[derive(Debug)]
pub struct SplitProxy {
    /// In requests of the phone.
    request_headers: u32,
    receiver: Box<dyn Receiver>,
    sender: Box<dyn Sender>,
    /// In place of congestion control; `None` without radio network feedback.
    law: Option<Law>,
    /// Towards the server.
    requester: Requester,
    /// Towards the phone.
    opened: Option<Time>,
    /// Bytes from the server's connection to the phone's.
    relayed: u64,
    /// Of the server; `None` before [`Self::set_total`].
    total: Option<u64>,
    /// As [`Self::held`].
    max_held: u64,
}

impl SplitProxy {
    /// `request_timeout` is that of the proxy's own requests to the server.
    pub fn new(
        receiver: Box<dyn Receiver>,
        sender: Box<dyn Sender>,
        law: Option<Law>,
        request_headers: u32,
        request_timeout: Duration,
    ) -> Self {
        Self {
            request_headers,
            receiver,
            sender,
            law,
            requester: Requester::new(request_timeout),
            opened: None,
            relayed: 0,
            total: None,
            max_held: 0,
        }
    }

    pub fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut Outbox) {
        self.open(now, out);
        out.up.extend(self.receiver.on_segment(now, segment));
        self.relay(now, out);
    }

    /// A SYN or request makes the proxy send its own to the server; a SYN has no effect once the connection
    /// to the phone is open.
    pub fn on_packet_of_phone(&mut self, now: Time, packet: &Segment, out: &mut Outbox) {
        match packet.kind {
            Kind::Connect if self.opened.is_some() => {}
            Kind::Connect => {
                self.open(now, out);
                out.up.push(self.requester.start(now, self.receiver.connect(now)));
            }
            Kind::Request => {
                let bytes = packet.size.saturating_sub(self.request_headers);
                out.up.push(self.requester.start(now, self.receiver.request(now, bytes)));
            }
            Kind::Data | Kind::Ack => {
                self.sender.on_ack(now, packet, &mut out.down);
                if let Some(law) = &mut self.law {
                    law.note_round_trip(self.sender.counts());
                }
            }
        }
    }

    pub fn on_feedback(&mut self, now: Time, message: &Message, out: &mut Outbox) {
        let held = self.held();
        if let Some(window) = self.law.as_mut().and_then(|law| law.window(message, held)) {
            self.sender.steer(now, window, &mut out.down);
        }
    }

    /// `None` without radio network feedback.
    pub fn windows(&self) -> Option<Windows> {
        self.law.as_ref().map(|law| law.windows)
    }

    /// The request has reached the server.
    pub fn on_request(&mut self, kind: Kind) {
        self.requester.on_request(kind);
    }

    /// Of the server; the phone's connection is closed once all bytes are relayed.
    pub fn set_total(&mut self, total: u64) {
        self.total = Some(total);
        self.close_when_relayed();
    }

    pub fn on_timer(&mut self, now: Time, out: &mut Outbox) {
        let due = |timer: Option<Time>| timer.is_some_and(|at| at <= now);
        if due(self.sender.timer()) {
            self.sender.on_timer(now, &mut out.down);
        }
        if due(self.receiver.timer()) {
            out.up.extend(self.receiver.on_timer(now));
        }
        out.up.extend(self.requester.on_timer(now));
    }

    pub fn timer(&self) -> Option<Time> {
        [self.sender.timer(), self.receiver.timer(), self.requester.timer()].into_iter().flatten().min()
    }

    pub fn expired_timers(&self, now: Time) -> impl Iterator<Item = TimerKind> {
        let due = |timer: Option<Time>| timer.is_some_and(|at| at <= now);
        let sender = due(self.sender.timer()).then(|| self.sender.expired_timer(now));
        let receiver = due(self.receiver.timer()).then_some(TimerKind::Acknowledgement);
        let requester = due(self.requester.timer()).then_some(TimerKind::Request);
        [sender, receiver, requester].into_iter().flatten()
    }

    /// The one that faces the phone.
    pub fn sender(&self) -> &dyn Sender {
        &*self.sender
    }

    pub fn sender_mut(&mut self) -> &mut dyn Sender {
        &mut *self.sender
    }

    /// Towards the phone.
    pub fn opened(&self) -> Option<Time> {
        self.opened
    }

    pub fn max_held(&self) -> u64 {
        self.max_held
    }

    /// Received in order and not acknowledged by the phone.
    fn held(&self) -> u64 {
        self.relayed - self.sender.acked_bytes()
    }

    fn open(&mut self, now: Time, out: &mut Outbox) {
        if self.opened.is_none() {
            self.opened = Some(now);
            self.sender.open(now, &mut out.down);
        }
    }

    fn relay(&mut self, now: Time, out: &mut Outbox) {
        let arrived = self.receiver.delivered_bytes();
        if arrived > self.relayed {
            self.sender.write(now, arrived - self.relayed, &mut out.down);
            self.relayed = arrived;
            self.max_held = self.max_held.max(self.held());
        }
        self.close_when_relayed();
    }

    fn close_when_relayed(&mut self) {
        if self.total == Some(self.relayed) {
            self.sender.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::units::Duration;
    use nodeb_tcp::classic::Classic;

    fn proxy() -> SplitProxy {
        let initial_rto = Some(Duration::from_secs(3));
        let tcp = TcpSpec::Classic(Classic { initial_rto, ..Classic::default() });
        crate::proxy::ProxySpec::Split(Split::default()).build(3, 100, &tcp)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn seqs(packets: &mut Vec<Segment>) -> Vec<(Kind, u64)> {
        packets.drain(..).map(|packet| (packet.kind, packet.seq)).collect()
    }

    #[test]
    fn proxy_answers_the_phone_and_asks_the_server() {
        let (mut proxy, mut out) = (proxy(), Outbox::default());
        proxy.on_packet_of_phone(at(0), &Segment::control(3, Kind::Connect), &mut out);
        assert_eq!(seqs(&mut out.down), [(Kind::Data, 0)]);
        assert_eq!(seqs(&mut out.up), [(Kind::Connect, 0)]);
        // A second SYN of the phone has no effect. The proxy repeats its SYNs to the server and to
        // the phone after 3 s without an answer.
        proxy.on_packet_of_phone(at(10), &Segment::control(3, Kind::Connect), &mut out);
        assert!(out.down.is_empty() && out.up.is_empty());
        assert_eq!(proxy.timer(), Some(at(3000)));
        proxy.on_timer(at(3000), &mut out);
        assert_eq!(seqs(&mut out.up), [(Kind::Connect, 0)]);
        assert_eq!(seqs(&mut out.down), [(Kind::Data, 0)]);
        proxy.on_request(Kind::Connect);
        assert!(proxy.timer().is_some_and(|timer| timer > at(3000) + Duration::from_secs(3)));
    }

    #[test]
    fn data_are_acknowledged_before_they_are_forwarded() {
        let (mut proxy, mut out) = (proxy(), Outbox::default());
        proxy.on_packet_of_phone(at(0), &Segment::control(3, Kind::Connect), &mut out);
        let segment = |seq, size| Segment { size, seq, ..Segment::control(3, Kind::Data) };
        proxy.on_segment(at(5), &segment(0, 40), &mut out);
        proxy.on_segment(at(6), &segment(1, 1500), &mut out);
        proxy.on_segment(at(7), &segment(2, 540), &mut out);
        let acks: Vec<_> = out.up.iter().filter(|packet| packet.kind == Kind::Ack).collect();
        assert_eq!(acks.iter().map(|ack| ack.seq).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(acks[0].size, 140, "the request is forwarded to the server");
        assert_eq!(proxy.max_held(), 1960);
        // The phone's ACK of the SYN releases the data, and the last ACK ends the connection.
        proxy.set_total(1960);
        out.down.clear();
        let ack = |seq| Segment { seq, ..Segment::control(3, Kind::Ack) };
        proxy.on_packet_of_phone(at(100), &ack(0), &mut out);
        assert_eq!(seqs(&mut out.down), [(Kind::Data, 1), (Kind::Data, 2)]);
        assert!(!proxy.sender().is_done());
        proxy.on_packet_of_phone(at(200), &ack(2), &mut out);
        assert!(proxy.sender().is_done());
    }

    #[test]
    fn proxy_opens_to_the_phone_when_the_server_opens_first() {
        let (mut proxy, mut out) = (proxy(), Outbox::default());
        proxy.on_segment(at(5), &Segment::control(3, Kind::Data), &mut out);
        assert_eq!(seqs(&mut out.down), [(Kind::Data, 0)]);
        assert_eq!(proxy.opened(), Some(at(5)));
    }
}
