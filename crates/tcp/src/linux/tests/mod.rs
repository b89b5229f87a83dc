//! A path with a rate, a delay and a drop-tail queue; `script` has a sender alone.

mod beyond;
mod frto;
mod loss;
mod no_sack;
mod pauses;
mod properties;
mod quick_acks;
mod recovery;
mod reordering;
mod script;
mod sizes;
mod timeouts;
mod undo;
mod windows;

use std::collections::{BTreeMap, BTreeSet};

use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Size, Time};

use super::control::CongestionSpec;
use super::params::Linux;
use super::receiver::Receiver;
use super::sender::Sender;
use super::timers::{ArmedTimer, Pending};
use super::{FIRST_BYTE, jiffies};
use crate::segment::{Kind, Segment};
use crate::{Receiver as _, Sender as _};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// By index, time and contents: extra delay, or `None` if lost.
type Fate<'a> = dyn FnMut(usize, Time, &Segment) -> Option<Duration> + 'a;

struct Path {
    bytes_per_s: u64,
    delay: Duration,
    limit: usize,
    free_at: Time,
    /// No transmission starts between them.
    outage: (Time, Time),
    /// Packets in the queue.
    mark_above: usize,
    /// Departure times.
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

    /// Arrival at the other end; `None` if the queue is full.
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
    Data(usize, Segment),
    Ack(usize, Segment),
}

struct Pair {
    sender: Sender,
    receiver: Receiver,
    done: Option<Time>,
    /// Right edge of ACKs that the path has not lost.
    allowed: u64,
}

impl Pair {
    fn new(bytes: u64, params: &Linux) -> Self {
        let (mut sender, receiver) = (Sender::new(0, params), Receiver::new(0, 0, params));
        sender.write(Time::ZERO, bytes, &mut Vec::new());
        sender.close();
        Self { sender, receiver, done: None, allowed: 0 }
    }

    /// `before` bytes were in flight.
    fn check(&self, before: u64, sent: &[Segment], by_timer: bool) {
        let sender = &self.sender;
        let (cwnd, mss) = (sender.control.cwnd, sender.mss);
        assert!(cwnd >= mss && sender.window().cwnd >= 1.0, "window {cwnd} {:?}", sender.window());
        assert!(sender.scoreboard.next() <= self.allowed, "beyond the receiver's window");
        // A retransmission of a segment that was not lost is in flight in addition to the segment
        // itself (`tcp_packets_in_flight`), so `pipe` may exceed the outstanding data by the
        // retransmissions.
        let outstanding = sender.scoreboard.outstanding_segments() * mss;
        assert!(sender.scoreboard.pipe() <= outstanding + u64::from(sender.scoreboard.repairs()) * mss);
        assert_eq!(sender.timer().is_none(), sender.is_idle(), "timers {:?}", sender.timers);
        // The data in flight may exceed the window in three cases. First, a timeout retransmits one
        // segment in any case (RFC 6298, 5.4). Second, a tail loss probe is one segment more (RFC
        // 8985, 7.3). Third, PRR spreads the reduction of the data in flight over a round trip (RFC
        // 6937, 3). Limited Transmit is no such case, since segments reported by duplicate ACKs are
        // no longer in flight.
        let most = match sender.episode.prr() {
            Some(prr) => prr.cwnd().max(before + mss),
            None if by_timer => cwnd.max(before + mss),
            None => cwnd,
        };
        assert!(sent.is_empty() || sender.in_flight() <= most, "{} > {most}", sender.in_flight());
    }
}

struct Lab<'a> {
    pairs: Vec<Pair>,
    path: Path,
    events: BTreeMap<(Time, usize), Event>,
    order: usize,
    packets: usize,
    fate: Box<Fate<'a>>,
    acks: usize,
    /// In the order of transmission.
    lost_acks: BTreeSet<usize>,
}

impl<'a> Lab<'a> {
    fn new(bytes: &[u64], params: &Linux, path: Path) -> Self {
        let pairs = bytes.iter().map(|&bytes| Pair::new(bytes, params)).collect();
        let fate: Box<Fate<'a>> = Box::new(|_, _, _| Some(Duration::ZERO));
        Self {
            pairs,
            path,
            events: BTreeMap::new(),
            order: 0,
            packets: 0,
            fate,
            acks: 0,
            lost_acks: BTreeSet::new(),
        }
    }

    fn with_fate(self, fate: impl FnMut(usize, Time, &Segment) -> Option<Duration> + 'a) -> Self {
        Self { fate: Box::new(fate), ..self }
    }

