//! Times and windows are computed by hand.

use std::num::NonZeroU32;

use super::*;
use crate::Sender as _;
use crate::classic::Classic;
use crate::classic::recovery::ControlSpec;
use crate::classic::sender::Sender;
use crate::segment::{Kind, Segment};

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

fn answer(seq: u64, answers_retransmission: bool) -> Segment {
    Segment { answers_retransmission, seq, ..Segment::control(0, Kind::Ack) }
}

fn sent(out: &mut Vec<Segment>) -> Vec<u64> {
    out.drain(..).map(|packet| packet.seq).collect()
}

/// Round trips of 100 ms; at 200 ms the ACK of 8 has arrived, and 9 to 24 are outstanding.
fn under_way(control: ControlSpec, eifel: bool) -> (Sender, Vec<Segment>) {
    let initial_window = NonZeroU32::new(8);
    let (era, limited_transmit) = ("2004-01-01".parse().unwrap(), Some(false));
    let params = Classic { control, era, initial_window, limited_transmit, eifel, ..Classic::default() };
    let mut tcp = Sender::new(0, &params);
    let mut out = Vec::new();
    tcp.write(ms(0), 100 * 1460, &mut out);
    tcp.open(ms(0), &mut out);
    for (seq, at) in (0..=8).zip([100].into_iter().chain(std::iter::repeat(200))) {
        tcp.on_ack(ms(at), &answer(seq, false), &mut out);
    }
    assert_eq!(sent(&mut out), (0..=24).collect::<Vec<_>>());
    (tcp, out)
}

/// The round-trip time grows to 1.3 s; the first ACK after the timeout answers the original.
#[test]
fn late_ack_after_timeout_prevents_go_back_n() {
    for control in ControlSpec::defaults() {
        let name = control.key();
        let (mut tcp, mut out) = under_way(control, true);
        let timeout = tcp.timer().unwrap();
        assert_eq!(timeout, ms(1200), "{name}");
        tcp.on_timer(timeout, &mut out);
        assert_eq!((sent(&mut out), tcp.window().cwnd), (vec![9], 1.0), "{name}");
        tcp.on_ack(ms(1500), &answer(9, false), &mut out);
        // Of the 16 outstanding segments one has just been acknowledged, so the window is restored
        // to 15 + 1 = 16 segments. The slow-start threshold is restored to its initial 40 segments.
        assert_eq!(sent(&mut out), [25], "{name}");
        assert_eq!((tcp.window().cwnd, tcp.window().ssthresh), (16.0, 40.0), "{name}");
        // The late round-trip time of 1.3 s becomes the estimate, and half of it the variation. So
        // the new timeout is 1.3 s + 4 x 0.65 s.
        assert_eq!(tcp.timer(), Some(ms(1500 + 3900)), "{name}");
        // Next come the ACKs of the original segments 10 to 24. The phone answers the
        // retransmission of segment 9 with a duplicate ACK, which arrives last.
        for seq in 10..=24 {
            tcp.on_ack(ms(1500 + seq), &answer(seq, false), &mut out);
        }
        tcp.on_ack(ms(1530), &answer(24, true), &mut out);
        assert!(sent(&mut out).iter().all(|seq| *seq > 25), "{name}");
        assert_eq!(tcp.counts().retransmissions, 1, "{name}");
    }
}

#[test]
fn without_eifel_late_acks_cause_go_back_n() {
    for control in ControlSpec::defaults() {
        let name = control.key();
        let (mut tcp, mut out) = under_way(control, false);
        tcp.on_timer(ms(1200), &mut out);
        assert_eq!(sent(&mut out), [9]);
        tcp.on_ack(ms(1500), &answer(9, false), &mut out);
        assert_eq!((sent(&mut out), tcp.window().cwnd), (vec![10, 11], 2.0), "{name}");
    }
}

