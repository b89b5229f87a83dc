use super::super::pipe::{BDP, MSS, Pipe, RATE, RTT, assert_steady_path_estimates};
use super::*;

fn pipe() -> Pipe<Bbr3Control> {
    Pipe::new(Bbr3Control::new(&Bbr3::default(), MSS, 10 * MSS, true))
}

/// With start times in seconds.
fn states(pipe: &mut Pipe<Bbr3Control>, seconds: f64) -> Vec<(State, f64)> {
    let mut seen = Vec::<(State, f64)>::new();
    pipe.run(seconds, |pipe| {
        let state = match pipe.control.state {
            State::Drain(_) => State::Drain(0),
            State::ProbeRtt(_) => State::ProbeRtt(None),
            state => state,
        };
        if seen.last().is_none_or(|&(last, _)| last != state) {
            seen.push((state, pipe.now.as_secs()));
        }
    });
    seen
}

#[test]
fn steady_path_is_estimated_with_short_queue() {
    assert_steady_path_estimates(pipe(), |control| &control.path);
}

#[test]
fn states_follow_in_order() {
    let seen = states(&mut pipe(), 12.0);
    let order: Vec<State> = seen.iter().map(|(state, _)| *state).collect();
    assert_eq!(order[..2], [State::Startup, State::Drain(0)]);
    for pair in order[1..].windows(2) {
        let may_follow: &[State] = match pair[0] {
            // If little data is in flight, `Down` begins and ends on the same ACK, so that the test
            // does not see it. Then the test sees a later state instead of `Down`.
            State::Drain(_) | State::Down => &[State::Down, State::Cruise, State::Refill],
            State::Cruise => &[State::Refill],
            State::Refill => &[State::Up],
            State::Up => &[State::Down],
            _ => &[State::Cruise],
        };
        assert!(pair[1] == State::ProbeRtt(None) || may_follow.contains(&pair[1]), "{order:?}");
    }
    for state in [State::Down, State::Cruise, State::Refill, State::Up, State::ProbeRtt(None)] {
        assert!(order.contains(&state), "{state:?} in {order:?}");
    }
}

#[test]
fn startup_ends_three_rounds_after_plateau() {
    let mut pipe = pipe();
    let seen = states(&mut pipe, 3.0);
    // The window doubles from 10 to 200 segments in five rounds of 100 ms. Three more rounds, which
    // last up to 200 ms because of the queue, show that the pipe is full.
    let drain = seen[1].1;
    assert!((0.7..1.3).contains(&drain), "{seen:?}");
    // By section 5.3.2 `Drain` empties the queue in about a round trip, at a pacing rate of half
    // the bandwidth.
    assert!(seen[2].1 - drain < 0.35, "{seen:?}");
    assert!(pipe.control.filled);
    // The window gain of 2 in `Startup` allows a queue of one bandwidth-delay product.
    assert!(pipe.longest <= BDP + 20, "{}", pipe.longest);
}

#[test]
fn probes_come_every_two_to_three_seconds() {
    // By section 5.3.3.8.2 a probe begins two to three seconds after the start of its cycle, since
    // 63 round trips take longer on this path. A measurement of the round-trip time also begins a
    // cycle.
    let seen = states(&mut pipe(), 30.0);
    let at = |wanted: State| seen.iter().filter(move |(state, _)| *state == wanted).map(|(_, at)| *at);
    for refill in at(State::Refill) {
        let begun = at(State::Down).chain(at(State::ProbeRtt(None))).chain(at(State::Drain(0)));
        let since = begun.filter(|&begun| begun < refill).fold(0.0, f64::max);
        assert!((1.9..3.9).contains(&(refill - since)), "{since} to {refill}");
    }
    // There is at least one probe between two measurements of the round-trip time, which begin
    // every five seconds.
    assert!(at(State::Refill).count() >= 5, "{seen:?}");
    // By section 5.3.4 a measurement of the round-trip time begins every five seconds, and lasts
    // 200 ms and at least a round trip.
    let pauses: Vec<f64> = at(State::ProbeRtt(None)).collect();
    assert!(pauses.windows(2).all(|pair| (5.0..5.6).contains(&(pair[1] - pair[0]))), "{pauses:?}");
}

#[test]
fn probe_rtt_halves_data_in_flight() {
    let (mut pipe, mut least) = (pipe(), u64::MAX);
    pipe.run(6.0, |pipe| {
        if let State::ProbeRtt(Some(_)) = pipe.control.state {
            least = least.min(pipe.in_flight());
            assert!(pipe.in_flight() <= BDP * MSS * 52 / 100, "{}", pipe.in_flight());
        }
    });
    assert!((BDP * MSS * 45 / 100..u64::MAX).contains(&least), "{least}");
}