    fn push(&mut self, at: Time, event: Event) {
        self.order += 1;
        self.events.insert((at, self.order), event);
    }

    /// Checks invariants, and puts what is sent on the path.
    fn act(
        &mut self,
        now: Time,
        pair: usize,
        by_timer: bool,
        act: impl FnOnce(&mut Sender, &mut Vec<Segment>),
    ) {
        let state = &mut self.pairs[pair];
        let (before, mut out) = (state.sender.in_flight(), Vec::new());
        act(&mut state.sender, &mut out);
        state.check(before, &out, by_timer);
        self.dispatch(now, pair, &mut out);
    }

    fn dispatch(&mut self, now: Time, pair: usize, out: &mut Vec<Segment>) {
        for mut packet in out.drain(..) {
            self.packets += 1;
            packet.ecn.experienced = packet.ecn.capable && self.path.queue.len() > self.path.mark_above;
            if let Some(extra) = (self.fate)(self.packets - 1, now, &packet)
                && let Some(at) = self.path.accept(now, packet.size)
            {
                self.push(at + extra, Event::Data(pair, packet));
            }
        }
        let state = &mut self.pairs[pair];
        if state.done.is_none() && state.sender.is_done() {
            state.done = Some(now);
        }
    }

    fn send_ack(&mut self, now: Time, pair: usize, ack: Option<Segment>) {
        let Some(ack) = ack else {
            return;
        };
        let state = &mut self.pairs[pair];
        self.acks += 1;
        if !self.lost_acks.contains(&(self.acks - 1)) {
            state.allowed = state.allowed.max(ack.seq - FIRST_BYTE + u64::from(ack.window));
            self.push(now + self.path.delay, Event::Ack(pair, ack));
        }
    }

    /// (time, connection, true for the sender).
    fn next_timer(&self) -> Option<(Time, usize, bool)> {
        let of = |(i, pair): (usize, &Pair)| {
            let sender = pair.sender.timer().map(|at| (at, i, true));
            let receiver = pair.receiver.timer().map(|at| (at, i, false));
            [sender, receiver]
        };
        self.pairs.iter().enumerate().flat_map(of).flatten().min()
    }

    /// Or until all transfers are complete; a later call continues.
    fn run(&mut self, end: Time) {
        if self.packets == 0 {
            for pair in 0..self.pairs.len() {
                self.act(Time::ZERO, pair, false, |sender, out| sender.open(Time::ZERO, out));
            }
        }
        while self.pairs.iter().any(|pair| pair.done.is_none()) {
            let event = self.events.first_key_value().map(|(&(at, _), _)| at);
            let timer = self.next_timer();
            let next = event.into_iter().chain(timer.map(|(at, ..)| at)).min();
            let Some(now) = next.filter(|&now| now <= end) else {
                return;
            };
            match timer {
                Some((at, pair, true)) if event.is_none_or(|event| at < event) => {
                    self.act(now, pair, true, |sender, out| sender.on_timer(now, out));
                }
                Some((at, pair, false)) if event.is_none_or(|event| at < event) => {
                    let ack = self.pairs[pair].receiver.on_timer(now);
                    self.send_ack(now, pair, ack);
                }
                _ => self.handle(now),
            }
        }
    }

    fn handle(&mut self, now: Time) {
        match self.events.pop_first() {
            Some((_, Event::Data(pair, packet))) => {
                let ack = self.pairs[pair].receiver.on_segment(now, &packet);
                self.send_ack(now, pair, ack);
            }
            Some((_, Event::Ack(pair, ack))) => {
                self.act(now, pair, false, |sender, out| sender.on_ack(now, &ack, out));
            }
            None => {}
        }
    }

    fn write(&mut self, at: Time, pair: usize, bytes: u64) {
        self.pairs[pair].done = None;
        self.run(at);
        self.pairs[pair].done = None;
        self.act(at, pair, false, |sender, out| sender.write(at, bytes, out));
    }

    fn seconds(&self, pair: usize) -> f64 {
        self.pairs[pair].done.expect("done").as_secs()
    }
}

const LONG: Time = Time(10_000 * NANOS_PER_S);

/// 4 Mbit/s, 25 ms each way, and a queue of `limit` packets.
fn transfer(bytes: u64, params: &Linux, limit: usize) -> Lab<'static> {
    Lab::new(&[bytes], params, Path::new(4_000, 25, limit))
}

fn with(control: CongestionSpec) -> Linux {
    Linux { control, ..Linux::default() }
}
