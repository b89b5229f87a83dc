//! Tests of senders without data to send, and of senders that the receiver's closed window stops.

use super::script::{MSS, Script};
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::reno::Reno;

fn params() -> Linux {
    Linux { control: CongestionSpec::Reno(Reno::default()), ..Linux::default() }
}

fn write(script: &mut Script, segments: u64) -> usize {
    let mut out = Vec::new();
    script.sender.write(script.now, segments * MSS, &mut out);
    out.len()
}

/// Returns a sender that had a window of 40 segments, was idle for more than a retransmission
/// timeout and has just sent one segment.
fn idle_sender(params: Linux) -> Script {
    let (mut script, _) = Script::begin(params, 30);
    script.wait(100);
    script.acknowledge(10, &[]);
    script.wait(100);
    script.acknowledge(30, &[]);
    assert_eq!(script.window().0, 40);
    script.wait(500);
    assert_eq!(write(&mut script, 1), 1);
    script
}

/// `tcp_cwnd_restart` halves the window from 40 to 20 segments. It also restarts the time after
/// which an unused window is reduced (`snd_cwnd_stamp`), so there is no further reduction to 15, as
/// in Linux 6.18.44.
#[test]
fn pause_reduces_window_once() {
    let mut script = idle_sender(params());
    assert_eq!(script.window().0, 20);
    script.wait(100);
    script.acknowledge(31, &[]);
    assert_eq!(script.window().0, 20);
}

/// If `tcp_slow_start_after_idle` is off, the window is reduced neither after a pause nor if the
/// application uses only a part of it.
#[test]
fn window_survives_pause_without_slow_start_after_idle() {
    let script = idle_sender(Linux { slow_start_after_idle: false, ..params() });
    assert_eq!(script.window().0, 40);
}

/// The timeout after which an unused window is reduced counts from the last ACK that may raise the
/// window (`snd_cwnd_stamp`). So the window stays at 40 segments and is not reduced to 25, as in
/// Linux 6.18.44.
#[test]
fn unused_window_stays_while_acks_arrive() {
    let (mut script, _) = Script::begin(params(), 30);
    script.wait(100);
    script.acknowledge(10, &[]);
    script.wait(100);
    script.acknowledge(30, &[]);
    for segment in 31..36 {
        script.wait(150);
        assert_eq!(write(&mut script, 1), 1);
        assert_eq!(script.window().0, 40);
        script.wait(100);
        script.acknowledge(segment, &[]);
    }
}

/// Delivers an ACK of all segments before `next` with a window of `window` bytes. Returns the
/// segments that the sender sends.
fn allow(script: &mut Script, next: u64, window: u32) -> Vec<script::Sent> {
    let ack = Segment { window, ..script.ack(next, &[]) };
    script.take(&ack)
}

/// By `tcp_send_probe0` of Linux 6.18.44, each window probe doubles the time to the next probe, but
/// not the retransmission timeout. By `tcp_ack_probe` each ACK restarts the time to the next probe.
/// The pause after the probes exceeds the timeout, which is not doubled, so the window restarts.
#[test]
fn window_probes_do_not_back_off_timeout() {
    let (mut script, _) = Script::begin(params(), 200);
    script.wait(100);
    assert_eq!(allow(&mut script, 10, 200_000).len(), 20);
    script.wait(100);
    assert_eq!(allow(&mut script, 30, 0), []);
    let rto = script.sender.rtt.rto();
    for doublings in 0..4 {
        let due = jiffies::expiry(script.now, Duration(rto.0 << doublings));
        assert_eq!((script.time_out(), script.now), (vec![(30, false)], due));
        script.wait(100);
        assert_eq!(allow(&mut script, 30, 0), []);
        assert_eq!((script.sender.rtt.rto(), script.window().0), (rto, 40));
    }
    script.wait(500);
    assert_eq!(allow(&mut script, 30, 200_000).len(), 10);
    assert_eq!(script.window().0, 10);
}

/// By `tcp_may_update_window` an ACK of new data may shrink the receiver's window. An ACK without
/// new data may only open or close it.
#[test]
fn receiver_may_shrink_window() {
    let (mut script, _) = Script::begin(params(), 200);
    script.wait(100);
    assert_eq!(allow(&mut script, 2, 4_000), [], "eight are outstanding");
    assert_eq!(allow(&mut script, 2, 3_000), []);
    script.wait(50);
    assert_eq!(allow(&mut script, 8, 4_000), [(10, false), (11, false)]);
    assert_eq!(allow(&mut script, 8, 5_000), [(12, false)]);
    allow(&mut script, 8, 0);
    assert!(script.sender.is_window_closed());
}

/// By `__tcp_retransmit_skb` only the first segment is retransmitted beyond a shrunk window, as a
/// window probe. While the window is closed, timeouts do not count (`tcp_retransmit_timer`).
#[test]
fn no_retransmission_beyond_shrunk_window() {
    let (mut script, _) = Script::begin(Linux { timestamps: false, ..params() }, 200);
    script.wait(100);
    allow(&mut script, 1, 0);
    let mut ack = Segment { window: 0, ..script.ack(1, &[(5, 9)]) };
    assert_eq!(script.take(&ack), [(1, true)]);
    ack.window = 2_000;
    assert_eq!(script.take(&ack), [(2, true)]);
    let (mut script, _) = Script::begin(params(), 200);
    script.wait(100);
    allow(&mut script, 1, 0);
    assert_eq!((script.time_out(), script.sender.timeouts), (vec![(1, true)], 0));
}

/// By RFC 7323, 4.3, the sender echoes the newest timestamp of the receiver.
#[test]
fn newest_timestamp_is_echoed() {
    let (mut script, _) = Script::begin(params(), 200);
    let echoed = |script: &mut Script, timestamp_us: u32, next: u64| {
        script.wait(10);
        let (ack, mut out) = (Segment { timestamp_us, ..script.ack(next, &[]) }, Vec::new());
        script.sender.on_ack(script.now, &ack, &mut out);
        out[0].echo_us
    };
    assert_eq!(echoed(&mut script, 500, 1), 500);
    assert_eq!(echoed(&mut script, 700, 2), 700);
    assert_eq!(echoed(&mut script, 600, 3), 700, "an older one");
    assert_eq!(echoed(&mut script, 0, 4), 700, "none");
}
