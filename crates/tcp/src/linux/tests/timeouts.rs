//! Sections are of RFC 6298.

use super::script::{MSS, Script, Sent};
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::reno::Reno;

fn params() -> Linux {
    Linux { control: CongestionSpec::Reno(Reno::default()), tail_loss_probe: false, ..Linux::default() }
}

fn rto(script: &Script) -> Option<Time> {
    script.sender.timers.loss.map(ArmedTimer::end)
}

/// Rounded up by the timer wheel.
fn wheel(now_ms: u64, wait_ms: u64) -> Time {
    jiffies::expiry(Time::ZERO + MS(now_ms), MS(wait_ms))
}

#[test]
fn timer_runs_while_data_is_outstanding() {
    let (mut script, sent) = Script::begin(params(), 10);
    assert_eq!(sent.len(), 10);
    // By 2.2 and 5.1 of RFC 6298 the timer is armed for 100 ms + 4 * 50 ms after a round-trip time
    // of 100 ms. The timer wheel rounds the expiry up.
    assert_eq!(rto(&script), Some(wheel(100, 300)));
    // By 5.3 of RFC 6298 an ACK of new data restarts the timer. By 2.3 the variation term falls to
    // three quarters, 150 ms, after a second round-trip time of 100 ms, but Linux's lower bound of
    // this term is 200 ms.
    script.wait(100);
    script.acknowledge(5, &[]);
    assert_eq!(rto(&script), Some(wheel(200, 300)));
    // An ACK that acknowledges no new data does not restart the retransmission timer.
    script.wait(10);
    script.acknowledge(5, &[]);
    assert_eq!(rto(&script), Some(wheel(200, 300)));
    // By 5.2 of RFC 6298 the timer is disarmed when all data is acknowledged.
    script.acknowledge(10, &[]);
    assert_eq!((rto(&script), script.sender.timer()), (None, None));
}

#[test]
fn timeout_retransmits_first_segment_and_doubles() {
    let (mut script, _) = Script::begin(params(), 10);
    for next in [600, 1_200, 2_400] {
        // By 5.4 to 5.6 of RFC 6298 the earliest segment is retransmitted, and the timeout grows
        // from 300 ms to 600 ms, 1.2 s and 2.4 s.
        assert_eq!(script.time_out(), [(0, true)]);
        assert_eq!(rto(&script), Some(jiffies::expiry(script.now, MS(next))));
    }
    // After three timeouts an ACK ends the backoff.
    assert_eq!(script.sender.counts().timeouts, 3);
    let stamp = (script.now.0 / 1_000) as u32;
    script.wait(100);
    // By Karn's algorithm the backoff ends only with an ACK that gives a round-trip time
    // (`tcp_ack_update_rtt`).
    script.echo(1, &[], stamp);
    assert_eq!(script.sender.rtt.rto(), MS(300));
}

#[test]
fn initial_window_is_ten_segments() {
    // By RFC 6928, 2, the initial window is ten segments.
    let (_, sent) = Script::begin(Linux::default(), 100);
    assert_eq!(sent, (0..10).map(|number| (number, false)).collect::<Vec<Sent>>());
    let three = Linux { initial_window: 3.try_into().unwrap(), ..Linux::default() };
    assert_eq!(Script::begin(three, 100).1.len(), 3);
}

/// Segments sent on the ACK, and the timeout.
fn after_lost_syns(times: u32) -> (usize, Duration) {
    let params = Linux { timestamps: false, ..params() };
    let (mut sender, mut out) = (Sender::new(0, &params), Vec::new());
    sender.write(Time::ZERO, 100 * MSS, &mut out);
    sender.open(Time::ZERO, &mut out);
    let mut now = Time::ZERO;
    for nth in 0..times {
        // By 2.1 and 5.5 of RFC 6298 the timer of the SYN expires after 1 s, and then after twice
        // the time with each retransmission.
        assert_eq!(sender.timer(), Some(jiffies::expiry(now, MS(1_000 << nth))));
        let waited = sender.timer().unwrap().since(now);
        now += waited;
        sender.on_timer(now, &mut out);
    }
    assert_eq!(out.len() as u32, 1 + times);
    out.clear();
    sender.on_ack(now, &Segment { seq: FIRST_BYTE, ..Segment::control(0, Kind::Ack) }, &mut out);
    (out.len(), sender.rtt.rto())
}

#[test]
fn lost_syn_reduces_window_and_raises_timeout() {
    // By 5.7 of RFC 6298 the timeout for data is 3 s if the SYN was lost. By RFC 6928, 2, the
    // window is one segment if the SYN was lost more than once.
    assert_eq!(after_lost_syns(1), (10, MS(3_000)));
    assert_eq!(after_lost_syns(2), (1, MS(3_000)));
}
