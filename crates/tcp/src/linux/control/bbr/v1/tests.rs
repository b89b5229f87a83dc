use super::super::pipe::{MSS, Pipe, RTT, assert_steady_path_estimates};
use super::*;
use crate::linux::rate::{RateSample, Snapshot};

fn pipe() -> Pipe<BbrControl> {
    Pipe::new(BbrControl::new(&Bbr::default(), MSS, 10 * MSS))
}

#[test]
fn steady_path_is_estimated_with_short_queue() {
    assert_steady_path_estimates(pipe(), |control| &control.path);
}

#[test]
fn states_follow_in_order() {
    let (mut pipe, mut seen) = (pipe(), Vec::new());
    pipe.run(12.0, |pipe| {
        let state = match pipe.control.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBandwidth(..) => "probe bandwidth",
            State::ProbeRtt(_) => "probe rtt",
        };
        if seen.last() != Some(&state) {
            seen.push(state);
        }
    });
    assert_eq!(seen, ["startup", "drain", "probe bandwidth", "probe rtt", "probe bandwidth"]);
}

#[test]
fn each_gain_lasts_a_round_trip() {
    let (mut pipe, mut seen) = (pipe(), Vec::<(usize, Time)>::new());
    pipe.run(9.0, |pipe| {
        if let State::ProbeBandwidth(phase, since) = pipe.control.state
            && seen.last() != Some(&(phase, since))
        {
            seen.push((phase, since));
        }
    });
    assert!(seen.len() > 40, "{} phases", seen.len());
    for pair in seen.windows(2) {
        let [(phase, since), (next, end)] = [pair[0], pair[1]];
        assert_eq!(next, (phase + 1) % CYCLE.len());
        let lasted = end.since(since);
        assert!(lasted <= Duration(RTT.0 * 3 / 2), "{phase}: {lasted}");
        assert!(CYCLE[phase] < 1.0 || lasted >= RTT, "{phase}: {lasted}");
    }
}

/// `total` segments have been delivered with these.
fn ack(ms: u64, segments: u64, total: u64) -> AckEvent {
    let now = Time(ms * 1_000_000);
    let (delivered, total_delivered) = (segments * MSS, total * MSS);
    AckEvent { now, departure: now, delivered, acked: delivered, total_delivered, ..AckEvent::default() }
}

/// At `rate` segments per second, of data sent when `before` segments had been delivered.
fn sampled(ms: u64, segments: u64, total: u64, before: u64, rate: f64) -> AckEvent {
    let sample = RateSample {
        rate: Some(rate * MSS as f64),
        app_limited: false,
        prior_delivered: before * MSS,
        delivered: (total - before) * MSS,
        lost: 0,
        in_flight: 0,
    };
    AckEvent { sample: Some(sample), ..ack(ms, segments, total) }
}

/// 100 segments per second and 100 ms: a bandwidth-delay product of 10 segments.
fn cruising() -> BbrControl {
    let mut control = BbrControl::new(&Bbr::default(), MSS, 10 * MSS);
    control.on_established(Time::ZERO, Some(RTT));
    control.on_ack(&sampled(100, 1, 100, 0, 100.0));
    control.filled = true;
    control.state = State::ProbeBandwidth(2, Time(100_000_000));
    control.on_ack(&sampled(101, 1, 101, 1, 100.0));
    control.aggregation = Aggregation::default();
    control.window.cwnd = 26 * MSS;
    control
}

/// `bbr_init_pacing_rate_from_rtt`: high gain times initial window per SYN's round trip (1 ms if unknown),
/// less 1 %; `bbr_set_pacing_rate` keeps it until a sample gives more.
#[test]
fn first_rate_is_initial_window_per_rtt() {
    let mut control = BbrControl::new(&Bbr::default(), MSS, 10 * MSS);
    control.on_established(Time::ZERO, Some(RTT));
    let first = control.pacing_rate().unwrap();
    let high_gain = first / (0.99 * 10.0 * MSS as f64 / RTT.as_secs());
    assert!((high_gain - 2.0 / std::f64::consts::LN_2).abs() < 0.002, "{high_gain}");
    control.on_ack(&sampled(100, 1, 1, 0, 10.0));
    assert!((control.pacing_rate().unwrap() - first).abs() < 1e-6);

    let mut blind = BbrControl::new(&Bbr::default(), MSS, 10 * MSS);
    blind.on_established(Time::ZERO, None);
    assert!((blind.pacing_rate().unwrap() / first - 100.0).abs() < 1e-6);
}

