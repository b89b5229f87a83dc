//! Segments that reach beyond the receiver's window, as a sender of another kind may send them.

use super::*;

const NOW: Time = Time(2 * NANOS_PER_S);

fn mss() -> u64 {
    Linux::default().mss()
}

/// A segment whose payload begins at a byte.
fn segment(first: u64) -> Segment {
    Segment { size: 1_500, seq: FIRST_BYTE + first, ..Segment::control(0, Kind::Data) }
}

/// A receiver of 20 segments' room that has got the first two; returns with it one past the last byte it allows.
fn receiver(read_rate: Option<Rate>) -> (Receiver, u64) {
    let buffer = Size(20 * mss());
    let params =
        Linux { read_rate, receive_buffer: buffer, initial_receive_buffer: buffer, ..Linux::default() };
    let mut receiver = Receiver::new(0, 100, &params);
    receiver.on_segment(Time(NANOS_PER_S), &Segment { seq: 0, ..segment(0) });
    receiver.on_segment(NOW, &segment(0));
    let ack = receiver.on_segment(NOW, &segment(mss())).expect("an answer");
    (receiver, ack.seq + u64::from(ack.window) - FIRST_BYTE)
}

/// The blocks of the answer to a segment at `first`, as payload.
fn blocks(receiver: &mut Receiver, first: u64) -> Vec<(u64, u64)> {
    let ack = receiver.on_segment(NOW, &segment(first)).expect("an answer at once");
    ack.sack.of(ack.seq).map(|(from, to)| (from - FIRST_BYTE, to - FIRST_BYTE)).collect()
}

/// `tcp_sequence` of Linux 6.18: what begins beyond the window or at its edge is answered and not kept.
#[test]
fn what_begins_beyond_the_window_is_not_kept() {
    let (mut receiver, edge) = receiver(None);
    assert_eq!(blocks(&mut receiver, edge), []);
    assert_eq!(blocks(&mut receiver, edge + 1), []);
}

/// The same function: what begins within is kept to its end if the application has read all that came before.
#[test]
fn what_straddles_the_edge_is_kept_if_nothing_waits_to_be_read() {
    let straddling = |read_rate| {
        let (mut receiver, edge) = receiver(read_rate);
        let first = edge - mss() / 2;
        (blocks(&mut receiver, first), (first, first + mss()))
    };
    let (kept, block) = straddling(None);
    assert_eq!(kept, [block]);
    assert_eq!(straddling(Some(Rate(8))).0, []);
}
