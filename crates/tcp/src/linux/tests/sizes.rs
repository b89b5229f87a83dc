use super::*;
use crate::Opener;

/// SYN, SYN-ACK and first data segment; the request has 100 B.
fn sizes(params: &Linux) -> [u32; 3] {
    let (mut sender, mut receiver) = (Sender::new(0, params), Receiver::new(0, 100, params));
    let mut out = Vec::new();
    sender.write(Time::ZERO, 10_000, &mut out);
    sender.open(Time::ZERO, &mut out);
    let syn = out.remove(0);
    let answer = receiver.on_segment(Time(1_000_000), &syn).expect("an answer");
    sender.on_ack(Time(2_000_000), &answer, &mut out);
    [syn.size, answer.size, out[0].size]
}

#[test]
fn syn_has_more_options_than_segment() {
    // The options of a SYN have these sizes: MSS 4 B (RFC 9293, 3.7.1), window scale 3 B and a NOP,
    // timestamps 10 B (RFC 7323), SACK-permitted 2 B (RFC 2018). Without timestamps SACK-permitted
    // is padded to 4 B.
    let linux = Linux::default();
    assert_eq!(sizes(&linux), [60, 152, 1500]);
    assert_eq!(sizes(&Linux { timestamps: false, ..linux.clone() }), [52, 140, 1500]);
    let small = Linux { receive_buffer: Size(60_000), ..linux.clone() };
    assert_eq!(sizes(&small), [56, 152, 1500]);
    let bare = Linux { timestamps: false, sack: false, dsack: false, rack: false, ..small };
    assert_eq!(sizes(&bare), [44, 140, 1500]);
    assert_eq!(sizes(&Linux { opened_by: Opener::Server, ..linux }), [60, 160, 1500]);
}