/// `bbr_update_gains`.
#[test]
fn drain_gain_is_inverse_of_startup_gain() {
    let (mut pipe, mut seen) = (pipe(), Vec::<(State, Gains)>::new());
    pipe.run(2.0, |pipe| {
        let (state, gains) = (pipe.control.state, pipe.control.gains);
        if let State::Startup | State::Drain = state
            && seen.last().is_none_or(|&(last, _)| last != state)
        {
            seen.push((state, gains));
        }
    });
    let start = Gains { pacing: HIGH_GAIN, window: HIGH_GAIN };
    let drain = Gains { pacing: DRAIN_GAIN, window: HIGH_GAIN };
    assert_eq!(seen, [(State::Startup, start), (State::Drain, drain)]);
    assert!((HIGH_GAIN * DRAIN_GAIN - 1.0).abs() < 0.01);
}

/// `bbr_rate_bytes_per_sec`.
#[test]
fn cruising_paces_one_percent_below_bandwidth() {
    let control = cruising();
    assert!((control.pacing_rate().unwrap() - 99.0 * MSS as f64).abs() < 1e-6);
}

/// `bbr_quantization_budget`: three quanta, rounded up to an even number, and two more while probing;
/// `bbr_min_tso_segs`, `bbr_tso_segs_goal`: 1 segment below 1.2 Mbit/s, 2 above, or those of a millisecond.
#[test]
fn window_has_room_for_three_quanta() {
    let mut control = cruising();
    assert_eq!(control.inflight(1.0), 10 + 3 + 1, "even");
    control.state = State::ProbeBandwidth(0, Time::ZERO);
    assert_eq!(control.inflight(1.0), 10 + 3 + 1 + 2);
    control.state = State::Drain;
    control.pace.rate = Some(200_000.0);
    assert_eq!(control.inflight(1.0), 10 + 6);
    control.pace.rate = Some(5_000_000.0);
    assert_eq!(control.inflight(1.0), 10 + 15 + 1);
    // `bbr_bdp` rounds 1.05 bandwidth-delay products, 10.5 segments, up to 11.
    assert_eq!(control.inflight(1.05), 11 + 15);
}

/// `bbr_set_cwnd_to_recover_or_restore`: data in flight plus just delivered, for a round as much as is
/// delivered.
#[test]
fn recovery_conserves_packets_for_a_round_and_restores_window() {
    let mut control = cruising();
    control.on_congestion(Time(110_000_000), 20 * MSS);
    let lossy = AckEvent {
        lost: 3 * MSS,
        in_flight: 12 * MSS,
        phase: Phase::Recovery,
        ..sampled(110, 2, 103, 90, 100.0)
    };
    control.on_ack(&lossy);
    assert_eq!(control.cwnd(), 14 * MSS);
    // This is the first round of the recovery. One segment is sent per segment delivered, without
    // regard to the target window.
    let next = AckEvent { in_flight: 13 * MSS, phase: Phase::Recovery, ..sampled(120, 1, 104, 95, 100.0) };
    control.on_ack(&next);
    assert_eq!(control.cwnd(), 14 * MSS);
    // The first round is over. Two segments are sent per segment delivered, up to the target
    // window.
    let after = AckEvent { in_flight: 13 * MSS, phase: Phase::Recovery, ..sampled(220, 2, 115, 104, 100.0) };
    control.on_ack(&after);
    assert_eq!(control.cwnd(), 16 * MSS);
    let open = AckEvent { in_flight: 13 * MSS, ..sampled(230, 1, 116, 105, 100.0) };
    control.on_ack(&open);
    assert_eq!(control.cwnd(), 26 * MSS, "the window of before");
}

