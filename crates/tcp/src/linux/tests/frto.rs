//! RFC 5682, 3.1, as in `tcp_process_loss` of Linux 6.

use super::script::{NONE, Script, Sent};
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::reno::Reno;

/// Reno and F-RTO, without other detection or tail loss probe.
fn params(sack: bool) -> Linux {
    Linux {
        control: CongestionSpec::Reno(Reno::default()),
        timestamps: false,
        undo: false,
        sack,
        dsack: false,
        rack: sack,
        tail_loss_probe: false,
        ..Linux::default()
    }
}

/// Ten outstanding segments, the first retransmitted.
fn timed_out(params: Linux, segments: u64) -> Script {
    let (mut script, sent) = Script::begin(params, segments);
    assert_eq!(sent, (0..10).map(|number| (number, false)).collect::<Vec<Sent>>());
    assert_eq!(script.time_out(), [(0, true)]);
    assert_eq!(script.window(), (1, 5));
    script
}

#[test]
fn acks_of_originals_show_spurious_timeout() {
    for sack in [false, true] {
        let mut script = timed_out(params(sack), 100);
        // Step 2.b of the RFC: the late ACK of the first segment releases two new segments, and no
        // retransmission.
        assert_eq!(script.acknowledge(1, &[]), [(10, false), (11, false)]);
        // Step 3.b: an ACK of the second segment, which was never retransmitted, shows that the
        // timeout was spurious, so the window is restored.
        let sent = script.acknowledge(2, &[]);
        assert!(sent.iter().all(|&(number, again)| number >= 12 && !again), "{sent:?}");
        let (cwnd, ssthresh) = script.window();
        assert!(cwnd >= 10 && ssthresh == NONE, "{cwnd} {ssthresh}");
        assert_eq!(script.sender.counts().retransmissions, 1);
    }
}

#[test]
fn sack_block_below_recovery_point_shows_spurious_timeout() {
    let mut script = timed_out(params(true), 100);
    assert_eq!(script.acknowledge(1, &[]).len(), 2);
    script.acknowledge(1, &[(3, 4)]);
    assert_eq!(script.window().1, NONE, "step 3.b");
}

#[test]
fn real_loss_leads_to_conventional_recovery() {
    // All ten segments were lost, so the new segments cause duplicate ACKs, with SACK blocks beyond
    // the recovery point.
    for (sack, blocks) in [(false, &[][..]), (true, &[(10, 11)])] {
        let mut script = timed_out(params(sack), 100);
        assert_eq!(script.acknowledge(1, &[]), [(10, false), (11, false)]);
        // Step 3.a: the timeout was not spurious. The window is at most three segments, and the
        // outstanding segments are retransmitted.
        let sent = script.acknowledge(1, blocks);
        assert_eq!(sent.first(), Some(&(1, true)), "{sent:?}");
        assert!(script.window().0 <= 3 && script.window().1 == 5, "{:?}", script.window());
    }
}

#[test]
fn ack_of_all_data_is_conclusive_only_with_sack() {
    // With SACK, a segment that was never retransmitted and never reported by SACK has not arrived
    // before, so it was only late (`FLAG_ORIG_SACK_ACKED`). Without SACK it may have arrived
    // before, so an ACK that also covers a retransmission proves nothing.
    for (sack, ssthresh) in [(false, 5), (true, NONE)] {
        let mut script = timed_out(params(sack), 100);
        script.acknowledge(10, &[]);
        assert_eq!(script.window().1, ssthresh);
    }
}

#[test]
fn first_duplicate_is_inconclusive_without_old_sack_block() {
    // A duplicate ACK does not show whether the timeout was spurious until new data has been sent.
    let mut basic = timed_out(params(false), 100);
    assert_eq!(basic.acknowledge(0, &[]), []);
    assert_eq!(basic.acknowledge(1, &[]), [(10, false), (11, false)]);
    let mut enhanced = timed_out(params(true), 100);
    enhanced.acknowledge(0, &[(5, 6)]);
    assert_eq!(enhanced.window(), (10, NONE));
}

/// `tcp_process_loss`: it delivers a segment that was never retransmitted.
#[test]
fn first_ack_may_suffice() {
    let mut script = timed_out(params(true), 100);
    script.acknowledge(2, &[]);
    // The window is the window before the timeout plus one segment for each of the two segments
    // acknowledged.
    assert_eq!(script.window(), (12, NONE));
}

#[test]
fn no_new_data_leads_to_conventional_recovery() {
    for sack in [false, true] {
        let mut script = timed_out(params(sack), 10);
        assert_eq!(script.acknowledge(1, &[])[0], (1, true));
        assert_eq!(script.window().1, 5);
    }
}

#[test]
fn repeated_timeouts_count_as_one_except_in_recovery() {
    let mut script = timed_out(params(true), 100);
    assert_eq!(script.time_out(), [(0, true)]);
    assert_eq!(script.acknowledge(1, &[]), [(10, false), (11, false)]);
    script.acknowledge(2, &[]);
    assert_eq!(script.window().1, NONE, "step 2 returns to step 1");

    let (mut script, _) = Script::begin(params(true), 100);
    script.wait(100);
    assert_eq!(script.acknowledge(0, &[(1, 4)])[0], (0, true));
    assert_eq!(script.time_out()[0], (0, true));
    assert_eq!(script.acknowledge(4, &[])[0], (4, true), "step 1");
}

#[test]
fn disabled_frto_leads_to_conventional_recovery() {
    let mut script = timed_out(Linux { frto: false, ..params(true) }, 100);
    assert_eq!(script.acknowledge(1, &[])[0], (1, true));
}

#[test]
fn timestamps_take_precedence() {
    // The first ACK echoes the timestamp of the original segment, so Eifel detects the spurious
    // timeout and F-RTO is not needed.
    let (mut script, _) = Script::begin(Linux { timestamps: true, undo: true, ..params(true) }, 100);
    script.time_out();
    script.echo(1, &[], 100_000);
    assert_eq!(script.window().1, NONE);
    // The first ACK echoes the timestamp of the retransmission. So Eifel detects nothing, and F-RTO
    // continues.
    let (mut script, _) = Script::begin(Linux { timestamps: true, undo: true, ..params(true) }, 100);
    script.time_out();
    let again_us = (script.now.0 / 1_000) as u32;
    assert_eq!(script.echo(1, &[], again_us), [(10, false), (11, false)]);
    assert_eq!(script.window().1, 5);
    script.echo(2, &[], again_us);
    assert_eq!(script.window().1, NONE);
}
