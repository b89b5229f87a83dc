use std::collections::VecDeque;

use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Probability, Time};
use nodeb_net::LossSetting;
use nodeb_tcp::classic::Classic;
use nodeb_tcp::linux::Linux;
use nodeb_tcp::segment::{Kind, Segment};
use nodeb_tcp::{Receiver, TcpSpec};

use super::super::round_trip::{Fixed, RoundTripSpec};
use super::super::{Rnf, meter::Meter};
use crate::proxy::ProxySpec;
use crate::proxy::split::{Outbox, SplitProxy};

const PACKET_BYTES: u32 = 1_500;
/// From the proxy to the queue, and of messages from the RNC to the proxy.
const DOWN: Duration = Duration::from_millis(25);
/// ACKs from the phone to the proxy.
const UP: Duration = Duration::from_millis(45);

/// In packets per second, before and after `step` in seconds.
#[derive(Clone, Copy)]
struct Bandwidth {
    before: f64,
    step: f64,
    after: f64,
}

impl Bandwidth {
    fn steady(packets: f64) -> Self {
        Self { before: packets, step: 1e9, after: packets }
    }

    fn at(self, now: Time) -> f64 {
        if now.as_secs() < self.step { self.before } else { self.after }
    }

    /// Bytes that could have been sent from time zero.
    fn available(self, now: Time) -> f64 {
        let (first, second) = (now.as_secs().min(self.step), (now.as_secs() - self.step).max(0.0));
        (first * self.before + second * self.after) * f64::from(PACKET_BYTES)
    }
}

/// The proxy never lacks data, and the phone acknowledges every packet immediately.
struct Path {
    proxy: SplitProxy,
    phone: Box<dyn Receiver>,
    meter: Meter,
    bandwidth: Bandwidth,
    to_queue: VecDeque<(Time, Segment)>,
    waiting: VecDeque<Segment>,
    serving: Option<(Time, Segment)>,
    acks: VecDeque<(Time, Segment)>,
    lengths: Vec<(Time, usize)>,
    out: Outbox,
}

fn families() -> [TcpSpec; 2] {
    let classic =
        Classic { delayed_ack: Duration::ZERO, max_window: 1_000.try_into().unwrap(), ..Classic::default() };
    let linux = Linux { delayed_ack: Duration::ZERO, ..Linux::default() };
    [TcpSpec::Classic(classic), TcpSpec::Linux(linux)]
}

impl Path {
    fn new(params: &Rnf, tcp: &TcpSpec, bandwidth: Bandwidth) -> Self {
        let server = TcpSpec::default();
        let proxy = ProxySpec::Rnf(Rnf { tcp: Some(tcp.clone()), ..params.clone() });
        let mut path = Self {
            proxy: proxy.build(0, 0, &server),
            phone: tcp.build(0, 0).1,
            meter: params.meter(0, DOWN, Streams::new(1, 0)),
            bandwidth,
            to_queue: VecDeque::new(),
            waiting: VecDeque::new(),
            serving: None,
            acks: VecDeque::new(),
            lengths: Vec::new(),
            out: Outbox::default(),
        };
        path.meter.start(Time::ZERO);
        // The server has sent more data than the path can carry in 30 s, so the proxy never lacks data.
        let most = bandwidth.before.max(bandwidth.after) as u64 * 30 + 200;
        for seq in 0..most {
            let size = if seq == 0 { 40 } else { PACKET_BYTES };
            let segment = Segment { size, seq, ..Segment::control(0, Kind::Data) };
            path.proxy.on_segment(Time::ZERO, &segment, &mut path.out);
        }
        path
    }

    fn next(&self) -> Option<Time> {
        let head = |line: &VecDeque<(Time, Segment)>| line.front().map(|(at, _)| *at);
        let serving = self.serving.map(|(at, _)| at);
        let times = [head(&self.to_queue), head(&self.acks), serving, self.meter.timer(), self.proxy.timer()];
        times.into_iter().flatten().min()
    }