/// In `TCP_CA_CWR`, `bbr_set_cwnd` continues as in `TCP_CA_Open`.
#[test]
fn ecn_marks_are_ignored() {
    let (mut control, mut other) = (cruising(), cruising());
    control.on_congestion(Time(110_000_000), 20 * MSS);
    for (ms, total) in [(110, 102), (120, 103)] {
        let seen = AckEvent { in_flight: 5 * MSS, ..sampled(ms, 1, total, 90, 100.0) };
        other.on_ack(&seen);
        control.on_ack(&AckEvent { marked: ms == 110, phase: Phase::Recovery, ..seen });
        assert_eq!(control.cwnd(), other.cwnd());
    }
    // A segment is lost during the window reduction after the mark, which turns the reduction into
    // a recovery.
    let lossy =
        AckEvent { lost: MSS, in_flight: 5 * MSS, phase: Phase::Recovery, ..sampled(130, 1, 104, 90, 100.0) };
    control.on_ack(&lossy);
    assert_eq!(control.cwnd(), 6 * MSS);
}

/// `tcp_enter_loss`: data in flight plus one segment.
#[test]
fn timeout_reduces_window_until_recovery_ends() {
    let mut control = cruising();
    control.on_timeout(Time(400_000_000), 0, false);
    assert_eq!(control.cwnd(), MSS);
    control.on_ack(&AckEvent { phase: Phase::Loss, in_flight: MSS, ..sampled(500, 1, 102, 101, 10.0) });
    assert_eq!(control.cwnd(), 4 * MSS, "at least four");
    control.on_ack(&AckEvent { in_flight: MSS, ..sampled(600, 1, 103, 102, 10.0) });
    assert_eq!(control.cwnd(), 24 * MSS);
}

/// `bbr_packets_in_net_at_edt`: less what is delivered before the next quantum, plus it if the gain is above
/// 1.
#[test]
fn packets_in_network_are_counted_at_next_departure() {
    let mut control = cruising();
    let now = Time(200_000_000);
    let later = AckEvent { now, departure: Time(230_000_000), ..AckEvent::default() };
    assert_eq!(control.in_network_at_departure(&later, 10 * MSS), 7);
    control.gains.pacing = 1.25;
    assert_eq!(control.in_network_at_departure(&later, 10 * MSS), 8);
    assert_eq!(control.in_network_at_departure(&later, MSS), 0);
}

/// `bbr_update_bw`.
#[test]
fn application_limited_and_short_samples_are_restricted() {
    let mut control = cruising();
    let limited = |rate: f64, ms: u64, total: u64| {
        let mut ack = sampled(ms, 1, total, total - 1, rate);
        ack.sample.as_mut().unwrap().app_limited = true;
        ack
    };
    control.on_ack(&limited(50.0, 200, 102));
    assert!((control.bandwidth() - 100.0 * MSS as f64).abs() < 1e-6);
    control.on_ack(&limited(150.0, 300, 103));
    assert!((control.bandwidth() - 150.0 * MSS as f64).abs() < 1e-6);
    let rounds = control.path.rounds.count;
    let mut short = sampled(400, 1, 104, 103, 0.0);
    short.sample.as_mut().unwrap().rate = None;
    control.on_ack(&short);
    assert_eq!(control.path.rounds.count, rounds);
}

/// `bbr_update_min_rtt`: after 10 s any undelayed round-trip time, and `ProbeRTT`, unless restarting after a
/// pause.
#[test]
fn expired_min_rtt_is_measured_again() {
    let equal = AckEvent { rtt: Some(RTT), in_flight: 10 * MSS, ..sampled(9_000, 1, 102, 101, 100.0) };
    let mut control = cruising();
    control.on_ack(&equal);
    assert_eq!(control.path.min_rtt, Some((RTT, Time::ZERO)));

    let late = AckEvent {
        rtt: Some(Duration::from_millis(130)),
        in_flight: 10 * MSS,
        ..sampled(10_001, 2, 104, 101, 100.0)
    };
    let runt = AckEvent { delivered: MSS / 2, acked: MSS / 2, ..late };
    let runt_sample = late.sample.map(|sample| RateSample { delivered: MSS / 2, ..sample });
    control.on_ack(&AckEvent { sample: runt_sample, ..runt });
    assert_eq!(control.path.min_rtt.unwrap().0, RTT, "a small segment alone may have been delayed");
    assert!(matches!(control.state, State::ProbeRtt(None)));
    assert!(control.holds_back(), "samples do not count");

    let mut fresh = cruising();
    fresh.on_ack(&late);
    assert_eq!(fresh.path.min_rtt.unwrap().0, Duration::from_millis(130));

    let mut paused = cruising();
    paused.on_restart(Time(10_000_000_000));
    paused.on_ack(&late);
    assert!(matches!(paused.state, State::ProbeBandwidth(..)));
}

