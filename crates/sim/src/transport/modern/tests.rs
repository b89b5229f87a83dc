//! Both ends over a path of one rate, one delay and one drop-tail queue: the laws that hold on every
//! step, and what each mechanism is for.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::control::CongestionSpec;
use super::params::Linux;
use super::receiver::Receiver;
use super::sack_base;
use super::sender::Sender;
use crate::packet::{Kind, Packet};
use crate::transport::{Receiver as _, Sender as _};
use crate::units::{Duration, NANOS_PER_S, Rate, Size, Time};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// What happens to a data packet on its way: lost, or late by so much.
type Fate<'a> = dyn FnMut(usize, Time, &Packet) -> Option<Duration> + 'a;

struct Path {
    bytes_per_s: u64,
    delay: Duration,
    limit: usize,
    free_at: Time,
    /// From when to when nothing is sent.
    outage: (Time, Time),
    /// Packets in the queue beyond which it marks those that allow it.
    mark_above: usize,
    /// Departures of the packets in the queue.
    queue: std::collections::VecDeque<Time>,
    longest_queue: usize,
}

impl Path {
    fn new(kbps: u64, delay_ms: u64, limit: usize) -> Self {
        let (delay, queue) = (MS(delay_ms), std::collections::VecDeque::new());
        Self {
            bytes_per_s: kbps * 125,
            delay,
            limit,
            free_at: Time::ZERO,
            outage: <_>::default(),
            mark_above: usize::MAX,
            queue,
            longest_queue: 0,
        }
    }

    /// When a packet that arrives now is at the other end; `None` when it finds the queue full.
    fn accept(&mut self, now: Time, size: u32) -> Option<Time> {
        while self.queue.front().is_some_and(|&at| at <= now) {
            self.queue.pop_front();
        }
        if self.queue.len() >= self.limit {
            return None;
        }
        let mut start = self.free_at.max(now);
        if (self.outage.0..self.outage.1).contains(&start) {
            start = self.outage.1;
        }
        self.free_at = start + Duration(u64::from(size) * NANOS_PER_S / self.bytes_per_s);
        self.queue.push_back(self.free_at);
        self.longest_queue = self.longest_queue.max(self.queue.len());
        Some(self.free_at + self.delay)
    }
}

enum Event {
    Data(usize, Packet),
    Ack(usize, Packet),
}

struct Pair {
    sender: Sender,
    receiver: Receiver,
    done: Option<Time>,
    /// One past the last byte that any ACK on its way allows.
    allowed: u64,
}

impl Pair {
    fn new(bytes: u64, params: &Linux) -> Self {
        let (mut sender, receiver) = (Sender::new(0, params), Receiver::new(0, 0, params));
        sender.write(Time::ZERO, bytes, &mut Vec::new());
        sender.close();
        Self { sender, receiver, done: None, allowed: 0 }
    }

    /// What holds at every moment.
    fn check(&self) {
        let sender = &self.sender;
        assert!(sender.window().cwnd >= 1.0, "window {:?}", sender.window());
        assert!(sender.board.next() <= self.allowed, "beyond the receiver's window");
        assert!(sender.board.pipe() <= sender.board.next() - sender.board.una());
        assert_eq!(sender.timer().is_none(), sender.is_done(), "timers {:?}", sender.timers);
    }
}

struct Lab<'a> {
    pairs: Vec<Pair>,
    path: Path,
    events: BTreeMap<(Time, usize), Event>,
    order: usize,
    packets: usize,
    fate: Box<Fate<'a>>,
}

impl<'a> Lab<'a> {
    fn new(bytes: &[u64], params: &Linux, path: Path) -> Self {
        let pairs = bytes.iter().map(|&bytes| Pair::new(bytes, params)).collect();
        let fate: Box<Fate<'a>> = Box::new(|_, _, _| Some(Duration::ZERO));
        Self { pairs, path, events: BTreeMap::new(), order: 0, packets: 0, fate }
    }

    fn with_fate(self, fate: impl FnMut(usize, Time, &Packet) -> Option<Duration> + 'a) -> Self {
        Self { fate: Box::new(fate), ..self }
    }

    fn push(&mut self, at: Time, event: Event) {
        self.order += 1;
        self.events.insert((at, self.order), event);
    }

