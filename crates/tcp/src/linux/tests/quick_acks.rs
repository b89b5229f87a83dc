use super::*;
use crate::segment::Ecn;

fn segment(number: u64) -> Segment {
    let params = Linux::default();
    let seq = FIRST_BYTE + number * params.mss();
    Segment { size: 1_500, seq, ..Segment::control(0, Kind::Data) }
}

/// Ten segments, the first `lost` last, then 40 in order, 8 ms apart: those acknowledged at once before the
/// first that is not.
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

/// `tcp_dec_quickack_mode` sets `ato`, so `tcp_event_data_recv` starts no 16 quick ACKs without a pause since
/// the SYN (`tcp_finish_connect`).
#[test]
fn data_beyond_gap_first_grants_no_quick_acks() {
    assert!(at_once(0) >= 10, "{}", at_once(0));
    assert!(at_once(1) <= 3, "{}", at_once(1));
}

/// `__tcp_ecn_check_ce`, also for a segment that is not ECN-capable; `tcp_ecn_accept_cwr`: nor is CWR
/// delayed.
#[test]
fn first_mark_starts_two_quick_acks() {
    let mss = Linux::default().mss();
    // The receive window has its full size from the start, since its growth would add quick ACKs.
    let params =
        Linux { ecn: true, quick_acks: 2, initial_receive_buffer: Size(44 * mss), ..Linux::default() };
    let mut receiver = Receiver::new(0, 100, &params);
    let mut now = Time(NANOS_PER_S);
    receiver.on_segment(now, &Segment { seq: 0, ..segment(0) });
    let mut number = 0;
    let mut arrive = |ecn: Ecn| {
        now += MS(8);
        number += 1;
        receiver.on_segment(now, &Segment { ecn, ..segment(number - 1) }).map(|ack| ack.ecn.echo)
    };
    let capable = Ecn { capable: true, ..Ecn::default() };
    let (echo, plain, waits) = (Some(true), Some(false), None);
    assert_eq!([capable; 6].map(&mut arrive), [plain, plain, waits, plain, waits, plain]);
    let marked = Ecn { experienced: true, ..capable };
    assert_eq!([marked, marked, marked, capable].map(&mut arrive), [echo, echo, waits, echo]);
    let reduced = Ecn { reduced: true, ..capable };
    assert_eq!([reduced, capable, capable].map(&mut arrive), [plain, waits, plain]);
    let retransmission = Ecn::default();
    assert_eq!([retransmission, capable, capable].map(&mut arrive), [plain, plain, waits]);
}
