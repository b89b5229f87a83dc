use super::script::{MSS, Script};
use super::*;
use crate::linux::control::CongestionSpec;
use crate::linux::control::bbr::v1::Bbr;
use crate::linux::control::bbr::v3::Bbr3;
use crate::linux::control::cubic::Cubic;
use crate::linux::control::cubic_rfc9438::CubicRfc9438;
use crate::linux::control::reno::Reno;
use crate::linux::control::veno::Veno;
use crate::linux::control::westwood::Westwood;

fn params() -> Linux {
    Linux { control: CongestionSpec::Reno(Reno::default()), ..Linux::default() }
}

fn write(script: &mut Script, segments: u64) -> usize {
    let mut out = Vec::new();
    script.sender.write(script.now, segments * MSS, &mut out);
    out.len()
}

/// 40 segments, more than a retransmission timeout, then one segment.
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

/// `tcp_cwnd_restart`: 40 to 20, and restarts `snd_cwnd_stamp`, so not to 15, as in Linux 6.18.44.
#[test]
fn pause_reduces_window_once() {
    let mut script = idle_sender(params());
    assert_eq!(script.window().0, 20);
    script.wait(100);
    script.acknowledge(31, &[]);
    assert_eq!(script.window().0, 20);
}

/// Nor by partial use.
#[test]
fn window_survives_pause_without_slow_start_after_idle() {
    let script = idle_sender(Linux { slow_start_after_idle: false, ..params() });
    assert_eq!(script.window().0, 40);
}

/// `snd_cwnd_stamp`: 40 stay, not 25, as in Linux 6.18.44.
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

/// Segments that are then sent.
fn allow(script: &mut Script, next: u64, window: u32) -> Vec<script::Sent> {
    let ack = Segment { window, ..script.ack(next, &[]) };
    script.take(&ack)
}

/// `tcp_send_probe0`, `tcp_ack_probe` of Linux 6.18.44: the pause exceeds the timeout, which is not doubled,
/// so the window restarts.
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

/// `tcp_may_update_window`: with new data; without, only open or close.
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

/// `__tcp_retransmit_skb`, `tcp_retransmit_timer`: only the first as a window probe, and timeouts do not
/// count.
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

/// RFC 7323, 4.3.
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

/// 4 MB twice over 10 Mbit/s and 100 ms with one loss: before the second write, and the largest in the 5 s
/// after.
fn windows_around_pause(params: &Linux, pause_s: u64) -> [u64; 2] {
    let mut lab = Lab::new(&[4_000_000], params, Path::new(10_000, 50, 500))
        .with_fate(|index, _, _| (index != 900).then_some(Duration::ZERO));
    let window = |lab: &Lab| lab.pairs[0].sender.window().cwnd as u64;
    let start = Time(pause_s * NANOS_PER_S);
    lab.run(start);
    let before = window(&lab);
    lab.write(start, 0, 4_000_000);
    let mut largest = 0;
    for ms in 1_000..5_000 {
        lab.run(start + MS(ms));
        largest = largest.max(window(&lab));
    }
    [before, largest]
}

/// K = cbrt((238 - 167) / 0.4) = 5.6 s; the first write ends after 2.1 s at 238 - 0.4 (5.6 - 2.1)^3 = 221,
/// the second within 4 s on the plateau (`cubictcp_cwnd_event`, `CA_EVENT_TX_START`).
#[test]
fn cubic_does_not_grow_in_pause() {
    let params = with(CongestionSpec::Cubic(Cubic::default()));
    let windows = [6, 20, 60].map(|pause_s| windows_around_pause(&params, pause_s));
    assert_eq!(windows, [[217, 239]; 3]);
    let params = Linux { slow_start_after_idle: false, ..params };
    let windows = [6, 20, 60].map(|pause_s| windows_around_pause(&params, pause_s));
    assert_eq!(windows, [[217, 239]; 3]);
}

/// RFC 9438, 5.8: K = cbrt((434 - 304) / 0.4) = 6.9 s; after 1.8 and 3.4 s, 434 - 0.4 (6.9 - 1.8 - 3.4)^3 =
/// 432.
#[test]
fn cubic_rfc9438_does_not_grow_in_pause() {
    let control = CongestionSpec::CubicRfc9438(CubicRfc9438::default());
    let params = Linux { slow_start_after_idle: false, ..with(control) };
    let windows = [6, 20, 60].map(|pause_s| windows_around_pause(&params, pause_s));
    assert_eq!(windows, [[377, 432]; 3]);
}

