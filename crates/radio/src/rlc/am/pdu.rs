//! PDUs that the two AM entities exchange.
//!
//! Sequence numbers never wrap in this model. With a window of less than half the 12-bit range,
//! numbers that wrap would give the same result. With a larger window an old PDU could be mistaken
//! for a new one, which is not modelled.

use std::ops::Range;

use crate::rlc::segmentation::Piece;

/// Number of bytes of an AMD PDU's header (TS 25.322, 9.2.1.4).
pub const HEADER_BYTES: u32 = 2;

/// Size in bytes of the largest AMD PDU with 7-bit length indicators (9.2.2.8).
const LARGEST_WITH_SHORT_INDICATORS: u32 = 126;

/// Returns the number of bytes that a length indicator takes with its extension bit: 1 in PDUs of
/// up to 126 bytes, else 2.
pub fn indicator_bytes(pdu_bytes: u32) -> u32 {
    if pdu_bytes <= LARGEST_WITH_SHORT_INDICATORS { 1 } else { 2 }
}

/// PDU from the sender to the phone: user data or a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pdu {
    /// AMD PDU with user data.
    Data(Data),
    /// Control PDU with a command.
    Command(Command),
}

/// AMD PDU, which carries user data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Sequence number of the PDU, from 0, which never wraps.
    pub sn: u64,
    /// Whether the PDU requests a status report.
    pub poll: bool,
    /// Parts of packets that the PDU carries, in order.
    pub pieces: Vec<Piece>,
}

/// Command to the phone: MRW or RESET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Kind of the command: MRW moves the receive window of the phone, RESET resets the protocol.
    pub kind: CommandKind,
    /// Number of the next PDU that the phone must expect; it no longer waits for earlier PDUs.
    pub sn: u64,
    /// Number of the first packet that the sender has not discarded; the phone gives up earlier
    /// ones.
    pub kept: u64,
}

/// Kinds of commands from the sender to the phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Command MRW (Move Receiving Window), issued after a discard (11.6).
    MoveWindow,
    /// Command RESET, which resets the protocol (11.4).
    Reset,
}

/// Feedback from the phone to the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// STATUS PDU that reports which data PDUs were received.
    Status(Status),
    /// Acknowledgement of a command, with the contents of that command.
    Done(Command),
}

/// STATUS PDU. It states that all PDUs before `acknowledged` have arrived except the `missing`
/// ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Number of the PDU before which all PDUs have arrived except the missing ones: LSN of the ACK
    /// super-field (9.2.2.11.2).
    pub acknowledged: u64,
    /// Ranges of sequence numbers of missing PDUs.
    pub missing: Vec<Range<u64>>,
}
