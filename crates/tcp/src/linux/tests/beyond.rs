//! The sender of the `linux` family never sends them.

use super::*;

const NOW: Time = Time(2 * NANOS_PER_S);

fn mss() -> u64 {
    Linux::default().mss()
}

/// Starts at byte `first`.
fn segment(first: u64) -> Segment {
    Segment { size: 1_500, seq: FIRST_BYTE + first, ..Segment::control(0, Kind::Data) }
}

/// Window of 20 segments, two received; the right edge.
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

/// SACK blocks in payload bytes.
fn blocks(receiver: &mut Receiver, first: u64) -> Vec<(u64, u64)> {
    let ack = receiver.on_segment(NOW, &segment(first)).expect("an answer at once");
    ack.sack.of(ack.seq).map(|(from, to)| (from - FIRST_BYTE, to - FIRST_BYTE)).collect()
}

/// `tcp_sequence` of Linux 6.18, also at the edge; an ACK is sent.
#[test]
fn segment_starting_beyond_window_is_discarded() {
    let (mut receiver, edge) = receiver(None);
    assert_eq!(blocks(&mut receiver, edge), []);
    assert_eq!(blocks(&mut receiver, edge + 1), []);
}

/// `tcp_sequence`.
#[test]
fn segment_across_edge_is_accepted_if_all_data_is_read() {
    let straddling = |read_rate| {
        let (mut receiver, edge) = receiver(read_rate);
        let first = edge - mss() / 2;
        (blocks(&mut receiver, first), (first, first + mss()))
    };
    let (kept, block) = straddling(None);
    assert_eq!(kept, [block]);
    assert_eq!(straddling(Some(Rate(8))).0, []);
}
