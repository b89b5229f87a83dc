use std::collections::VecDeque;

use super::super::super::rate::{Sampler, Snapshot};
use super::*;
use crate::units::NANOS_PER_S;

const MSS: u64 = 1_000;
/// 1 MB/s and 100 ms: 100 segments.
const SEGMENT: Duration = Duration(1_000_000);
const RTT: Duration = Duration(100_000_000);

/// Drives BBR over a pipe with an endless queue for `tenths` of a second; returns it and the largest
/// backlog in segments after the first two seconds.
fn drive(tenths: u64) -> (Policy, u64) {
    let (mut bbr, mut sampler) = (Policy::new(&Bbr::default(), MSS, 10 * MSS), Sampler::default());
    let mut flight: VecDeque<(Time, Time, Snapshot)> = VecDeque::new();
    let (mut now, mut free_at, mut send_at, mut largest) = (Time::ZERO, Time::ZERO, Time::ZERO, 0);
    while now < Time(tenths * NANOS_PER_S / 10) {
        let in_flight = flight.len() as u64 * MSS;
        let ack_at = flight.front().map(|&(at, ..)| at);
        let may_send = in_flight + MSS <= bbr.cwnd();
        if may_send && ack_at.is_none_or(|at| send_at <= at) {
            now = now.max(send_at);
            let snapshot = sampler.on_send(now, flight.is_empty());
            free_at = free_at.max(now) + SEGMENT;
            flight.push_back((free_at + RTT - SEGMENT, now, snapshot));
            let pace = bbr.pacing_rate().unwrap_or(100_000.0);
            send_at = now + Duration((MSS as f64 / pace * 1e9) as u64);
            if now > Time(2 * NANOS_PER_S) {
                largest = largest.max(free_at.since(now).0 / SEGMENT.0);
            }
            continue;
        }
        let Some((at, sent, snapshot)) = flight.pop_front() else {
            continue;
        };
        now = at;
        sampler.on_delivered(now, MSS, sent, snapshot);
        let rtt = now.since(sent);
        let (prior_delivered, rate) = sampler.finish(None);
        bbr.on_ack(&AckEvent {
            now,
            delivered: MSS,
            prior_in_flight: in_flight,
            in_flight: in_flight - MSS,
            rtt: Some(rtt),
            srtt: rtt,
            rate,
            prior_delivered,
            total_delivered: sampler.delivered(),
            ..AckEvent::default()
        });
    }
    (bbr, largest)
}

#[test]
fn a_steady_path_is_known_and_its_queue_short() {
    let (bbr, largest) = drive(300);
    let bandwidth = bbr.bandwidth.max();
    assert!((bandwidth / 1e6 - 1.0).abs() < 0.05, "{bandwidth}");
    let (min_rtt, _) = bbr.min_rtt.unwrap();
    assert!(min_rtt.0.abs_diff(RTT.0) < RTT.0 / 20, "{min_rtt}");
    assert!(largest < 100, "{largest} segments in the queue");
    assert!(matches!(bbr.state, State::ProbeBandwidth(..) | State::ProbeRtt(_)));
}

#[test]
fn start_up_doubles_until_the_pipe_is_full_and_drains() {
    let states: Vec<State> = (1..20).map(|tenths| drive(tenths).0.state).collect();
    let first = |state: fn(&State) -> bool| states.iter().position(state);
    let startup = first(|s| *s == State::Startup);
    let probing = first(|s| matches!(s, State::ProbeBandwidth(..)));
    assert!(startup == Some(0) && probing.is_some(), "{states:?}");
}
