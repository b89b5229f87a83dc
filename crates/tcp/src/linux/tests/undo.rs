//! Tests of window reductions that turn out to be spurious, so that the sender undoes them.

use super::script::{NONE, Script, Sent};
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::reno::Reno;

fn params() -> Linux {
    Linux { control: CongestionSpec::Reno(Reno::default()), ..Linux::default() }
}

/// Timestamp in microseconds that the first ten segments carry.
const FIRST_US: u32 = 100_000;

/// By `tcp_try_undo_partial` of Linux 6, an ACK of segments that were only late undoes the window
/// reduction if no retransmission is in flight. Otherwise the ACK only raises the degree of
/// reordering, and no more segments are marked lost on it.
#[test]
fn partial_ack_waits_for_retransmissions_in_flight() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    let sent = script.acknowledge(0, &[(6, 9), (1, 5)]);
    assert_eq!(sent[..2], [(0, true), (5, true)]);
    script.wait(10);
    script.echo(5, &[(6, 9)], FIRST_US);
    assert_eq!((script.window().1, script.sender.reordering.degree()), (5, 9));
    script.wait(10);
    script.echo(9, &[], FIRST_US);
    let (cwnd, ssthresh) = script.window();
    assert!(cwnd >= 10 && ssthresh == NONE, "{cwnd} {ssthresh}");
}

/// A partial ACK of an original, while retransmissions are in flight, releases new segments and no
/// retransmissions (`REXMIT_NONE`), although another segment is marked lost.
#[test]
fn partial_ack_of_original_causes_no_retransmission() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    // PRR allows only the first retransmission; the other lost segments wait.
    assert_eq!(script.acknowledge(0, &[(9, 10), (7, 8), (5, 6)])[0], (0, true));
    let sent = script.echo(1, &[(9, 10), (7, 8), (5, 6)], FIRST_US);
    assert!(sent.iter().all(|&(_, again)| !again), "{sent:?}");
}

/// By `tcp_check_dsack` and `tcp_sacktag_one` a D-SACK that is not above `undo_marker` concerns an
/// earlier recovery, so it does not undo the present window reduction.
#[test]
fn late_dsack_does_not_undo_real_reduction() {
    let (mut script, _) = Script::begin(Linux { timestamps: false, ..params() }, 100);
    script.wait(100);
    assert_eq!(script.acknowledge(0, &[(1, 4)])[0], (0, true));
    script.acknowledge(0, &[(1, 10)]);
    script.wait(100);
    script.acknowledge(12, &[]);
    script.wait(100);
    let sent = script.acknowledge(12, &[(13, 17)]);
    assert!(sent.contains(&(12, true)), "{sent:?}");
    let reduced = script.window().1;
    script.acknowledge(12, &[(0, 1), (13, 17)]);
    assert_eq!(script.window().1, reduced);
    script.acknowledge(17, &[(12, 13)]);
    assert_eq!(script.window().1, 5, "what the first recovery left");
}

/// `tcp_dsack_seen` ignores a D-SACK if D-SACKs have reported more segments than were
/// retransmitted.
#[test]
fn dsacks_beyond_retransmissions_are_ignored() {
    let (mut script, _) = Script::begin(Linux { timestamps: false, ..params() }, 100);
    script.wait(100);
    script.acknowledge(2, &[(0, 1)]);
    script.acknowledge(2, &[(3, 7)]);
    assert_eq!(script.window().1, 6);
    script.acknowledge(7, &[(2, 3)]);
    assert_eq!(script.window().1, 6, "two reported, one sent again");
}

/// `tcp_undo_cwnd_reduction` calls `tcp_reno_undo_cwnd`, by which the window becomes the window
/// before the reduction or, if larger, the window of PRR. In this test the window of PRR is larger,
/// since more data was in flight than the previous window allows.
#[test]
fn undone_window_is_at_least_prr_window() {
    let (mut script, _) = Script::begin(Linux { timestamps: false, ..params() }, 100);
    script.wait(100);
    script.sender.control.report(|control| control.on_unused(0));
    script.sender.control.report(|control| control.on_congestion(Time::ZERO, 0));
    script.acknowledge(0, &[(1, 4)]);
    let spread = script.sender.spread_window() / script::MSS;
    assert!(spread > 5, "{spread}");
    script.acknowledge(4, &[(0, 1)]);
    assert!(script.window().0 >= spread, "{:?}", script.window());
}

/// The expected window, slow-start threshold and segments are those that Linux 6.18.44 shows.
/// Partial ACKs of originals cause no retransmission while retransmissions are in flight, but raise
/// the degree of reordering.
#[test]
fn partial_acks_of_originals_release_new_segments() {
    let (mut script, _) = Script::begin(params(), 60);
    script.wait(100);
    assert_eq!(script.acknowledge(0, &[(6, 10)]), [(0, true), (1, true), (2, true), (3, true)]);
    for (next, sent, cwnd) in
        [(1, &[(10, false), (11, false)][..], 5), (2, &[(12, false)], 5), (3, &[(13, false)], 5)]
    {
        assert_eq!(script.echo(next, &[(6, 10)], FIRST_US), sent);
        assert_eq!((script.sender.spread_window() / script::MSS, script.window().1), (cwnd, 5));
        assert_eq!(script.sender.reordering.degree(), 10);
    }
}

/// As in Linux 6.18.44, RACK removes the sixth segment from its list when it marks the segment lost
/// (`tcp_rack_detect_loss`). When the timeout turns out to be spurious, the segment counts as in
/// flight again, and only the next timeout retransmits it.
#[test]
fn segment_marked_before_spurious_timeout_waits_for_next_timeout() {
    let (mut script, _) = Script::begin(Linux { timestamps: false, ..params() }, 60);
    script.wait(100);
    assert_eq!(script.acknowledge(0, &[(6, 10)]), [(0, true), (1, true), (2, true), (3, true)]);
    // F-RTO does not evaluate the first timeout within a recovery, so there are two timeouts.
    assert_eq!((script.time_out(), script.time_out()), (vec![(0, true)], vec![(0, true)]));
    let sent = script.acknowledge(0, &[(4, 5), (6, 10)]);
    assert_eq!(sent, (10..15).map(|number| (number, false)).collect::<Vec<Sent>>());
    assert_eq!((script.window(), script.sender.reordering.degree()), ((11, NONE), 6));
    let mut again = Vec::new();
    for top in 11..=15 {
        again.extend(script.pause(100));
        again.extend(script.acknowledge(0, &[(4, 5), (6, top)]));
    }
    assert_eq!(again, [(1, true), (2, true), (3, true)]);
    assert_eq!(script.acknowledge(5, &[(6, 15)]), [(15, false), (16, false), (17, false), (18, false)]);
    script.wait(100);
    assert_eq!(script.acknowledge(5, &[(6, 17)]), [(19, false), (20, false)]);
    assert_eq!(script.time_out(), [(5, true)]);
    assert_eq!(script.sender.counts().timeouts, 3);
}
