use nodeb_base::units::Probability;
use proptest::prelude::*;

use super::*;
use crate::Sender as _;
use crate::classic::recovery::ControlSpec;
use crate::classic::rtt::{EstimatorSpec, Smoothed};

fn ack_of(seq: u64) -> Segment {
    Segment { seq, ..Segment::control(0, Kind::Ack) }
}

fn sender(tcp: &Classic, segments: u64) -> Sender {
    let mut sender = Sender::new(0, tcp);
    sender.write(Time::ZERO, segments * 1460, &mut Vec::new());
    sender.close();
    sender
}

fn sent(out: &mut Vec<Segment>) -> Vec<u64> {
    out.drain(..).map(|packet| packet.seq).collect()
}

#[test]
fn slow_start_sends_two_segments_per_ack() {
    let (mut tcp, mut out, now) = (sender(&Classic::default(), 100), Vec::new(), Time::ZERO);
    tcp.open(now, &mut out);
    assert_eq!(sent(&mut out), [0]);
    tcp.on_ack(now, &ack_of(0), &mut out);
    assert_eq!(sent(&mut out), [1, 2]);
    tcp.on_ack(now, &ack_of(1), &mut out);
    assert_eq!(sent(&mut out), [3, 4]);
    tcp.on_ack(now, &ack_of(2), &mut out);
    assert_eq!(sent(&mut out), [5, 6]);
}

#[test]
fn sender_stops_at_receiver_window_and_end_of_data() {
    let params = Classic { max_window: 4.try_into().unwrap(), ..Classic::default() };
    let (mut tcp, mut out, now) = (sender(&params, 10), Vec::new(), Time::ZERO);
    tcp.open(now, &mut out);
    for ack in 0..10 {
        tcp.on_ack(now, &ack_of(ack), &mut out);
        assert!(tcp.tx.next - tcp.tx.una <= 4);
    }
    assert!(!tcp.is_done() && tcp.timer().is_some());
    tcp.on_ack(now, &ack_of(10), &mut out);
    assert!(tcp.is_done() && tcp.timer().is_none());
    assert_eq!(sent(&mut out), (0..=10).collect::<Vec<_>>());
}

#[test]
fn lost_syn_sets_initial_window_to_one() {
    let (mut tcp, mut out) = (sender(&Classic::default(), 10), Vec::new());
    tcp.open(Time::ZERO, &mut out);
    let at = tcp.timer().unwrap();
    assert_eq!(at, Time(6_000_000_000));
    tcp.on_timer(at, &mut out);
    assert_eq!(sent(&mut out), [0, 0]);
    tcp.on_ack(at, &ack_of(0), &mut out);
    assert_eq!(sent(&mut out), [1]);
}

/// 4.5 packets; ns-2 rounded this down to 4 before January 2006.
#[test]
fn half_of_odd_window_depends_on_era() {
    for (era, half) in [("ns-2.29", 4.0), ("ns-2.30", 4.5)] {
        let (max_window, initial_window) = (9.try_into().unwrap(), Some(9.try_into().unwrap()));
        let era = era.parse().unwrap();
        let params = Classic { era, initial_window, max_window, ..Classic::default() };
        let (mut tcp, mut out, now) = (sender(&params, 100), Vec::new(), Time::ZERO);
        tcp.open(now, &mut out);
        for ack in [0, 1, 1, 1, 1] {
            tcp.on_ack(now, &ack_of(ack), &mut out);
        }
        assert_eq!((tcp.tx.cwnd, tcp.tx.ssthresh), (half, 4), "{era}");
    }
}

#[test]
fn idle_timeout_restarts_slow_start_if_enabled() {
    for (slow_start_restart, segments_after) in [(true, 1), (false, 6)] {
        let params = Classic { slow_start_restart, ..Classic::default() };
        let (mut tcp, mut out) = (Sender::new(0, &params), Vec::new());
        tcp.write(Time::ZERO, 4 * 1460, &mut out);
        tcp.open(Time::ZERO, &mut out);
        for ack in 0..=4 {
            tcp.on_ack(Time::ZERO, &ack_of(ack), &mut out);
        }
        let at = tcp.timer().unwrap();
        tcp.on_timer(at, &mut out);
        assert_eq!(tcp.timer().is_some(), slow_start_restart);
        out.clear();
        tcp.write(at, 20 * 1460, &mut out);
        assert_eq!(out.len(), segments_after);
        assert!(tcp.timer().is_some());
        assert_eq!(tcp.tx.counts.timeouts, 0);
    }
}

#[test]
fn threshold_after_second_timeout_depends_on_half_of_flight() {
    for (half_of_flight, thresholds) in [(false, [10, 2]), (true, [10, 10])] {
        let initial_window = std::num::NonZeroU32::new(20);
        let params = Classic { initial_window, half_of_flight, ..Classic::default() };
        let (mut tcp, mut out) = (sender(&params, 60), Vec::new());
        tcp.open(Time::ZERO, &mut out);
        tcp.on_ack(Time::ZERO, &ack_of(0), &mut out);
        for ssthresh in thresholds {
            let at = tcp.timer().unwrap();
            tcp.on_timer(at, &mut out);
            assert_eq!((tcp.tx.end - tcp.tx.una, tcp.tx.ssthresh), (20, ssthresh));
        }
    }
}