    fn serve(&mut self, now: Time) {
        if self.serving.is_none()
            && let Some(packet) = self.waiting.pop_front()
        {
            let share = f64::from(packet.size) / f64::from(PACKET_BYTES);
            let ns = share / self.bandwidth.at(now) * 1e9;
            self.serving = Some((now + Duration(ns as u64), packet));
        }
        self.lengths.push((now, self.waiting.len()));
    }

    fn step(&mut self, now: Time) {
        let is_due = |line: &VecDeque<(Time, Segment)>| line.front().is_some_and(|(at, _)| *at == now);
        if is_due(&self.to_queue) {
            self.waiting.extend(self.to_queue.pop_front().map(|(_, packet)| packet));
        } else if let Some((_, packet)) = self.serving.take_if(|(at, _)| *at == now) {
            let ack = self.phone.on_segment(now, &packet);
            self.acks.extend(ack.map(|ack| (now + UP, ack)));
        } else if is_due(&self.acks) {
            let ack = self.acks.pop_front().expect("an ACK that is due").1;
            self.proxy.on_packet_of_phone(now, &ack, &mut self.out);
        } else if self.meter.is_due(now) {
            let available = self.bandwidth.available(now);
            self.meter.sample(now, Some(available), self.waiting.len());
        } else if let Some(message) = self.meter.arrived(now) {
            self.proxy.on_feedback(now, &message, &mut self.out);
        } else {
            self.proxy.on_timer(now, &mut self.out);
        }
        self.to_queue.extend(self.out.down.drain(..).map(|packet| (now + DOWN, packet)));
        self.out.up.clear();
        self.serve(now);
    }

    fn run(mut self, seconds: u64) -> Self {
        while let Some(now) = self.next().filter(|at| *at < Time(seconds * 1_000_000_000)) {
            self.step(now);
        }
        self
    }

    /// Mean, minimum and maximum in packets; times in seconds.
    fn queue(&self, from: f64, to: f64) -> (f64, usize, usize) {
        let inside = |pair: &&[(Time, usize)]| pair[0].0.as_secs() >= from && pair[1].0.as_secs() <= to;
        let (mut area, mut time, mut least, mut most) = (0.0, 0.0, usize::MAX, 0);
        for pair in self.lengths.windows(2).filter(inside) {
            let span = pair[1].0.since(pair[0].0).as_secs();
            (area, time) = (area + span * pair[0].1 as f64, time + span);
            (least, most) = (least.min(pair[0].1), most.max(pair[0].1));
        }
        (area / time, least, most)
    }
}

/// In seconds, without queueing; `bandwidth` in packets per second.
fn round_trip(bandwidth: f64) -> f64 {
    1.0 / bandwidth + (DOWN.0 + UP.0) as f64 / 1e9
}

fn with_error(bandwidth: f64, error_ms: f64, params: Rnf) -> Rnf {
    let value = Duration(((round_trip(bandwidth) + error_ms / 1e3) * 1e9) as u64);
    Rnf { rtt: RoundTripSpec::Fixed(Fixed { value }), ..params }
}

#[track_caller]
fn assert_within_5_percent(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.05, "{what}: {found} instead of {expected}");
}

/// `q_ref + b (estimate - round trip)`, for 0.5 to 8 Mb/s and estimates that are too short or too long.
#[test]
fn queue_settles_at_the_value_of_the_law() {
    for tcp in families() {
        for bandwidth in [40.0, 160.0, 640.0] {
            for error_ms in [-40.0, -10.0, 0.0, 30.0, 100.0] {
                let params = with_error(bandwidth, error_ms, Rnf::default());
                let path = Path::new(&params, &tcp, Bandwidth::steady(bandwidth)).run(20);
                let expected = 36.0 + bandwidth * error_ms / 1e3;
                let what = format!("{} {bandwidth} {error_ms}", tcp.key());
                assert_within_5_percent(path.queue(15.0, 20.0).0, expected, &what);
                assert_eq!(path.proxy.sender().counts().retransmissions, 0, "{what}");
            }
        }
    }
}

