//! What the two ends say to each other. Sequence numbers count without end; 12 bits and a window of
//! less than half of them would say the same. Beyond that an old PDU could be taken for a new one, which
//! is left out.

use std::ops::Range;

use crate::rlc::segmentation::Piece;

/// Bytes of an AMD PDU's header (TS 25.322, 9.2.1.4).
pub const HEADER_BYTES: u32 = 2;

/// The largest AMD PDU whose length indicators have 7 bits (9.2.2.8).
const LARGEST_WITH_SHORT_INDICATORS: u32 = 126;

/// Bytes of a length indicator with its extension bit.
pub fn indicator_bytes(pdu_bytes: u32) -> u32 {
    if pdu_bytes <= LARGEST_WITH_SHORT_INDICATORS { 1 } else { 2 }
}

/// A PDU to the phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pdu {
    /// With user data.
    Data(Data),
    /// Without.
    Command(Command),
}

/// An AMD PDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Sequence number.
    pub sn: u64,
    /// Whether a status report is asked for.
    pub poll: bool,
    /// Its contents.
    pub pieces: Vec<Piece>,
}

/// What the sender makes the phone do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it is about.
    pub kind: CommandKind,
    /// First PDU to expect from now on.
    pub sn: u64,
    /// First packet that has not been discarded.
    pub kept: u64,
}

/// The two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Move Receiving Window, after a discard (11.6).
    MoveWindow,
    /// RESET (11.4).
    Reset,
}

/// What the phone answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// A STATUS PDU.
    Status(Status),
    /// A command has been carried out.
    Done(Command),
}

/// A STATUS PDU: everything before `acknowledged` has arrived, save what is `missing`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// LSN of the ACK super-field (9.2.2.11.2).
    pub acknowledged: u64,
    /// Runs of missing PDUs.
    pub missing: Vec<Range<u64>>,
}