/// `bbr_check_probe_rtt_done`: 4 segments for at least 200 ms and a round.
#[test]
fn probe_rtt_lasts_200_ms_and_a_round() {
    let mut control = cruising();
    let before = control.cwnd();
    let small = |ms, total, before| AckEvent {
        in_flight: 4 * MSS,
        rtt: Some(RTT),
        ..sampled(ms, 1, total, before, 100.0)
    };
    control.on_ack(&AckEvent { in_flight: 9 * MSS, ..small(10_001, 102, 101) });
    assert_eq!(control.cwnd(), 4 * MSS);
    control.on_ack(&small(10_050, 103, 101));
    control.on_ack(&small(10_240, 104, 102));
    assert!(matches!(control.state, State::ProbeRtt(_)), "no round yet");
    control.on_ack(&small(10_249, 105, 103));
    assert!(matches!(control.state, State::ProbeRtt(_)), "not 200 ms yet");
    control.on_ack(&small(10_260, 106, 104));
    assert!(matches!(control.state, State::ProbeBandwidth(..)));
    assert!(control.cwnd() >= before.min(24 * MSS), "{}", control.cwnd() / MSS);
}

/// `bbr_cwnd_event` (`CA_EVENT_TX_START`): the bandwidth less 1 %.
#[test]
fn restart_has_no_gain() {
    let mut control = cruising();
    control.state = State::ProbeBandwidth(0, Time::ZERO);
    control.update_gains();
    control.set_pacing_rate(control.gains.pacing);
    assert!((control.pacing_rate().unwrap() - 0.99 * 125.0 * MSS as f64).abs() < 1e-6);
    control.on_restart(Time(200_000_000));
    assert!((control.pacing_rate().unwrap() - 99.0 * MSS as f64).abs() < 1e-6);
}

/// `bbr_reset_probe_bw_mode`: not phase 1.
#[test]
fn probing_starts_at_any_phase_but_draining() {
    let mut control = cruising();
    let mut seen = [0; CYCLE.len()];
    for ms in 0..700 {
        control.delivered_at = Time(ms * 1_001_000);
        control.enter_probe_bandwidth();
        if let State::ProbeBandwidth(phase, _) = control.state {
            seen[phase] += 1;
        }
    }
    assert_eq!(seen[1], 0);
    assert!([0, 2, 3, 4, 5, 6, 7].iter().all(|&phase| seen[phase] > 50), "{seen:?}");
}

/// `bbr_lt_bw_sampling`, without gains.
#[test]
fn policer_sets_rate() {
    let mut control = cruising();
    let mut total = 101;
    for round in 0..14 {
        total += 8;
        let range = (0, 2 * MSS);
        let now = Time((200 + 100 * round) * 1_000_000);
        control.on_loss(&Loss { now, range, snapshot: Snapshot::default(), lost: 0, delivered: 0 });
        let seen = sampled(200 + 100 * round, 8, total, total - 8, 100.0);
        control.on_ack(&AckEvent { lost: 2 * MSS, in_flight: 10 * MSS, ..seen });
    }
    assert!((control.bandwidth() / (80.0 * MSS as f64) - 1.0).abs() < 0.01, "{}", control.bandwidth());
    assert!((control.gains.pacing - 1.0).abs() < 1e-9);
    control.undo(0);
    assert!(control.bandwidth() > 90.0 * MSS as f64, "an undone recovery was no policer");
}