    fn dispatch(&mut self, now: Time, pair: usize, out: &mut Vec<Packet>) {
        for mut packet in out.drain(..) {
            self.packets += 1;
            packet.ecn.experienced = packet.ecn.capable && self.path.queue.len() > self.path.mark_above;
            if let Some(extra) = (self.fate)(self.packets - 1, now, &packet)
                && let Some(at) = self.path.accept(now, packet.size)
            {
                self.push(at + extra, Event::Data(pair, packet));
            }
        }
        self.pairs[pair].check();
        let state = &mut self.pairs[pair];
        if state.done.is_none() && state.sender.is_done() {
            state.done = Some(now);
        }
    }

    fn send_ack(&mut self, now: Time, pair: usize, ack: Option<Packet>) {
        let Some(ack) = ack else {
            return;
        };
        let state = &mut self.pairs[pair];
        state.allowed = state.allowed.max(ack.seq + u64::from(ack.window));
        self.push(now + self.path.delay, Event::Ack(pair, ack));
    }

    /// When the next timer is due, and whose: (time, pair, whether the sender's).
    fn next_timer(&self) -> Option<(Time, usize, bool)> {
        let of = |(i, pair): (usize, &Pair)| {
            let sender = pair.sender.timer().map(|at| (at, i, true));
            let receiver = pair.receiver.timer().map(|at| (at, i, false));
            [sender, receiver]
        };
        self.pairs.iter().enumerate().flat_map(of).flatten().min()
    }

    /// Runs until `end`, or until everything is done; may be called again to go on.
    fn run(&mut self, end: Time) {
        let mut out = Vec::new();
        for pair in 0..self.pairs.len() {
            self.pairs[pair].sender.open(Time::ZERO, &mut out);
            if !out.is_empty() {
                self.dispatch(Time::ZERO, pair, &mut out);
            }
        }
        while self.pairs.iter().any(|pair| pair.done.is_none()) {
            let event = self.events.first_key_value().map(|(&(at, _), _)| at);
            let timer = self.next_timer();
            let now = event.into_iter().chain(timer.map(|(at, ..)| at)).min().expect("something to wait for");
            if now > end {
                return;
            }
            match timer {
                Some((at, pair, true)) if event.is_none_or(|event| at < event) => {
                    self.pairs[pair].sender.on_timer(now, &mut out);
                    self.dispatch(now, pair, &mut out);
                }
                Some((at, pair, false)) if event.is_none_or(|event| at < event) => {
                    let ack = self.pairs[pair].receiver.on_timer(now);
                    self.send_ack(now, pair, ack);
                }
                _ => self.handle(now, &mut out),
            }
        }
    }

    fn handle(&mut self, now: Time, out: &mut Vec<Packet>) {
        match self.events.pop_first() {
            Some((_, Event::Data(pair, packet))) => {
                let ack = self.pairs[pair].receiver.on_segment(now, &packet);
                self.send_ack(now, pair, ack);
            }
            Some((_, Event::Ack(pair, ack))) => {
                self.pairs[pair].sender.on_ack(now, &ack, out);
                self.dispatch(now, pair, out);
            }
            None => {}
        }
    }

    fn seconds(&self, pair: usize) -> f64 {
        self.pairs[pair].done.expect("done").as_secs()
    }
}

const LONG: Time = Time(10_000 * NANOS_PER_S);

/// A transfer over 4 Mbit/s and 25 ms each way, with `limit` packets of queue.
fn transfer(bytes: u64, params: &Linux, limit: usize) -> Lab<'static> {
    Lab::new(&[bytes], params, Path::new(4_000, 25, limit))
}

fn with(control: CongestionSpec) -> Linux {
    Linux { control, ..Linux::default() }
}

#[test]
fn a_lost_tail_is_found_by_the_probe_and_not_by_the_timeout() {
    // The last two of 20 segments are lost; the SYN is packet 0. Two round trips later the probe
    // repeats the last, and its SACK tells of the other, before the timeout.
    let lose = |with_probe| {
        let params = Linux { tail_loss_probe: with_probe, ..Linux::default() };
        let mut lab = transfer(20 * 1448, &params, 100)
            .with_fate(|i, _, _| (i != 19 && i != 20).then_some(Duration::ZERO));
        lab.run(LONG);
        (lab.pairs[0].sender.counts().timeouts, lab.seconds(0))
    };
    let (probed, timed_out) = (lose(true), lose(false));
    assert_eq!((probed.0, timed_out.0), (0, 1));
    assert!(probed.1 < timed_out.1, "{probed:?} {timed_out:?}");
}