/// The first ACK answers the retransmission, as without Eifel.
#[test]
fn timeout_for_real_loss_is_not_undone() {
    for control in ControlSpec::defaults() {
        let mut ends = [true, false].map(|eifel| under_way(control.clone(), eifel));
        let steps = ends.each_mut().map(|(tcp, out)| {
            tcp.on_timer(ms(1200), out);
            let mut steps = vec![(sent(out), tcp.window())];
            for (at, seq) in [(1300, 9), (1310, 9), (1400, 11), (1410, 24)] {
                tcp.on_ack(ms(at), &answer(seq, at == 1300), out);
                steps.push((sent(out), tcp.window()));
            }
            (steps, tcp.timer())
        });
        assert_eq!(steps[0], steps[1], "{}", control.key());
    }
}

/// Segments 10 to 13 overtake 9, and the next ACK answers the original.
#[test]
fn spurious_fast_retransmission_is_undone() {
    for control in ControlSpec::defaults() {
        let name = control.key();
        let (mut tcp, mut out) = under_way(control, true);
        for seq in 10..14 {
            let mut duplicate = answer(8, false);
            duplicate.sack.push(10, seq + 1);
            tcp.on_ack(ms(300), &duplicate, &mut out);
        }
        assert_eq!(sent(&mut out)[0], 9, "{name}");
        assert_eq!((tcp.window().ssthresh, tcp.counts().fast_retransmits), (8.0, 1), "{name}");
        let timer_before = tcp.timer();
        tcp.on_ack(ms(310), &answer(13, false), &mut out);
        // The ACK has acknowledged five segments, 9 to 13. Outstanding are segments 14 to 24 and
        // the segments sent during recovery.
        let highest = sent(&mut out).last().copied().unwrap();
        let window = tcp.window();
        assert_eq!((highest + 1 - 14, window.cwnd, window.ssthresh), (16, 16.0, 40.0), "{name}");
        assert!(tcp.timer() >= timer_before, "{name}");
        tcp.on_ack(ms(320), &answer(24, false), &mut out);
        assert!(sent(&mut out).iter().all(|seq| *seq > 24), "{name}");
    }
}

/// The values before the first timeout are restored, and the backoff ends.
#[test]
fn consecutive_timeouts_are_one_event() {
    let (mut tcp, mut out) = under_way(ControlSpec::default(), true);
    for at in [1200, 3200] {
        assert_eq!(tcp.timer(), Some(ms(at)));
        tcp.on_timer(ms(at), &mut out);
    }
    assert_eq!(sent(&mut out), [9, 9]);
    tcp.on_ack(ms(3300), &answer(10, false), &mut out);
    assert_eq!((sent(&mut out), tcp.window().ssthresh), (vec![25, 26], 40.0));
    // The round-trip time of the original, 3.1 s, sets the timeout to 3.1 s + 4 x 1.55 s. The
    // backoff of the two timeouts no longer applies.
    assert_eq!(tcp.timer(), Some(ms(3300 + 9300)));
}

#[test]
fn transmission_times_follow_acks() {
    let mut eifel = Eifel::default();
    (0..10).for_each(|seq| eifel.record_sent(ms(seq)));
    eifel.forget_below(4);
    eifel.suspect(4, 6, true);
    eifel.suspect(4, 2, false);
    assert_eq!(eifel.detect(ms(50), 4, false), None, "nothing new is acknowledged");
    assert_eq!(
        eifel.detect(ms(50), 6, false),
        Some(SpuriousRetransmission { pipe: 6, late: Some(Duration::from_millis(46)) })
    );
    assert_eq!(eifel.detect(ms(50), 7, false), None, "reported once");
    eifel.forget_below(7);
    eifel.suspect(7, 3, false);
    assert_eq!(eifel.detect(ms(60), 8, true), None, "the retransmission was needed");
    eifel.suspect(0, 1, true);
    assert_eq!(eifel.detect(ms(60), 9, false), None, "a SYN has no window");
}