/// Before a pause and ten round trips after it, when 100 ms become 150; a loss has ended slow start.
fn windows_on_longer_path(control: CongestionSpec) -> (u64, u64) {
    let params = Linux { slow_start_after_idle: false, ..with(control) };
    let (mut script, _) = Script::begin(params, 10);
    script.wait(100);
    assert_eq!(script.acknowledge(0, &[(1, 10)]), [(0, true)]);
    script.wait(100);
    script.acknowledge(10, &[]);
    let before = script.window().0;
    script.wait(5_000);
    write(&mut script, 500);
    let mut next = 10;
    for _ in 0..10 {
        script.wait(150);
        let end = script.sender.scoreboard.end();
        for acknowledged in next + 1..=end {
            script.acknowledge(acknowledged, &[]);
        }
        next = end.max(next);
    }
    (before, script.window().0)
}

/// `tcp_veno_cwnd_event`, `CA_EVENT_TX_START`: the longer path is no queue.
#[test]
fn veno_forgets_path_in_pause() {
    assert_eq!(windows_on_longer_path(CongestionSpec::Veno(Veno::default())), (8, 18));
}

/// `bbr_cwnd_event`, `bbr_update_min_rtt` (draft-ietf-ccwg-bbr, 5.4): no `ProbeRTT`; 4 MB / 10 Mbit/s x 1500
/// / 1448 = 3.3 s.
#[test]
fn bbr_keeps_path_in_pause() {
    for control in [CongestionSpec::Bbr(Bbr::default()), CongestionSpec::Bbr3(Bbr3::default())] {
        let mut lab = Lab::new(&[4_000_000], &with(control), Path::new(10_000, 50, 500));
        lab.run(LONG);
        let start = Time(30 * NANOS_PER_S);
        lab.write(start, 0, 4_000_000);
        let mut smallest = u64::MAX;
        for ms in 0..3_000 {
            lab.run(start + MS(ms));
            smallest = smallest.min(lab.pairs[0].sender.window().cwnd as u64);
        }
        lab.run(LONG);
        assert!(smallest > 50 && lab.seconds(0) < 33.6, "{smallest} {}", lab.seconds(0));
    }
}

/// `westwood_filter`: 60 s are a sample of almost nothing: 7/8 after the first filter, (7 + 7/8) / 8 = 63/64
/// after the second, so 10 segments become 9.84.
#[test]
fn westwood_counts_pause_as_low_bandwidth() {
    let threshold = |pause_ms: u64| {
        let westwood = CongestionSpec::Westwood(Westwood::default());
        let params = Linux { slow_start_after_idle: false, ..with(westwood) };
        let (mut script, _) = Script::begin(params, 10);
        for round in 1..101 {
            script.wait(100);
            script.acknowledge(10 * round, &[]);
            script.wait(if round == 99 { pause_ms } else { 0 });
            assert_eq!(write(&mut script, 10), 10);
        }
        script.wait(100);
        script.acknowledge(1_000, &[(1_001, 1_010)]);
        script.window().1
    };
    assert_eq!([0, 60_000].map(threshold), [10, 9]);
}

/// `tcp_cwnd_test`, `tcp_is_cwnd_limited`: 10 of 100 B are allowed, and more than 5 outstanding grow the
/// window; data that must wait leaves in full segments.
#[test]
fn window_counts_short_segments() {
    let payloads = |script: &Script, out: &[Segment]| -> Vec<u32> {
        out.iter().map(|segment| segment.size - script.sender.params.header_bytes()).collect()
    };
    let write = |script: &mut Script, times: u64| {
        let mut out = Vec::new();
        (0..times).for_each(|_| script.sender.write(script.now, 100, &mut out));
        payloads(script, &out)
    };
    let acknowledge = |script: &mut Script, bytes: u64| {
        let (ack, mut out) = (Segment { seq: FIRST_BYTE + bytes, ..script.ack(0, &[]) }, Vec::new());
        script.sender.on_ack(script.now, &ack, &mut out);
        payloads(script, &out)
    };
    let (mut script, _) = Script::begin(params(), 0);
    assert_eq!(write(&mut script, 6), [100; 6]);
    script.wait(100);
    assert_eq!((acknowledge(&mut script, 100), script.window().0), (vec![], 11));
    assert_eq!(write(&mut script, 30), [100; 6]);
    assert_eq!(acknowledge(&mut script, 600), [1_000, 1_000, 400]);
}