#[test]
fn the_probe_waits_two_round_trips() {
    let mut sender = Sender::new(0, &Linux::default());
    let mut out = Vec::new();
    sender.write(Time::ZERO, 100_000, &mut out);
    sender.open(Time::ZERO, &mut out);
    let mut receiver = Receiver::new(0, 0, &Linux::default());
    let ack = receiver.on_segment(Time(50_000_000), &out.remove(0)).unwrap();
    let now = Time(100_000_000);
    sender.on_ack(now, &ack, &mut out);
    // RFC 8985, 7.2: 2 SRTT with several segments in flight; the timeout comes after three.
    assert_eq!(sender.timers.probe, Some(now + MS(200)));
    assert_eq!(sender.timers.rto, Some(now + MS(300)));
}

#[test]
fn one_loss_costs_one_retransmission_and_no_timeout() {
    for control in CongestionSpec::defaults() {
        let mut lab =
            transfer(300_000, &with(control), 1000).with_fate(|i, _, _| (i != 50).then_some(Duration::ZERO));
        lab.run(LONG);
        let counts = lab.pairs[0].sender.counts();
        assert_eq!((counts.retransmissions, counts.timeouts, counts.fast_retransmits), (1, 0, 1));
    }
}

#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    let mut losses = 2;
    let mut lab = transfer(600_000, &Linux::default(), 1000).with_fate(move |_, _, packet| {
        let hit = packet.seq == 60 * 1448 && losses > 0;
        losses -= i32::from(hit);
        (!hit).then_some(Duration::ZERO)
    });
    lab.run(LONG);
    let counts = lab.pairs[0].sender.counts();
    assert_eq!((counts.retransmissions, counts.timeouts), (2, 0));
}

#[test]
fn a_delay_spike_is_recognized_and_the_window_restored() {
    // A radio link that stops for 1.5 s lets the timer expire although nothing is lost.
    let window_after = |undo| {
        let params = Linux { undo, dsack: undo, tail_loss_probe: false, ..Linux::default() };
        let mut lab = transfer(4_000_000, &params, 1000);
        lab.path.outage = (Time(500_000_000), Time(2_000_000_000));
        lab.run(Time(2_600_000_000));
        let counts = lab.pairs[0].sender.counts();
        assert!(counts.timeouts > 0, "{counts:?}");
        (lab.pairs[0].sender.window().ssthresh, counts.retransmissions)
    };
    let (with_undo, without) = (window_after(true), window_after(false));
    assert!(with_undo.0 > without.0 && with_undo.1 < without.1, "{with_undo:?} {without:?}");
}

#[test]
fn marks_reduce_the_window_without_loss() {
    let longest = |ecn| {
        let params = Linux { ecn, ..Linux::default() };
        let mut lab = transfer(1 << 40, &params, 400);
        lab.path.mark_above = 30;
        lab.run(Time(10 * NANOS_PER_S));
        lab.path.longest_queue = 0;
        lab.run(Time(40 * NANOS_PER_S));
        let sender = &lab.pairs[0].sender;
        assert!(!ecn || sender.counts().retransmissions == 0);
        assert!(sender.board.una() as f64 > 0.9 * 40.0 * 500_000.0);
        lab.path.longest_queue
    };
    assert!(longest(true) < 60 && longest(false) > 200, "{} {}", longest(true), longest(false));
}

#[test]
fn reordering_below_a_quarter_of_a_round_trip_is_no_loss() {
    let mut lab = transfer(2_000_000, &Linux::default(), 1000)
        .with_fate(|i, _, _| Some(if i % 50 == 7 { MS(8) } else { Duration::ZERO }));
    lab.run(LONG);
    let counts = lab.pairs[0].sender.counts();
    assert!(counts.retransmissions <= 3, "{counts:?}");
}

#[test]
fn a_reader_slower_than_the_link_sets_the_pace() {
    let params = Linux { read_rate: Some(Rate(800_000)), receive_buffer: Size(20_000), ..Linux::default() };
    let mut lab = transfer(1_000_000, &params, 1000);
    lab.run(LONG);
    // 1 MB at 100 kB/s, less what is left in the buffer at the end.
    assert!((9.5..10.5).contains(&lab.seconds(0)), "{}", lab.seconds(0));
    assert_eq!(lab.pairs[0].sender.counts().retransmissions, 0);
}

