//! A packetdrill script as it was read.

use nodeb_base::units::{Duration, NANOS_PER_S};

/// A script: commands and options first, then events in their order.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Options (`--name=value`), without the dashes.
    pub options: Vec<(String, String)>,
    /// Shell commands before the first event, with their lines.
    pub setup: Vec<(usize, String)>,
    /// What happens.
    pub events: Vec<Event>,
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Line of the file, from 1.
    pub line: usize,
    /// Its source text, on one line.
    pub text: String,
    /// Time at which it happens or must happen.
    pub when: When,
    /// What happens.
    pub action: Action,
}

/// Time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Any time (`*`).
    Any,
    /// From a time to a time, both included.
    Span {
        /// Whether they count from the event before.
        relative: bool,
        /// Earliest time.
        from: Duration,
        /// Latest time.
        to: Duration,
    },
}

/// Latest time in a script: a day.
pub const LONGEST: Duration = Duration(86_400 * NANOS_PER_S);

/// What happens.
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
    /// Its name.
    pub name: String,
    /// What stands between the parentheses.
    pub arguments: String,
    /// Its result; `None` for `?` and whatever is no number.
    pub result: Option<i64>,
}

/// Flags of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the header")]
pub struct Flags {
    /// SYN.
    pub syn: bool,
    /// ACK.
    pub ack: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
    /// ECE (RFC 3168).
    pub ece: bool,
    /// CWR (RFC 3168).
    pub cwr: bool,
    /// Counter of accurate ECN instead of ECE and CWR.
    pub accurate: bool,
}

/// The ECN field of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpEcn {
    /// Not capable.
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
    /// Flags; PSH and URG are left out.
    pub flags: Flags,
    /// Sequence number of the first byte, from the initial one.
    pub seq: u64,
    /// Bytes of payload.
    pub payload: u64,
    /// Acknowledgement number.
    pub ack: Option<u64>,
    /// Window as the header has it.
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
    /// SACK-permitted.
    pub sack_permitted: bool,
    /// Timestamp and echo.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks: first byte and one past the last.
    pub sack: Vec<(u64, u64)>,
    /// The first option of another kind, but for TCP Fast Open's.
    pub other: Option<String>,
}

impl Packet {
    /// Returns the options, or none.
    pub fn named_options(&self) -> Options {
        self.options.clone().unwrap_or_default()
    }
}