#[test]
fn no_probe_rtt_after_idle_time() {
    // This test is the draft's example "Skipping PROBE_RTT Due to Application-Limited Sending".
    let mut pipe = pipe();
    pipe.run(4.0, |_| {});
    let bbr = &mut pipe.control;
    let later = Time(20_000_000_000);
    bbr.on_restart(later);
    bbr.on_ack(&AckEvent { now: later, delivered: MSS, rtt: Some(RTT), ..AckEvent::default() });
    assert!(bbr.state.is_probe_bw(), "{:?}", bbr.state);
}

#[test]
fn shallow_queue_bounds_inflight_and_losses() {
    let mut pipe = pipe();
    pipe.limit = 20;
    pipe.run(10.0, |_| {});
    let (lost, sent) = (pipe.lost, pipe.sent);
    pipe.run(60.0, |pipe| {
        let safe = pipe.control.bounds.long_term;
        let cwnd = pipe.control.cwnd();
        // The data in flight is at most the bandwidth-delay product, 20 segments in the queue and
        // one in service. A probe may exceed this amount by as much as may be lost, 2 % of the data
        // in flight.
        assert!(safe == u64::MAX || safe <= (BDP + 21) * MSS * 100 / 98 + MSS, "{safe}");
        // By section 5.6.1, BBRv3 leaves 15 % of the long-term bound to other flows in the state
        // `Cruise`.
        assert!(pipe.control.state != State::Cruise || cwnd <= safe / 100 * 85 + MSS, "{cwnd} {safe}");
    });
    assert!(pipe.control.bounds.long_term < u64::MAX);
    let (lost, sent) = ((pipe.lost - lost) as f64, (pipe.sent - sent) as f64);
    assert!(lost / sent < 0.02, "{lost} of {sent}");
    assert!(sent * MSS as f64 / 50.0 > 0.9 * RATE, "{sent}");
}

#[test]
fn loss_below_threshold_costs_little_bandwidth() {
    let mut pipe = pipe();
    pipe.loses = |number| number % 101 == 100;
    pipe.run(60.0, |_| {});
    let share = (pipe.sent - pipe.lost) as f64 * MSS as f64 / 60.0 / RATE;
    assert!(share > 0.85, "{share}");
}

#[test]
fn lossy_round_lowers_bounds_by_at_most_beta() {
    let mut pipe = pipe();
    pipe.loses = |number| number > 2_000 && number % 10 == 0;
    let mut before = (f64::INFINITY, u64::MAX);
    let mut lowered = 0;
    pipe.run(5.0, |pipe| {
        let Bbr3Control { bounds, path, window, .. } = &pipe.control;
        let after = (bounds.bandwidth, bounds.short_term);
        if after.0 < before.0 {
            lowered += 1;
            let bandwidth = before.0.min(path.max_bandwidth());
            assert!(after.0 >= 0.7 * bandwidth * 0.999, "{before:?} {after:?}");
            let inflight = before.1.min(2 * window.cwnd.max(BDP * MSS));
            assert!(
                before.1 == u64::MAX || after.1 as f64 >= 0.7 * inflight as f64 - 1.0,
                "{before:?} {after:?}"
            );
        }
        before = after;
    });
    assert!(lowered > 2, "{lowered}");
}

#[test]
fn inflight_when_loss_exceeds_threshold() {
    // Before this segment, 100 segments of 1000 B were in flight, of which one was lost. The
    // threshold is 2 %, so by section 5.5.10.2 it is exceeded after (0.02 * 100,000 - 1000) / 0.98
    // = 1020 more lost bytes.
    let bbr = pipe().control;
    let snapshot = crate::linux::rate::Snapshot { in_flight: 101 * MSS as u32, ..<_>::default() };
    let loss = Loss { now: Time::ZERO, range: (0, MSS), snapshot, lost: 2 * MSS, delivered: 0 };
    assert_eq!(bbr.inflight_at(&loss), 101_020);
    // If more than 2 % had already been lost before this segment, the segment adds no bytes to the
    // result.
    assert_eq!(bbr.inflight_at(&Loss { lost: 4 * MSS, ..loss }), 100_000);
}

