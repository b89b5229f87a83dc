use super::super::pipe::{MSS, Pipe, RTT, knows_a_steady_path};
use super::*;

fn pipe() -> Pipe<Policy> {
    Pipe::new(Policy::new(&Bbr::default(), MSS, 10 * MSS))
}

#[test]
fn a_steady_path_is_known_and_its_queue_short() {
    knows_a_steady_path(pipe(), |control| &control.path);
}

#[test]
fn the_phases_follow_each_other() {
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
fn the_gains_take_turns_and_each_lasts_a_round_trip() {
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

/// 4.3.2.1: BBRHighGain is 2 / ln 2 = 2.8854, the smallest gain that doubles the rate every round trip. Start-up paces and sizes its window by it (4.3.2), and so does 4.2.1 before there is a
/// bandwidth; Drain (4.3.3) paces by its inverse.
#[test]
fn the_start_paces_at_two_over_ln_2() {
    let mut pipe = pipe();
    pipe.control.on_ack(&AckEvent { srtt: RTT, ..AckEvent::default() });
    let high_gain = pipe.control.pacing_rate().unwrap() / (10.0 * MSS as f64 / RTT.as_secs());
    assert!((high_gain - 2.885).abs() < 1e-9, "{high_gain}");
    assert!((high_gain - 2.0 / std::f64::consts::LN_2).abs() < 0.001, "{high_gain}");

    let mut seen = Vec::<(State, f64, f64)>::new();
    pipe.run(2.0, |pipe| {
        let state = pipe.control.state;
        let gain = pipe.control.pacing_gain();
        if let State::Startup | State::Drain = state
            && seen.last().is_none_or(|&(last, ..)| last != state)
        {
            seen.push((state, gain, pipe.control.cwnd_gain()));
        }
    });
    assert_eq!(seen, [(State::Startup, 2.885, 2.885), (State::Drain, 1.0 / 2.885, 2.885)]);
}
