use super::script::{MSS, Script};
use super::*;

fn begin(segments: u64) -> Script {
    let params = Linux {
        sack: false,
        dsack: false,
        rack: false,
        tail_loss_probe: false,
        timestamps: false,
        control: CongestionSpec::Reno(<_>::default()),
        ..Linux::default()
    };
    Script::begin(params, segments).0
}

fn duplicates(script: &mut Script, next: u64, count: u32) {
    for _ in 0..count {
        script.acknowledge(next, &[]);
    }
}

/// `tcp_limit_reno_sacked`, `tcp_check_reno_reordering`: at most nine of ten can have arrived beyond the gap.
#[test]
fn excess_duplicates_raise_reordering_degree() {
    let mut script = begin(10);
    script.wait(100);
    duplicates(&mut script, 0, 9);
    assert_eq!((script.sender.dupacks, script.sender.reordering.degree()), (9, 3));
    assert_eq!(script.sender.counts.fast_retransmits, 1);
    duplicates(&mut script, 0, 1);
    assert_eq!((script.sender.dupacks, script.sender.reordering.degree()), (9, 10));
}

/// `tcp_is_non_sack_preventing_reopen`: `tcp_fastretrans_alert` returns before it counts them.
#[test]
fn duplicates_at_end_of_recovery_do_not_count() {
    let mut script = begin(40);
    script.wait(100);
    duplicates(&mut script, 0, 3);
    let until = script.sender.episode.until().unwrap() / MSS;
    script.wait(100);
    script.acknowledge(until, &[]);
    let in_flight = script.sender.in_flight();
    duplicates(&mut script, until, 1);
    assert_eq!(script.sender.dupacks, 0);
    assert!(script.sender.in_flight() >= in_flight);
    duplicates(&mut script, until, 4);
    assert_eq!(script.sender.counts.fast_retransmits, 1);
}

/// `tcp_count_delivered` in `tcp_add_reno_sack` and `tcp_remove_reno_sacks`.
#[test]
fn segment_is_counted_as_delivered_once() {
    let mut script = begin(10);
    script.wait(100);
    duplicates(&mut script, 0, 5);
    assert_eq!(script.sender.sampler.delivered(), 5 * MSS);
    script.wait(100);
    script.acknowledge(10, &[]);
    assert_eq!(script.sender.sampler.delivered(), 10 * MSS);
}

/// `tcp_sndbuf_expand`: 46,080 B at ten segments hold 65 and, after the first 10 are sent, 10 more.
#[test]
fn unfilled_gap_fills_send_buffer() {
    let mut script = begin(1_000);
    let sent = |script: &Script| script.sender.scoreboard.next() / MSS;
    script.wait(100);
    duplicates(&mut script, 0, 40);
    assert_eq!(sent(&script), 45, "limited transmit, and a segment for each duplicate but half a window");
    duplicates(&mut script, 0, 60);
    assert_eq!(sent(&script), 75);
    script.acknowledge(75, &[]);
    assert!(sent(&script) > 75);
}

/// `tcp_fastretrans_alert` calls `tcp_reset_reno_sack`.
#[test]
fn end_of_recovery_resets_duplicates() {
    let mut script = begin(100);
    script.wait(100);
    duplicates(&mut script, 0, 10);
    let until = script.sender.episode.until().unwrap() / MSS;
    script.wait(100);
    script.acknowledge(until - 1, &[]);
    duplicates(&mut script, until - 1, 5);
    script.acknowledge(until + 1, &[]);
    assert_eq!((script.sender.dupacks, script.sender.counts.fast_retransmits), (0, 1));
}