/// The queue is empty at the start, so the minimum contains no queueing.
#[test]
fn minimum_round_trip_gives_no_bias() {
    for tcp in families() {
        for q_ref in [20.0, 36.0, 80.0] {
            let params = Rnf { q_ref, ..Rnf::default() };
            let path = Path::new(&params, &tcp, Bandwidth::steady(160.0)).run(20);
            assert_within_5_percent(path.queue(15.0, 20.0).0, q_ref, tcp.key());
        }
    }
}

/// Within 5 s.
#[test]
fn queue_returns_to_its_target_after_a_step() {
    for tcp in families() {
        for (before, after) in [(320.0, 80.0), (80.0, 320.0)] {
            for interval_ms in [80, 250, 500] {
                let params = Rnf { interval: Duration::from_millis(interval_ms), ..Rnf::default() };
                let params = with_error(after, 0.0, params);
                let path = Path::new(&params, &tcp, Bandwidth { before, step: 10.0, after }).run(20);
                let what = format!("{} {before} to {after}, {interval_ms} ms", tcp.key());
                assert_within_5_percent(path.queue(15.0, 20.0).0, 36.0, &what);
                // The estimate of the round-trip time is exact after the step. Before the step it is wrong by
                // the difference between the transmission times of a packet at the two bandwidths.
                let bias = before * (round_trip(after) - round_trip(before));
                assert_within_5_percent(path.queue(5.0, 10.0).0, 36.0 + bias, &what);
            }
        }
    }
}

#[test]
fn lost_messages_only_delay_the_window() {
    for tcp in families() {
        let loss = LossSetting::Independent(Probability(0.7));
        let params = with_error(80.0, 30.0, Rnf { loss, ..Rnf::default() });
        let path = Path::new(&params, &tcp, Bandwidth { before: 320.0, step: 8.0, after: 80.0 }).run(20);
        assert!(path.meter.counts.lost > path.meter.counts.sent / 2, "{:?}", path.meter.counts);
        assert_within_5_percent(path.queue(15.0, 20.0).0, 36.0 + 80.0 * 0.03, tcp.key());
    }
}

#[test]
fn queue_feedback_removes_the_bias() {
    for tcp in families() {
        for (interval_ms, gain) in [(80, 0.1), (250, 0.3), (1_000, 1.0)] {
            for error_ms in [-100.0, 150.0] {
                let interval = Duration::from_millis(interval_ms);
                let params = Rnf { interval, queue_feedback: Some(gain), ..Rnf::default() };
                let params = with_error(160.0, error_ms, params);
                let path = Path::new(&params, &tcp, Bandwidth::steady(160.0)).run(30);
                let what = format!("{} {interval_ms} {gain} {error_ms}", tcp.key());
                assert_within_5_percent(path.queue(20.0, 30.0).0, 36.0, &what);
            }
        }
    }
}

/// With one message per second the queue has reacted to each message before the next is sent (d = 0, stable
/// below a gain of 2). With one message every 20 ms the RNC sends two more before the queue has reacted (d =
/// 2, stable below a gain of 0.62). With one message per second and a gain just below 2, the queue still
/// swings after 20 s.
#[test]
fn delay_limits_the_stable_gain() {
    let swing = |interval_ms, gain| {
        let interval = Duration::from_millis(interval_ms);
        let params = Rnf { interval, queue_feedback: Some(gain), ..Rnf::default() };
        let params = with_error(640.0, 20.0, params);
        let (_, least, most) =
            Path::new(&params, &families()[0], Bandwidth::steady(640.0)).run(30).queue(20.0, 30.0);
        most - least
    };
    for (interval_ms, stable, unstable) in [(1_000, 1.5, 1.99), (20, 0.3, 0.9)] {
        let (calm, wild) = (swing(interval_ms, stable), swing(interval_ms, unstable));
        assert!(calm <= 3 && wild > 10, "{interval_ms} ms: {calm} and {wild}");
    }
}

