//! A parsed packetdrill script.

use nodeb_base::units::{Duration, NANOS_PER_S};

/// A script: commands and options first, then events in their order.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Options (`--name=value`) as name and value, without the dashes.
    pub options: Vec<(String, String)>,
    /// Shell commands before the first event, with their line numbers.
    pub setup: Vec<(usize, String)>,
    /// Events in their order.
    pub events: Vec<Event>,
}

/// A statement of a script with its time.
#[derive(Clone, Debug)]
pub struct Event {
    /// Line of the file, from 1.
    pub line: usize,
    /// Source text on one line.
    pub text: String,
    /// Time of the event, or allowed times of an expected packet.
    pub when: When,
    /// Packet, call or command.
    pub action: Action,
}

/// Time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Any time (`*`).
    Any,
    /// From a time to a time, both included.
    Span {
        /// Whether the times are relative to the previous event.
        relative: bool,
        /// Earliest time.
        from: Duration,
        /// Latest time.
        to: Duration,
    },
}

/// Latest time that a script may contain: a day.
pub const LONGEST: Duration = Duration(86_400 * NANOS_PER_S);

/// Packet, call or command of an event.
#[derive(Clone, Debug)]
pub enum Action {
    /// A packet from the network (`<`).
    Inbound(Packet),
    /// A packet that must be sent (`>`).
    Outbound(Packet),
    /// A packet that is not plain TCP over IP: its protocol.
    Foreign(String),
    /// A system call.
    Call(Call),
    /// A shell command.
    Command(String),
    /// Python code, which reads `tcp_info`.
    Code(String),
}

/// A system call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Name of the call, such as `write`.
    pub name: String,
    /// Text between the parentheses.
    pub arguments: String,
    /// Result of the call; `None` for `?` and for anything that is not a number.
    pub result: Option<i64>,
}

/// Flags of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the header")]
pub struct Flags {
    /// Synchronize sequence numbers.
    pub syn: bool,
    /// Acknowledgement number is valid.
    pub ack: bool,
    /// No more data.
    pub fin: bool,
    /// Reset the connection.
    pub rst: bool,
    /// ECE (RFC 3168).
    pub ece: bool,
    /// CWR (RFC 3168).
    pub cwr: bool,
    /// Counter of accurate ECN, in place of ECE and CWR.
    pub accurate: bool,
}

/// The ECN field of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpEcn {
    /// The packet is not ECN-capable.
    None,
    /// Capable: ECT(0) or ECT(1).
    Capable,
    /// Congestion experienced.
    Experienced,
}

/// A TCP packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// ECN field, if the script names it.
    pub ip_ecn: Option<IpEcn>,
    /// Flags; PSH and URG are ignored.
    pub flags: Flags,
    /// Sequence number of the first byte, from the initial one.
    pub seq: u64,
    /// Bytes of payload.
    pub payload: u64,
    /// Acknowledgement number.
    pub ack: Option<u64>,
    /// Window field of the header, unscaled.
    pub window: Option<u64>,
    /// Options; `None` where the script names none or any (`<...>`).
    pub options: Option<Options>,
}

/// Options of a TCP header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, bytes.
    pub mss: Option<u64>,
    /// Window scale, bits.
    pub window_shift: Option<u8>,
    /// Whether SACK is permitted (RFC 2018).
    pub sack_permitted: bool,
    /// Timestamp value and echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks: first byte and one past the last.
    pub sack: Vec<(u64, u64)>,
    /// First option of another kind, except TCP Fast Open.
    pub other: Option<String>,
}

impl Packet {
    /// Returns the options that the script names; empty options if it names none or allows any (`<...>`).
    pub fn named_options(&self) -> Options {
        self.options.clone().unwrap_or_default()
    }
}
