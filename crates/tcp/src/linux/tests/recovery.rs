use super::script::{Script, Sent};
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::reno::Reno;
use nodeb_base::event::Recovery;

/// Without timestamps an ACK does not show which transmission it answers.
fn params() -> Linux {
    Linux { control: CongestionSpec::Reno(Reno::default()), timestamps: false, ..Linux::default() }
}

/// The first of ten, then the first new one of the recovery; both are retransmitted.
fn lost_in_recovery() -> Script {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    assert_eq!(script.acknowledge(0, &[(1, 4)]), [(0, true), (10, false)]);
    assert_eq!(script.window().1, 5);
    assert_eq!(script.acknowledge(0, &[(1, 10)]), [(11, false), (12, false), (13, false)]);
    script.wait(100);
    assert!(script.acknowledge(0, &[(11, 14), (1, 10)]).contains(&(10, true)));
    script
}

/// `tcp_time_to_recover`: `lost_out` includes retransmitted segments.
#[test]
fn loss_in_recovery_starts_another() {
    let mut script = lost_in_recovery();
    assert_eq!(script.sender.counts.fast_retransmits, 1);
    script.acknowledge(10, &[(11, 14)]);
    assert_eq!((script.sender.counts.fast_retransmits, script.window().1), (2, 2));
}

/// `tcp_init_undo`.
#[test]
fn retransmission_in_flight_may_undo_next_reduction() {
    let mut script = lost_in_recovery();
    script.acknowledge(10, &[(11, 14)]);
    script.acknowledge(14, &[(10, 11)]);
    assert_eq!(script.window().1, 5);
}

/// `tcp_ack` processes SACK blocks first, so RACK's time is that of the last cumulative one
/// (`tcp_rack_advance`).
#[test]
fn stretch_ack_does_not_mark_newer_segments() {
    let (mut script, _) = Script::begin(params(), 100);
    script.wait(100);
    assert_eq!(script.acknowledge(2, &[]).len(), 4);
    script.wait(120);
    let sent = script.acknowledge(9, &[(11, 14)]);
    assert!(sent.contains(&(9, true)) && !sent.contains(&(10, true)), "{sent:?}");
    let later = script.time_out();
    assert_eq!(
        (script.now, later.contains(&(10, true))),
        (jiffies::expiry(Time::ZERO + MS(320), MS(102)), true)
    );
}

/// `tcp_dsack_seen`.
#[test]
fn reported_duplicate_is_a_delivery() {
    let (mut script, _) = Script::begin(params(), 10);
    assert_eq!(script.time_out(), [(9, true)]);
    script.acknowledge(10, &[(9, 10)]);
    assert_eq!(script.window().0, 10 + 11);
}

/// `tcp_fastretrans_alert`: CWR must reach the receiver.
#[test]
fn reduction_for_mark_lasts_until_newer_ack() {
    let (mut script, _) = Script::begin(Linux { ecn: true, ..params() }, 100);
    script.wait(100);
    script.mark(2, &[]);
    let until = script.sender.episode.until().unwrap() / script::MSS;
    assert_eq!((script.sender.recovery(), script.window().1), (Recovery::Reduced, 5));
    script.wait(100);
    script.acknowledge(until, &[]);
    assert_eq!(script.sender.recovery(), Recovery::Reduced);
    script.acknowledge(until + 1, &[]);
    assert_eq!(script.sender.recovery(), Recovery::Open);
}

/// `tcp_enter_recovery` with `tcp_in_cwnd_reduction`: the reduction cannot be undone.
#[test]
fn loss_after_mark_does_not_reduce_again() {
    let (mut script, _) = Script::begin(Linux { ecn: true, ..params() }, 100);
    script.wait(100);
    script.mark(2, &[]);
    let until = script.sender.episode.until();
    let sent: Vec<Sent> = script.acknowledge(2, &[(3, 7)]);
    assert!(sent.contains(&(2, true)), "{sent:?}");
    assert_eq!((script.sender.recovery(), script.window().1), (Recovery::Fast, 5));
    assert_eq!(script.sender.episode.until(), until);
    script.acknowledge(7, &[(2, 3)]);
    assert_eq!((script.sender.recovery(), script.window().1), (Recovery::Open, 5));
}

/// `tcp_schedule_loss_probe`: also in a reduction by an ECN mark.
#[test]
fn probes_are_sent_unless_segments_are_missing() {
    let (mut script, _) = Script::begin(Linux { ecn: true, ..params() }, 10);
    script.wait(100);
    script.mark(2, &[]);
    assert_eq!(script.sender.timers.pending(), Some(Pending::Probe));
    let (mut script, _) = Script::begin(params(), 10);
    script.wait(100);
    script.acknowledge(2, &[(9, 10)]);
    assert_ne!(script.sender.timers.pending(), Some(Pending::Probe));
}