/// Path of 100 ms; every other pair loses its first segment, and the second waits at the receiver. Measured
/// as a round trip, this wait would lengthen timeouts up to hours; the bound is 100 ms + 4 * 30 ms.
#[test]
fn timeout_does_not_grow_by_its_own_length() {
    let path = Duration::from_millis(100);
    let estimator = Smoothed { gain: Probability(0.4), initial_rtt: None };
    let params = Classic {
        estimator: EstimatorSpec::Smoothed(estimator),
        max_window: 2.try_into().unwrap(),
        min_rto: Some(Duration::ZERO),
        ..Classic::default()
    };
    let (mut tcp, mut out, mut now) = (sender(&params, 200), Vec::new(), Time::ZERO);
    tcp.open(now, &mut out);
    now += path;
    tcp.on_ack(now, &ack_of(0), &mut out);
    for pair in 0..40 {
        out.clear();
        let first = 1 + 4 * pair;
        now = tcp.timer().unwrap();
        tcp.on_timer(now, &mut out);
        assert_eq!(sent(&mut out), [first]);
        for last in [first + 1, first + 3] {
            now += path;
            tcp.on_ack(now, &ack_of(last), &mut out);
        }
        let timeout = tcp.timer().unwrap().since(now);
        assert!(timeout <= Duration::from_millis(220), "after pair {pair}: {timeout}");
    }
}

/// SACK block from `first` to `end - 1`.
fn sack_of(seq: u64, first: u64, end: u64) -> Segment {
    let mut ack = ack_of(seq);
    ack.sack.push(first, end);
    ack
}

/// Segments 1 to 4 are sent, 1 counts as lost.
fn sack_sender() -> Sender {
    let params = Classic {
        control: ControlSpec::Sack(crate::classic::recovery::sack::Sack::default()),
        initial_window: std::num::NonZeroU32::new(8),
        ..Classic::default()
    };
    let (mut tcp, mut out) = (Sender::new(0, &params), Vec::new());
    tcp.write(Time::ZERO, 4 * 1460, &mut out);
    tcp.open(Time::ZERO, &mut out);
    tcp.on_ack(Time::ZERO, &ack_of(0), &mut out);
    assert_eq!(sent(&mut out), [0, 1, 2, 3, 4]);
    tcp
}

/// ns-2's `Sack1TcpAgent::send_much`.
#[test]
fn sack_sends_no_new_data_between_first_and_third_duplicate_ack() {
    let (mut tcp, mut out) = (sack_sender(), Vec::new());
    tcp.on_ack(Time::ZERO, &sack_of(0, 2, 3), &mut out);
    tcp.write(Time::ZERO, 1460, &mut out);
    assert!(out.is_empty());
}

/// ns-2's `Sack1TcpAgent::send_much` with `recover_ > 0`.
#[test]
fn sack_fills_hole_on_write_after_earlier_loss() {
    let (mut tcp, mut out) = (sack_sender(), Vec::new());
    let at = tcp.timer().unwrap();
    tcp.on_timer(at, &mut out);
    assert_eq!(sent(&mut out), [1]);
    tcp.on_ack(at, &ack_of(4), &mut out);
    tcp.write(at, 2 * 1460, &mut out);
    assert_eq!(sent(&mut out), [5, 6]);
    tcp.tx.cwnd = 4.0;
    tcp.on_ack(at, &sack_of(4, 6, 7), &mut out);
    tcp.write(at, 1460, &mut out);
    assert_eq!(sent(&mut out), [5, 7]);
}

/// RFC 6675, 5 (C), if the pipe is below the window.
#[test]
fn sack_sends_data_written_during_fast_recovery_at_once() {
    let (mut tcp, mut out) = (sack_sender(), Vec::new());
    for end in 3..=5 {
        tcp.on_ack(Time::ZERO, &sack_of(0, 2, end), &mut out);
    }
    assert_eq!(sent(&mut out), [1]);
    // One segment is in the network (the pipe) and the window is half of eight segments, so three
    // more segments may be sent.
    tcp.write(Time::ZERO, 5 * 1460, &mut out);
    assert_eq!(sent(&mut out), [5, 6, 7]);
}

proptest! {
    /// The receiver's window, at least one segment, and a timer while data are outstanding.
    #[test]
    fn every_variant_stays_within_limits(
        acks in prop::collection::vec((0u64..12, any::<bool>()), 1..200),
        limited_transmit: bool,
    ) {
        for control in ControlSpec::defaults() {
            let limited_transmit = Some(limited_transmit);
            let params = Classic { control, limited_transmit, ..Classic::default() };
            let (mut tcp, mut out, mut now) = (sender(&params, 60), Vec::new(), Time::ZERO);
            tcp.open(now, &mut out);
            for &(step, time_out) in &acks {
                now += Duration::from_millis(50);
                match tcp.timer() {
                    Some(at) if time_out => {
                        now = now.max(at);
                        tcp.on_timer(now, &mut out);
                    }
                    _ => {
                        let ack = (tcp.tx.una + step / 3).min(tcp.tx.end).saturating_sub(1);
                        tcp.on_ack(now, &ack_of(ack), &mut out);
                    }
                }
                prop_assert!(tcp.tx.cwnd >= 1.0 && tcp.tx.ssthresh >= 2);
                prop_assert!(tcp.tx.end - tcp.tx.una <= tcp.tx.max_window);
                prop_assert!(tcp.tx.end <= tcp.tx.data_end());
                prop_assert_eq!(tcp.timer().is_none(), tcp.is_done());
            }
        }
    }
}
