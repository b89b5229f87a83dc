//! Transfers that the end of the run has interrupted, and reductions without a loss: scenarios in which it is known what
//! must be among the causes, and what must not.

use nodeb_explain::{Cause, Path, Step, explain};
use nodeb_sim::{Control, run, scenario};

fn path(text: &str) -> Path {
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    explain(&scenario, scenario.seed, 0, &Control::default(), (0, 0)).unwrap()
}

/// Nanoseconds of a path that have a property.
fn lasts(path: &Path, is_so: impl Fn(&nodeb_explain::Span) -> bool) -> u64 {
    path.spans.iter().filter(|span| is_so(span)).map(|span| span.lasts().0).sum()
}

/// The first ACK is lost on the uplink, and the run ends before the server's timer rings.
#[test]
fn a_lost_ack_is_waited_for_by_a_timer() {
    let path = path(
        "duration = '1 s'\n[wired]\nrate = '10 Mbps'\ndelay = '50 ms'\n\
         [uplink]\nrate = '64 kbps'\ndelay = '20 ms'\nloss.list.positions = [1]\n\
         [radio.link]\nrate = '384 kbps'\n[tcp.classic]\n[[users]]\ntraffic.ftp.size = '10 kB'",
    );
    assert!(!path.complete);
    assert_eq!(lasts(&path, |span| span.cause == Cause::Application), 0, "{:?}", path.spans);
    assert!(lasts(&path, |span| span.cause == Cause::Timeout) > 500_000_000, "{:?}", path.spans);
}

/// Two users on a slow link without outages.
#[test]
fn a_link_without_outages_has_none() {
    for tenths in [9, 12, 16, 20] {
        let path = path(&format!(
            "duration = '{tenths}00 ms'\n[wired]\nrate = '64 kbps'\ndelay = '20 ms'\n[uplink]\nrate = '1 Mbps'\n\
             [radio.link]\nrate = '1 Mbps'\n[[users]]\ncount = 2\ntraffic.ftp.size = '50 kB'"
        ));
        assert!(!path.complete);
        assert_eq!(lasts(&path, |span| span.step == Step::Outage), 0, "{:?}", path.spans);
    }
}

/// RED marks and drops nothing.
#[test]
fn marks_are_no_losses() {
    let text = "duration = '20 s'\n[wired]\nrate = '3 Mbps'\ndelay = '100 ms'\n\
         queue.red = { min_threshold = 3.0, max_threshold = 40.0, weight = 1.0 }\n\
         [radio.link]\nrate = '10 Mbps'\n[tcp.linux]\necn = true\ncontrol.reno = {}\n\
         [[users]]\ntraffic.ftp.size = '500 kB'";
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    let result = run(&scenario, scenario.seed, 0, &Control::default()).unwrap();
    assert_eq!(result.flows[0].sender.retransmissions, 0);
    let path = path(text);
    assert_eq!(lasts(&path, |span| span.cause == Cause::Recovery), 0, "{:?}", path.spans);
}

/// What acknowledged mode sends again is a retransmission of RLC, and no part of a round trip.
#[test]
fn blocks_that_carry_what_was_sent_before_are_rlcs() {
    let path = path(
        "[radio.dch]\nbler = 0.3\n[radio.dch.rlc.am]\n\
         [[users]]\ntraffic.ftp.size = '20 kB'",
    );
    let again = path.spans.windows(2).filter(|pair| pair[0].step == Step::ReportAwaited);
    let steps: Vec<_> = again.map(|pair| (pair[1].cause, pair[1].step)).collect();
    assert!(steps.iter().filter(|step| **step == (Cause::Rlc, Step::Repeats)).count() > 5, "{steps:?}");
    assert!(steps.iter().all(|(_, step)| *step != Step::Sends), "{steps:?}");
}

/// On WCDMA frames that failed share slots with new ones: they have their part of the slot.
#[test]
fn frames_that_are_sent_again_have_their_part_of_a_slot() {
    let text = "[radio.wcdma]\neb_n0_db = 8.0\ncorrectable_bits = 2\nmax_failed_slots = 50\n\
         [[users]]\ntraffic.ftp.size = '200 kB'";
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    let result = run(&scenario, scenario.seed, 0, &Control::default()).unwrap();
    let sent = &result.bearers[0].counts;
    let failed = sent.blocks_failed as f64 / sent.blocks as f64;
    assert!(failed > 0.05, "{failed}");
    let path = path(text);
    let [again, new] =
        [Cause::Rlc, Cause::Transmission].map(|cause| lasts(&path, |span| span.cause == cause) as f64);
    let share = again / (again + new);
    assert!((share - failed).abs() < 0.02, "{share} of the time, {failed} of the frames");
}
