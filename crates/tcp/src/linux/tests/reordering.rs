//! Tests in which segments or ACKs overtake each other.

use super::script::Script;
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::reno::Reno;

fn params() -> Linux {
    Linux { control: CongestionSpec::Reno(Reno::default()), timestamps: false, ..Linux::default() }
}

/// If a segment that was sent once is reported by SACK after a higher one, `tcp_sacktag_one`
/// concludes that the higher segment has overtaken it. The distance of these segments is the degree
/// of reordering (`tcp_check_sack_reordering`). With a degree above three the window also grows on
/// SACKs (`tcp_may_raise_cwnd`).
#[test]
fn window_grows_on_sacks_with_reordering() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    script.acknowledge(0, &[(6, 8)]);
    assert_eq!((script.sender.reordering.degree(), script.window().0), (3, 10));
    script.acknowledge(0, &[(3, 4), (6, 8)]);
    assert_eq!((script.sender.reordering.degree(), script.window().0), (5, 11));
    script.acknowledge(0, &[(3, 6), (6, 8)]);
    assert_eq!(script.window().0, 13);
}

/// By `tcp_clean_rtx_queue` a segment was also overtaken if SACKs have reported higher data before
/// it is acknowledged cumulatively.
#[test]
fn cumulative_ack_of_gap_shows_reordering() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    script.acknowledge(0, &[(1, 2)]);
    script.acknowledge(2, &[]);
    assert!(script.sender.reordering.is_seen());
    assert_eq!(script.sender.reordering.degree(), 3);
}

/// SACK blocks of one ACK are processed in ascending order, so no segment in them counts as
/// overtaken by another one.
#[test]
fn simultaneous_blocks_are_no_reordering() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    script.acknowledge(1, &[(5, 6), (3, 4)]);
    assert!(!script.sender.reordering.is_seen());
}

/// By `tcp_rack_reo_wnd`, once reordering was observed, RACK waits for a quarter of a round-trip
/// time even if SACKs have reported three segments or more.
#[test]
fn rack_waits_with_reordering() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    script.acknowledge(0, &[(3, 4)]);
    for blocks in [(2, 4), (2, 7)] {
        let sent = script.acknowledge(0, &[blocks]);
        assert!(sent.iter().all(|&(_, again)| !again), "{sent:?}");
    }
    assert!(script.time_out().contains(&(0, true)));
}

/// By `tcp_enter_loss` a timeout resets the degree of reordering to three only if SACKs have
/// reported at least three segments. Here they have reported two, so the degree stays.
#[test]
fn timeout_resets_degree() {
    let (mut script, _) = Script::begin(Linux { rack: false, tail_loss_probe: false, ..params() }, 100);
    script.wait(100);
    script.acknowledge(0, &[(8, 9)]);
    script.acknowledge(0, &[(1, 2), (8, 9)]);
    assert_eq!(script.sender.reordering.degree(), 8);
    while script.sender.counts().timeouts == 0 {
        script.time_out();
    }
    assert_eq!(script.sender.reordering.degree(), 8, "two segments beyond the gap");
}

/// By the end of `tcp_ack`, the SACK blocks of an ACK that a newer ACK has overtaken are used. The
/// acknowledgement number of that ACK is not used.
#[test]
fn blocks_of_old_ack_count() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    script.acknowledge(5, &[]);
    let sent = script.acknowledge(3, &[(7, 10)]);
    assert_eq!((script.sender.scoreboard.sacked_segments(), script.sender.counts().fast_retransmits), (3, 1));
    assert!(sent.contains(&(5, true)), "{sent:?}");
}