/// A phone that has not received the SYN would mistake data for the answer to its own SYN.
#[test]
fn no_window_releases_data_before_the_syn_is_acknowledged() {
    for tcp in families() {
        let ((mut sender, _), mut out) = (tcp.build(0, 0), Vec::new());
        sender.open(Time::ZERO, &mut out);
        sender.steer(Time(1), 20.0, &mut out);
        sender.write(Time(2), 50_000, &mut out);
        let at = sender.timer().unwrap();
        sender.on_timer(at, &mut out);
        assert_eq!(out.iter().map(|packet| packet.seq).collect::<Vec<_>>(), [0, 0], "{}", tcp.key());
    }
}

#[test]
fn larger_window_is_used_at_once_and_smaller_one_drains() {
    for tcp in families() {
        let (mut sender, _) = tcp.build(0, 0);
        let (ack_of, header): (fn(u64) -> u64, u32) = match &tcp {
            TcpSpec::Classic(_) => (|packets| packets, 40),
            TcpSpec::Linux(_) => (|packets| 1 + packets * 1_448, 52),
        };
        let mut out = Vec::new();
        let sent = |out: &mut Vec<Segment>| out.drain(..).filter(|packet| packet.size > header).count();
        let ack = |packets| Segment { seq: ack_of(packets), ..Segment::control(0, Kind::Ack) };
        let at = |ms| Time(ms * 1_000_000);
        sender.write(at(0), 500 * 1_460, &mut out);
        sender.open(at(0), &mut out);
        sender.on_ack(at(50), &Segment { seq: 0, ..ack(0) }, &mut out);
        sent(&mut out);
        sender.steer(at(60), 40.7, &mut out);
        let first = sender.counts().packets - 1;
        assert_eq!((first, sender.window().cwnd.floor()), (40, 40.0), "{}", tcp.key());
        sent(&mut out);
        sender.steer(at(70), 10.0, &mut out);
        for packets in 1..=30 {
            sender.on_ack(at(100 + packets), &ack(packets), &mut out);
            assert_eq!(sent(&mut out), 0, "{} {packets}", tcp.key());
        }
        sender.on_ack(at(140), &ack(31), &mut out);
        assert_eq!(sent(&mut out), 1);
        sender.on_ack(at(141), &ack(33), &mut out);
        assert_eq!(sent(&mut out), 2);
        sender.steer(at(150), 25.0, &mut out);
        assert_eq!(sent(&mut out), 15);
        assert_eq!(sender.counts().retransmissions, 0);
    }
}

/// From 5 s on every 37th packet is lost.
#[test]
fn losses_do_not_change_the_window() {
    for tcp in families() {
        let params = with_error(160.0, 0.0, Rnf::default());
        let mut path = Path::new(&params, &tcp, Bandwidth::steady(160.0)).run(5);
        let before = path.proxy.sender().window().cwnd;
        let mut sent = 0;
        while let Some(now) = path.next().filter(|at| *at < Time(15_000_000_000)) {
            path.step(now);
            if path.to_queue.back().is_some_and(|(at, _)| *at == now + DOWN) {
                sent += 1;
                if sent % 37 == 0 {
                    path.to_queue.pop_back();
                }
            }
            assert!((path.proxy.sender().window().cwnd - before).abs() < 1e-9);
        }
        let counts = path.proxy.sender().counts();
        assert!(counts.fast_retransmits > 10, "{} {counts:?}", tcp.key());
        assert_eq!(counts.timeouts, 0, "{}", tcp.key());
        assert!(path.phone.delivered_bytes() > 2_000_000, "{}", path.phone.delivered_bytes());
    }
}
