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
