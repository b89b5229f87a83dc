//! Quick ACKs of the receiver.

use super::*;

fn segment(number: u64) -> Segment {
    let params = Linux::default();
    let seq = FIRST_BYTE + number * params.mss();
    Segment { size: 1_500, seq, ..Segment::control(0, Kind::Data) }
}

/// Returns how many of 40 in-order segments, 8 ms apart, are acknowledged at once after `lost` segments
/// beyond a gap.
fn at_once(lost: u64) -> usize {
    let mut receiver = Receiver::new(0, 100, &Linux::default());
    let mut now = Time(NANOS_PER_S);
    receiver.on_segment(now, &Segment { seq: 0, ..segment(0) });
    for number in lost..10 {
        now += MS(8);
        receiver.on_segment(now, &segment(number));
    }
    for number in 0..lost {
        receiver.on_segment(now, &segment(number));
    }
    let answer = |number| {
        now += MS(8);
        receiver.on_segment(now, &segment(number)).is_some()
    };
    (10..50).map(answer).take_while(|at_once| *at_once).count()
}

/// `tcp_dec_quickack_mode` of Linux 6: leaving the mode sets `ato`. If data beyond a gap has opened the
/// window before, in-order data finds it set, and no pause since the SYN (`tcp_finish_connect`), so it grants
/// no 16 quick ACKs (`tcp_event_data_recv`).
#[test]
fn data_beyond_gap_first_grants_no_quick_acks() {
    assert!(at_once(0) >= 10, "{}", at_once(0));
    assert!(at_once(1) <= 3, "{}", at_once(1));
}
