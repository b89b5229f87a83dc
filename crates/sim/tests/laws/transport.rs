//! Laws of the TCP ends by themselves, over a path that loses and reorders.

use nodeb_sim::packet::Packet;
use nodeb_sim::transport::{Receiver, Sender, TcpSpec};
use nodeb_sim::units::{Duration, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use super::cases;

/// What the path does to the packets of one direction, in order; packets beyond the list pass.
type Fate = Vec<Option<u32>>;

struct Path {
    fate: std::vec::IntoIter<Option<u32>>,
    on_the_way: Vec<(Time, u64, Packet)>,
    stamp: u64,
}

impl Path {
    fn new(fate: Fate) -> Self {
        Self { fate: fate.into_iter(), on_the_way: Vec::new(), stamp: 0 }
    }

    fn send(&mut self, now: Time, packet: Packet) {
        if let Some(extra_ms) = self.fate.next().unwrap_or(Some(0)) {
            self.stamp += 1;
            let delay = Duration::from_millis(50 + u64::from(extra_ms));
            self.on_the_way.push((now + delay, self.stamp, packet));
        }
    }

    fn next(&self) -> Option<Time> {
        self.on_the_way.iter().map(|(at, ..)| *at).min()
    }

    fn arrive(&mut self) -> Packet {
        let first = (0..self.on_the_way.len()).min_by_key(|&i| (self.on_the_way[i].0, self.on_the_way[i].1));
        self.on_the_way.swap_remove(first.expect("something is on the way")).2
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    vec(prop_oneof![6 => Just(Some(0)), 2 => (0..200u32).prop_map(Some), 2 => Just(None)], 0..150)
}

/// Both ends of a connection over which a file will be sent.
fn ends(tcp: &TcpSpec, bytes: u64) -> (Box<dyn Sender>, Box<dyn Receiver>) {
    let (mut sender, receiver) = tcp.build(0, 0);
    let mut early = Vec::new();
    sender.write(Time::ZERO, bytes, &mut early);
    sender.close();
    assert!(early.is_empty(), "data before the connection is open: {early:?}");
    (sender, receiver)
}

proptest! {
    #![proptest_config(crate::config(600))]

    /// However the first packets are treated, all data arrive, the sender hears of it and then
    /// keeps silent: no timer, no segment.
    #[test]
    fn finite_trouble_ends(tcp in cases::tcp(), bytes in 1..150_000u64, down in fate(), up in fate()) {
        let (mut sender, mut receiver) = ends(&tcp, bytes);
        let (mut down, mut up, mut out) = (Path::new(down), Path::new(up), Vec::new());
        let (mut now, mut sent_once) = (Time::ZERO, 0);
        sender.open(now, &mut out);
        for _ in 0..200_000 {
            for packet in out.drain(..) {
                let counts = packet.seq > 0 && !packet.retransmission;
                sent_once += if counts { u64::from(packet.size) } else { 0 };
                down.send(now, packet);
            }
            let due = [down.next(), up.next(), sender.timer(), receiver.timer()];
            let Some(at) = due.iter().flatten().min().copied() else { break };
            prop_assert!(at >= now, "time ran backward");
            now = at;
            let was_done = sender.is_done();
            match due.iter().position(|time| *time == Some(at)) {
                Some(0) => {
                    let ack = receiver.on_segment(at, &down.arrive());
                    if let Some(ack) = ack {
                        up.send(at, ack);
                    }
                }
                Some(1) => sender.on_ack(at, &up.arrive(), &mut out),
                Some(2) => sender.on_timer(at, &mut out),
                _ => {
                    if let Some(ack) = receiver.on_timer(at) {
                        up.send(at, ack);
                    }
                }
            }
            prop_assert!(!was_done || out.is_empty(), "sent after the end: {:?}", out);
            prop_assert!(receiver.delivered_bytes() <= bytes);
        }
        prop_assert!(sender.is_done() && sender.timer().is_none() && receiver.timer().is_none());
        prop_assert_eq!(receiver.delivered_bytes(), bytes);
        prop_assert_eq!(sent_once, sender.wire_bytes());
    }

    /// ACKs that are still on their way when the last one has come start nothing.
    #[test]
    fn a_finished_sender_keeps_silent(tcp in cases::tcp(), bytes in 1..20_000u64) {
        let (mut sender, mut receiver) = ends(&tcp, bytes);
        let (mut out, mut last) = (Vec::new(), None);
        sender.open(Time::ZERO, &mut out);
        while !sender.is_done() {
            for segment in std::mem::take(&mut out) {
                let ack = receiver.on_segment(Time::ZERO, &segment);
                last = ack.or_else(|| receiver.on_timer(Time::ZERO));
                sender.on_ack(Time::ZERO, &last.expect("an ACK"), &mut out);
            }
        }
        for _ in 0..6 {
            sender.on_ack(Time::ZERO, &last.unwrap(), &mut out);
        }
        prop_assert!(out.is_empty() && sender.is_done() && sender.timer().is_none(), "{out:?}");
    }
}
