//! The path loses and reorders packets.

use nodeb_base::units::{Duration, Time};
use nodeb_tcp::segment::Segment;
use nodeb_tcp::{Receiver, Sender, TcpSpec};
use proptest::collection::vec;
use proptest::prelude::*;

use super::cases;

/// Extra delay in ms in order of sending, `None` if lost; none beyond the list.
type Fate = Vec<Option<u32>>;

struct Path {
    fate: std::vec::IntoIter<Option<u32>>,
    in_flight: Vec<(Time, u64, Segment)>,
    stamp: u64,
}

impl Path {
    fn new(fate: Fate) -> Self {
        Self { fate: fate.into_iter(), in_flight: Vec::new(), stamp: 0 }
    }

    fn send(&mut self, now: Time, packet: Segment) {
        if let Some(extra_ms) = self.fate.next().unwrap_or(Some(0)) {
            self.stamp += 1;
            let delay = Duration::from_millis(50 + u64::from(extra_ms));
            self.in_flight.push((now + delay, self.stamp, packet));
        }
    }

    fn next(&self) -> Option<Time> {
        self.in_flight.iter().map(|(at, ..)| *at).min()
    }

    fn arrive(&mut self) -> Segment {
        let first = (0..self.in_flight.len()).min_by_key(|&i| (self.in_flight[i].0, self.in_flight[i].1));
        self.in_flight.swap_remove(first.expect("a packet is in flight")).2
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    vec(prop_oneof![6 => Just(Some(0)), 2 => (0..200u32).prop_map(Some), 2 => Just(None)], 0..150)
}

type Ends = (Box<dyn Sender>, Box<dyn Receiver>);

/// The server may write more later.
fn open_ends(tcp: &TcpSpec, bytes: u64) -> Ends {
    let (mut sender, receiver) = tcp.build(0, 0);
    let mut early = Vec::new();
    sender.write(Time::ZERO, bytes, &mut early);
    assert!(early.is_empty(), "data before the connection is open: {early:?}");
    (sender, receiver)
}

/// The server sends nothing more.
fn ends(tcp: &TcpSpec, bytes: u64) -> Ends {
    let mut ends = open_ends(tcp, bytes);
    ends.0.close();
    ends
}

/// Until nothing is in flight, the sender is idle and no receiver's timer armed; the last ACK, and the bytes
/// of all first transmissions without the SYN.
fn exchange(ends: &mut Ends, mut down: Path, up: Path) -> Result<(Option<Segment>, u64), TestCaseError> {
    let mut syn = Vec::new();
    ends.0.open(Time::ZERO, &mut syn);
    for packet in syn {
        down.send(Time::ZERO, packet);
    }
    continue_exchange(ends, Time::ZERO, vec![], (down, up), vec![])
}

/// After each ACK the next of `windows` is set from outside.
fn continue_exchange(
    (sender, receiver): &mut Ends,
    mut now: Time,
    mut out: Vec<Segment>,
    (mut down, mut up): (Path, Path),
    windows: Vec<f64>,
) -> Result<(Option<Segment>, u64), TestCaseError> {
    let (mut last, mut sent_once) = (None, 0);
    let mut windows = windows.into_iter();
    for _ in 0..200_000 {
        for packet in out.drain(..) {
            sent_once += if packet.retransmission { 0 } else { u64::from(packet.size) };
            down.send(now, packet);
        }
        let due = [down.next(), up.next(), sender.timer(), receiver.timer()];
        let is_quiet = sender.is_idle() && due[0].or(due[1]).or(due[3]).is_none();
        let Some(at) = due.iter().flatten().min().copied().filter(|_| !is_quiet) else {
            return Ok((last, sent_once));
        };
        prop_assert!(at >= now, "time ran backward");
        now = at;
        let was_done = sender.is_done();
        let ack = match due.iter().position(|time| *time == Some(at)) {
            Some(0) => receiver.on_segment(at, &down.arrive()),
            Some(1) => {
                let ack = up.arrive();
                last = Some(ack);
                sender.on_ack(at, &ack, &mut out);
                if let Some(window) = windows.next() {
                    sender.steer(at, window, &mut out);
                }
                None
            }
            Some(2) => {
                sender.on_timer(at, &mut out);
                None
            }
            _ => receiver.on_timer(at),
        };
        if let Some(ack) = ack {
            up.send(at, ack);
        }
        prop_assert!(!was_done || out.is_empty(), "sent after the end: {out:?}");
    }
    Err(TestCaseError::fail("still active after 200 000 events"))
}

proptest! {
    #![proptest_config(super::config(600))]

    /// Some of the first packets are lost or delayed; afterwards no timer is armed.
    #[test]
    fn transfers_complete_after_finitely_many_losses(tcp in cases::tcp(), bytes in 1..150_000u64, down in fate(), up in fate()) {
        let mut ends = ends(&tcp, bytes);
        let (_, sent_once) = exchange(&mut ends, Path::new(down), Path::new(up))?;
        let (sender, receiver) = ends;
        prop_assert!(sender.is_done() && sender.timer().is_none() && receiver.timer().is_none());
        prop_assert_eq!(receiver.delivered_bytes(), bytes);
        prop_assert_eq!(sent_once, sender.wire_bytes());
    }

    /// 0 included.
    #[test]
    fn transfers_complete_with_windows_set_from_outside(
        tcp in cases::tcp(), bytes in 1..150_000u64, down in fate(), up in fate(), windows in vec(0.0..80.0, 1..60),
    ) {
        let (mut ends, mut syn, mut down) = (ends(&tcp, bytes), Vec::new(), Path::new(down));
        ends.0.open(Time::ZERO, &mut syn);
        syn.drain(..).for_each(|packet| down.send(Time::ZERO, packet));
        let (_, sent_once) = continue_exchange(&mut ends, Time::ZERO, vec![], (down, Path::new(up)), windows)?;
        let (sender, receiver) = ends;
        prop_assert!(sender.is_done() && sender.timer().is_none() && receiver.timer().is_none());
        prop_assert_eq!(receiver.delivered_bytes(), bytes);
        prop_assert_eq!(sent_once, sender.wire_bytes());
    }

    #[test]
    fn finished_sender_ignores_further_acks(tcp in cases::tcp(), bytes in 1..20_000u64) {
        let mut ends = ends(&tcp, bytes);
        let (last, _) = exchange(&mut ends, Path::new(vec![]), Path::new(vec![]))?;
        let (mut sender, mut out) = (ends.0, Vec::new());
        for _ in 0..6 {
            sender.on_ack(Time(u64::MAX / 4), &last.expect("an ACK"), &mut out);
        }
        prop_assert!(out.is_empty() && sender.is_done() && sender.timer().is_none(), "{out:?}");
    }

    /// RFC 5681, 2: duplicate ACKs without outstanding data are no sign of loss.
    #[test]
    fn idle_sender_takes_no_duplicate_ack_for_a_loss(
        tcp in cases::tcp(), first in 1..20_000u64, second in 1..20_000u64,
    ) {
        let mut ends = open_ends(&tcp, first);
        let (last, _) = exchange(&mut ends, Path::new(vec![]), Path::new(vec![]))?;
        let (later, mut out) = (Time(3_600_000_000_000), Vec::new());
        for _ in 0..6 {
            ends.0.on_ack(later, &last.expect("an ACK"), &mut out);
        }
        prop_assert!(out.is_empty(), "{out:?}");
        ends.0.write(later, second, &mut out);
        ends.0.close();
        continue_exchange(&mut ends, later, out, (Path::new(vec![]), Path::new(vec![])), vec![])?;
        prop_assert_eq!(ends.1.delivered_bytes(), first + second);
    }
}
