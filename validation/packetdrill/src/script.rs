//! Data of a packetdrill script, as the parser returns them.

use nodeb_base::units::{Duration, NANOS_PER_S};

/// Script of packetdrill: shell commands and options, then events in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Options (`--name=value`) as pairs of name and value, without the dashes.
    pub options: Vec<(String, String)>,
    /// Shell commands before the first event, with their line numbers.
    pub setup: Vec<(usize, String)>,
    /// Events of the script in the order of the text.
    pub events: Vec<Event>,
}

/// Event of a script: a statement with its time.
#[derive(Clone, Debug)]
pub struct Event {
    /// Number of the event's first line in the file, from 1.
    pub line: usize,
    /// Source text of the event, on one line.
    pub text: String,
    /// Time of the event, or allowed times of an expected packet.
    pub when: When,
    /// Packet, system call, shell command or Python code of the event.
    pub action: Action,
}

/// Time at which an event happens, or may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The event may happen at any time (`*`).
    Any,
    /// The event happens at a time from `from` to `to`, both included.
    Span {
        /// Whether the times are relative to the previous event. Otherwise they count from the start of the
        /// script.
        relative: bool,
        /// Earliest time of the event.
        from: Duration,
        /// Latest time of the event, equal to `from` for a fixed time.
        to: Duration,
    },
}

/// Latest time that a script may contain: one day.
pub const LONGEST: Duration = Duration(86_400 * NANOS_PER_S);

/// Action of an event: a packet, a system call, a shell command or Python code.
#[derive(Clone, Debug)]
pub enum Action {
    /// A packet from the network (`<`), which the end under test receives.
    Inbound(Packet),
    /// A packet that the end under test must send (`>`).
    Outbound(Packet),
    /// A packet that is not plain TCP over IP between two ends. The value describes it, such as
    /// `a packet of icmp`.
    Foreign(String),
    /// A system call of the application at the end under test.
    Call(Call),
    /// A shell command between backticks.
    Command(String),
    /// Python code between `%{` and `}%`, which checks the values of `tcp_info`.
    Code(String),
}

/// System call of a script, with its arguments and result.
#[derive(Clone, Debug)]
pub struct Call {
    /// Name of the call, such as `write`.
    pub name: String,
    /// Arguments of the call: the text between its parentheses.
    pub arguments: String,
    /// Result that the script expects; `None` for `?` and for anything that is not a number.
    pub result: Option<i64>,
}

/// Flags of a TCP header, as a script names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the header")]
pub struct Flags {
    /// Whether the SYN flag is set: the packet opens the connection.
    pub syn: bool,
    /// Whether the ACK flag is set: the acknowledgement number is valid.
    pub ack: bool,
    /// Whether the FIN flag is set: the sender has no more data.
    pub fin: bool,
    /// Whether the RST flag is set: the packet resets the connection.
    pub rst: bool,
    /// Whether the ECE flag is set: ECN-Echo, or ECN set-up in a SYN (RFC 3168).
    pub ece: bool,
    /// Whether the CWR flag is set: Congestion Window Reduced, or ECN set-up in a SYN (RFC 3168).
    pub cwr: bool,
    /// Whether the script gives the counter of accurate ECN in place of ECE and CWR.
    pub accurate: bool,
}

/// ECN field of the IP header, as a script names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpEcn {
    /// The packet is not ECN-capable.
    None,
    /// The packet is ECN-capable: ECT(0) or ECT(1).
    Capable,
    /// A router has marked the packet with Congestion Experienced (CE).
    Experienced,
}

/// TCP packet in the notation of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// ECN field of the IP header, or `None` if the script does not give it.
    pub ip_ecn: Option<IpEcn>,
    /// Flags of the TCP header. PSH and URG are ignored.
    pub flags: Flags,
    /// Sequence number of the packet's first byte, relative to the initial sequence number.
    pub seq: u64,
    /// Number of payload bytes in the packet.
    pub payload: u64,
    /// Acknowledgement number, or `None` if the packet has none.
    pub ack: Option<u64>,
    /// Window field of the header before scaling, or `None` if the script does not give it.
    pub window: Option<u64>,
    /// TCP options; `None` if the script names no options or allows any (`<...>`).
    pub options: Option<Options>,
}

/// TCP options that a script names in a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size in bytes, or `None` without this option.
    pub mss: Option<u64>,
    /// Window scale as a number of bits, or `None` without this option.
    pub window_shift: Option<u8>,
    /// Whether SACK is permitted (RFC 2018).
    pub sack_permitted: bool,
    /// Timestamp value and timestamp echo reply, or `None` without this option.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks: the first sequence number of each block, and the number after its last.
    pub sack: Vec<(u64, u64)>,
    /// Name of the first option of another kind, except TCP Fast Open, or `None` if there is none.
    pub other: Option<String>,
}

impl Packet {
    /// Returns the options that the script names; empty options if it names none or allows any (`<...>`).
    pub fn named_options(&self) -> Options {
        self.options.clone().unwrap_or_default()
    }
}
