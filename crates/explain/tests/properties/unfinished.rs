use nodeb_explain::{Cause, Path, Step, explain};
use nodeb_sim::{Control, run, scenario};

fn path(text: &str) -> Path {
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    explain(&scenario, scenario.seed, 0, &Control::default(), (0, 0)).unwrap()
}

/// In ns.
fn duration_of(path: &Path, is_so: impl Fn(&nodeb_explain::Span) -> bool) -> u64 {
    path.spans.iter().filter(|span| is_so(span)).map(|span| span.duration().0).sum()
}

/// The run ends before the server's timer expires.
#[test]
fn lost_ack_is_charged_to_timeout() {
    let path = path(
        "duration = '1 s'\n[wired]\nrate = '10 Mbps'\ndelay = '50 ms'\n\
         [uplink]\nrate = '64 kbps'\ndelay = '20 ms'\nloss.list.positions = [1]\n\
         [radio.link]\nrate = '384 kbps'\n[tcp.classic]\n[[users]]\ntraffic.ftp.size = '10 kB'",
    );
    assert!(!path.complete);
    assert_eq!(duration_of(&path, |span| span.cause == Cause::Application), 0, "{:?}", path.spans);
    assert!(duration_of(&path, |span| span.cause == Cause::Timeout) > 500_000_000, "{:?}", path.spans);
}

#[test]
fn link_without_outages_gets_no_outage_step() {
    for tenths in [9, 12, 16, 20] {
        let path = path(&format!(
            "duration = '{tenths}00 ms'\n[wired]\nrate = '64 kbps'\ndelay = '20 ms'\n[uplink]\nrate = '1 Mbps'\n\
             [radio.link]\nrate = '1 Mbps'\n[[users]]\ncount = 2\ntraffic.ftp.size = '50 kB'"
        ));
        assert!(!path.complete);
        assert_eq!(duration_of(&path, |span| span.step == Step::Outage), 0, "{:?}", path.spans);
    }
}

/// RED marks and drops none, so nothing is retransmitted.
#[test]
fn marks_are_not_charged_to_recovery() {
    let text = "duration = '20 s'\n[wired]\nrate = '3 Mbps'\ndelay = '100 ms'\n\
         queue.red = { min_threshold = 3.0, max_threshold = 40.0, weight = 1.0 }\n\
         [radio.link]\nrate = '10 Mbps'\n[tcp.linux]\necn = true\ncontrol.reno = {}\n\
         [[users]]\ntraffic.ftp.size = '500 kB'";
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    let result = run(&scenario, scenario.seed, 0, &Control::default()).unwrap();
    assert_eq!(result.flows[0].sender.retransmissions, 0);
    let path = path(text);
    assert_eq!(duration_of(&path, |span| span.cause == Cause::Recovery), 0, "{:?}", path.spans);
}

/// [`Cause::Rlc`], not that of the round trip.
#[test]
fn retransmissions_in_new_blocks_are_charged_to_rlc() {
    let path = path(
        "[radio.dch]\nbler = 0.3\n[radio.dch.rlc.am]\n\
         [[users]]\ntraffic.ftp.size = '20 kB'",
    );
    let retransmissions = path.spans.windows(2).filter(|pair| pair[0].step == Step::ReportAwaited);
    let steps: Vec<_> = retransmissions.map(|pair| (pair[1].cause, pair[1].step)).collect();
    assert!(steps.iter().filter(|step| **step == (Cause::Rlc, Step::Retransmits)).count() > 5, "{steps:?}");
    assert!(steps.iter().all(|(_, step)| *step != Step::Sends), "{steps:?}");
}

/// Retransmitted frames share slots with new ones, in proportion: RLC's part is the frame error rate, within
/// 0.02.
#[test]
fn retransmitted_frames_are_charged_with_their_part_of_a_slot() {
    let text = "[radio.wcdma]\neb_n0_db = 8.0\ncorrectable_bits = 2\nmax_failed_slots = 50\n\
         [[users]]\ntraffic.ftp.size = '200 kB'";
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    let result = run(&scenario, scenario.seed, 0, &Control::default()).unwrap();
    let sent = &result.bearers[0].counts;
    let failed = sent.blocks_failed as f64 / sent.blocks as f64;
    assert!(failed > 0.05, "{failed}");
    let path = path(text);
    let [retransmitted, new] =
        [Cause::Rlc, Cause::Transmission].map(|cause| duration_of(&path, |span| span.cause == cause) as f64);
    let share = retransmitted / (retransmitted + new);
    assert!((share - failed).abs() < 0.02, "{share} of the time, {failed} of the frames");
}
