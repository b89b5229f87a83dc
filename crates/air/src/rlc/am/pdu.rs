//! Numbers never wrap, which gives the same result for a window of less than half the 12-bit range; with a
//! larger one an old PDU could be mistaken for a new one, which is not modelled.

use std::ops::Range;

use crate::rlc::segmentation::Piece;

/// AMD PDU (TS 25.322, 9.2.1.4).
pub const HEADER_BYTES: u32 = 2;

/// AMD PDU with 7-bit length indicators (9.2.2.8).
const LARGEST_WITH_SHORT_INDICATORS: u32 = 126;

/// 1 in PDUs of up to 126 bytes, else 2.
pub fn indicator_bytes(pdu_bytes: u32) -> u32 {
    if pdu_bytes <= LARGEST_WITH_SHORT_INDICATORS { 1 } else { 2 }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pdu {
    Data(Data),
    Command(Command),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Never wraps.
    pub sn: u64,
    pub poll: bool,
    /// In order.
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub kind: CommandKind,
    /// Next PDU that the phone must expect.
    pub sn: u64,
    /// First packet that is not discarded; the phone gives up earlier ones.
    pub kept: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// MRW (Move Receiving Window), issued after a discard (11.6).
    MoveWindow,
    /// RESET (11.4).
    Reset,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feedback {
    Status(Status),
    /// With the contents of the command.
    Done(Command),
}

/// All PDUs before `acknowledged` have arrived except the `missing` ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// LSN of the ACK super-field (9.2.2.11.2).
    pub acknowledged: u64,
    pub missing: Vec<Range<u64>>,
}
