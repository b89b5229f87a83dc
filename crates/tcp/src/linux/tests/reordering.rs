use super::script::Script;
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::reno::Reno;

fn params() -> Linux {
    Linux { control: CongestionSpec::Reno(Reno::default()), timestamps: false, ..Linux::default() }
}

/// `tcp_sacktag_one`, `tcp_check_sack_reordering`, and with a degree above three `tcp_may_raise_cwnd`.
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

/// `tcp_clean_rtx_queue`.
#[test]
fn cumulative_ack_of_gap_shows_reordering() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    script.acknowledge(0, &[(1, 2)]);
    script.acknowledge(2, &[]);
    assert!(script.sender.reordering.is_seen());
    assert_eq!(script.sender.reordering.degree(), 3);
}

/// Processed in ascending order.
#[test]
fn simultaneous_blocks_are_no_reordering() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    script.acknowledge(1, &[(5, 6), (3, 4)]);
    assert!(!script.sender.reordering.is_seen());
}

/// `tcp_rack_reo_wnd`: a quarter of a round-trip time even with three SACKed segments.
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

/// `tcp_enter_loss`: only with three SACKed segments, here two.
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

/// The end of `tcp_ack`; its number is not used.
#[test]
fn blocks_of_old_ack_count() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    script.acknowledge(5, &[]);
    let sent = script.acknowledge(3, &[(7, 10)]);
    assert_eq!((script.sender.scoreboard.sacked_segments(), script.sender.counts().fast_retransmits), (3, 1));
    assert!(sent.contains(&(5, true)), "{sent:?}");
}