#[test]
fn startup_ends_after_too_many_losses() {
    // After segment 60 every tenth segment is lost, long before the pipe is full. By section
    // 5.3.1.3 so many losses end `Startup`.
    let mut pipe = pipe();
    pipe.loses = |number| number > 60 && number % 10 == 0;
    let mut at_loss = None;
    pipe.run(3.0, |pipe| {
        if pipe.control.filled && at_loss.is_none() {
            at_loss = Some((pipe.control.bounds.long_term, pipe.control.path.max_bandwidth()));
        }
    });
    let (safe, bandwidth) = at_loss.expect("the end of the start");
    assert!(safe >= (0.99 * bandwidth * RTT.as_secs()) as u64 && safe < u64::MAX, "{safe} {bandwidth}");
}

#[test]
fn spurious_recovery_is_undone() {
    // Too many losses end a probe in the state `Up`. Then the losses turn out to be spurious, so by
    // section 5.5.11 the bound is removed, and BBR starts another probe with the state `Refill`.
    let mut pipe = pipe();
    let mut probing = false;
    while !probing {
        let next = pipe.now.as_secs() + 0.001;
        pipe.run(next, |_| {});
        probing = pipe.control.state == State::Up && pipe.control.cycle.sampling;
    }
    let (cwnd, now, delivered) = (pipe.control.cwnd(), pipe.now, pipe.control.delivered);
    let snapshot = crate::linux::rate::Snapshot { in_flight: (BDP * MSS) as u32, ..<_>::default() };
    let bbr = &mut pipe.control;
    bbr.on_loss(&Loss { now, range: (0, MSS), snapshot, lost: 10 * MSS, delivered });
    bbr.on_congestion(now, BDP * MSS);
    assert_eq!((bbr.state, bbr.cycle.too_high), (State::Down, true));
    assert!(bbr.bounds.long_term < u64::MAX);
    bbr.undo(0);
    assert_eq!((bbr.state, bbr.bounds.long_term), (State::Refill, u64::MAX));
    assert!(bbr.cwnd() >= cwnd);
}

#[test]
fn ecn_marks_count_as_losses() {
    let mut pipe = pipe();
    pipe.run(2.5, |_| {});
    pipe.marks = true;
    pipe.run(4.5, |_| {});
    assert!(pipe.control.bounds.bandwidth < 0.95 * RATE || pipe.control.bounds.long_term < u64::MAX);
    assert_eq!(pipe.lost, 0);
}

#[test]
fn ack_bursts_enlarge_window() {
    // Every 20 ms, 20 segments are acknowledged at once. So by section 5.5.9 the excess is 20
    // segments.
    let mut bbr = Bbr3Control::new(&Bbr3::default(), MSS, 10 * MSS, true);
    let mut now = Time::ZERO;
    let sample = |delivered| crate::linux::rate::RateSample {
        rate: Some(RATE),
        app_limited: false,
        prior_delivered: delivered,
        delivered: BDP * MSS,
        lost: 0,
        in_flight: BDP * MSS,
    };
    for burst in 1..200 {
        now += Duration::from_millis(20);
        let (delivered, total_delivered) = (20 * MSS, 20 * MSS * burst);
        let rtt = Some(RTT);
        let sample = Some(sample(total_delivered.saturating_sub(BDP * MSS)));
        bbr.on_ack(&AckEvent { now, delivered, rtt, sample, total_delivered, ..AckEvent::default() });
    }
    assert_eq!(bbr.aggregation.extra(), 20 * MSS);
}

/// 5.6.2: `pacing_rate = pacing_gain * BBR.bw * (100 - BBR.PacingMarginPercent) / 100` with 1 % (2.5); the
/// first rate has no margin.
#[test]
fn pacing_is_one_percent_below_bandwidth() {
    let mut pipe = pipe();
    pipe.control.on_established(Time::ZERO, Some(RTT));
    let first = pipe.control.pacing_rate().unwrap();
    assert!((first - 2.77 * 10.0 * MSS as f64 / RTT.as_secs()).abs() < 1e-6, "{first}");
    let mut looked = 0;
    pipe.run(8.0, |pipe| {
        let bbr = &pipe.control;
        if bbr.filled {
            let share = bbr.pacing_rate().unwrap() / (bbr.gains().0 * bbr.bandwidth());
            assert!((share - 0.99).abs() < 1e-9, "{:?}: {share}", bbr.state);
            looked += 1;
        }
    });
    assert!(looked > 1_000, "{looked}");
    // By section 5.4 the pacing rate after a restart has the same margin but no gain.
    let mut bbr = pipe.control;
    bbr.on_restart(pipe.now);
    let share = bbr.pacing_rate().unwrap() / bbr.bandwidth();
    assert!((share - 0.99).abs() < 1e-9, "{share}");
}