#[test]
fn two_flows_of_one_control_share_fairly() {
    for control in CongestionSpec::defaults() {
        let name = control.key();
        let mut lab = Lab::new(&[1 << 40; 2], &with(control), Path::new(4_000, 25, 40));
        lab.run(Time(120 * NANOS_PER_S));
        let [a, b] = [0, 1].map(|pair| lab.pairs[pair].receiver.delivered_bytes() as f64);
        let (jain, share) = ((a + b).powi(2) / (2.0 * (a * a + b * b)), (a + b) / 120.0 / 500_000.0);
        // Vegas is known for favouring whoever has never seen the queue empty.
        let least = if name == "vegas" { 0.6 } else { 0.9 };
        assert!(jain > least, "{name}: {a} {b}");
        assert!(share > 0.9, "{name}: {share}");
    }
}

#[test]
fn bbr_keeps_the_queue_short_and_loss_based_controls_fill_it() {
    let longest = |control: &str| {
        let spec = CongestionSpec::defaults().into_iter().find(|spec| spec.key() == control).unwrap();
        let mut lab = Lab::new(&[1 << 40], &with(spec), Path::new(4_000, 25, 200));
        lab.run(Time(5 * NANOS_PER_S));
        lab.path.longest_queue = 0;
        lab.run(Time(40 * NANOS_PER_S));
        lab.path.longest_queue
    };
    // One bandwidth-delay product is 17 packets.
    assert!(longest("bbr") <= 17, "{}", longest("bbr"));
    assert!(longest("cubic") > 100, "{}", longest("cubic"));
}

proptest! {
    /// Whatever is lost or late, every law holds at every step and everything arrives.
    #[test]
    fn everything_arrives_and_the_laws_hold(
        drops in prop::collection::btree_set(0usize..120, 0..40),
        late in prop::collection::btree_map(0usize..120, 1u64..800, 0..10),
        control in 0..CongestionSpec::NAMES.len(),
        buffer in 3_000u64..100_000,
        sack: bool,
        timestamps: bool,
        rack: bool,
        pacing: bool,
    ) {
        let control = CongestionSpec::defaults().swap_remove(control);
        let params = Linux {
            pacing: pacing || control.needs_pacing(),
            control,
            receive_buffer: Size(buffer),
            timestamps,
            sack,
            dsack: sack,
            rack: sack && rack,
            tail_loss_probe: sack && rack,
            ..Linux::default()
        };
        let mut lab = transfer(100_000, &params, 20).with_fate(move |i, _, _| {
            (!drops.contains(&i)).then(|| MS(late.get(&i).copied().unwrap_or(0)))
        });
        lab.run(LONG);
        prop_assert!(lab.pairs[0].done.is_some());
        prop_assert_eq!(lab.pairs[0].receiver.delivered_bytes(), 100_000);
    }

    /// Whatever ACKs come, however absurd, the sender keeps its counts and does not panic.
    #[test]
    fn a_sender_survives_any_ack(
        acks in prop::collection::vec(
            (0u64..60_000, 0u32..80_000, prop::collection::vec((0u64..60_000, 1u64..20_000), 0..=3), 0u32..2_000_000),
            1..80,
        ),
        control in 0..CongestionSpec::NAMES.len(),
    ) {
        let control = CongestionSpec::defaults().swap_remove(control);
        let (mut sender, mut out) = (Sender::new(0, &with(control)), Vec::new());
        sender.write(Time::ZERO, 50_000, &mut out);
        sender.open(Time::ZERO, &mut out);
        let mut now = Time::ZERO;
        for (seq, window, blocks, echo_us) in acks {
            now += MS(7);
            let mut ack = Packet { seq, window, echo_us, timestamp_us: 1, ..Packet::control(0, Kind::Ack) };
            for (first, length) in blocks {
                ack.sack.push(sack_base(seq), first, first + length);
            }
            sender.on_ack(now, &ack, &mut out);
            if let Some(at) = sender.timer().filter(|&at| at <= now + MS(3)) {
                sender.on_timer(at.max(now), &mut out);
            }
            prop_assert!(sender.window().cwnd >= 1.0);
            prop_assert!(sender.board.next() <= 50_000 && sender.board.una() <= sender.board.next());
        }
    }
}
