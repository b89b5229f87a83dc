use super::script::{NONE, Script, Sent};
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::reno::Reno;

fn params() -> Linux {
    Linux { control: CongestionSpec::Reno(Reno::default()), ..Linux::default() }
}

/// Of the first ten segments.
const FIRST_US: u32 = 100_000;

/// `tcp_try_undo_partial`.
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

/// `REXMIT_NONE`, although another segment is marked lost.
#[test]
fn partial_ack_of_original_causes_no_retransmission() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    // PRR allows only the first retransmission; the other lost segments wait.
    assert_eq!(script.acknowledge(0, &[(9, 10), (7, 8), (5, 6)])[0], (0, true));
    let sent = script.echo(1, &[(9, 10), (7, 8), (5, 6)], FIRST_US);
    assert!(sent.iter().all(|&(_, again)| !again), "{sent:?}");
}

/// `tcp_check_dsack`, `tcp_sacktag_one`: not above `undo_marker`.
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

/// `tcp_dsack_seen`.
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

/// `tcp_undo_cwnd_reduction` calls `tcp_reno_undo_cwnd`; here PRR's window is larger.
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

/// As Linux 6.18.44 shows.
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

/// Linux 6.18.44, `tcp_rack_detect_loss`: RACK removes the sixth segment from its list, so only the next
/// timeout retransmits it.
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
