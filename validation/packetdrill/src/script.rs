//! Data of a packetdrill script, as the parser returns them.

use nodeb_base::units::{Duration, NANOS_PER_S};

#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Options (`--name=value`) as pairs of name and value, without the dashes.
    pub options: Vec<(String, String)>,
    pub setup: Vec<(usize, String)>,
    pub events: Vec<Event>,
}

#[derive(Clone, Debug)]
pub struct Event {
    /// From 1.
    pub line: usize,
    pub text: String,
    pub when: When,
    pub action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At any time (`*`).
    Any,
    /// Both times included.
    Span {
        /// Relative to the previous event, otherwise to the start of the script.
        relative: bool,
        from: Duration,
        to: Duration,
    },
}

/// One day.
pub const LONGEST: Duration = Duration(86_400 * NANOS_PER_S);

#[derive(Clone, Debug)]
pub enum Action {
    /// From the network (`<`).
    Inbound(Packet),
    /// From the end under test (`>`).
    Outbound(Packet),
    /// The value describes it, such as `a packet of icmp`.
    Foreign(String),
    Call(Call),
    Command(String),
    /// Between `%{` and `}%`.
    Code(String),
}

#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    pub arguments: String,
    /// `None` for `?` and for anything that is not a number.
    pub result: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the header")]
pub struct Flags {
    pub syn: bool,
    pub ack: bool,
    pub fin: bool,
    pub rst: bool,
    /// ECN-Echo, or ECN set-up in a SYN (RFC 3168).
    pub ece: bool,
    /// Congestion Window Reduced, or ECN set-up in a SYN (RFC 3168).
    pub cwr: bool,
    /// Whether the script gives the counter of accurate ECN in place of ECE and CWR.
    pub accurate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpEcn {
    None,
    /// ECT(0) or ECT(1).
    Capable,
    /// CE.
    Experienced,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub ip_ecn: Option<IpEcn>,
    /// PSH and URG are ignored.
    pub flags: Flags,
    /// Relative to the initial sequence number.
    pub seq: u64,
    pub payload: u64,
    pub ack: Option<u64>,
    /// Before scaling.
    pub window: Option<u64>,
    /// `None` without options, and if any are allowed (`<...>`).
    pub options: Option<Options>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Bytes.
    pub mss: Option<u64>,
    /// Bits.
    pub window_shift: Option<u8>,
    /// RFC 2018.
    pub sack_permitted: bool,
    /// Value and echo reply.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks: the first sequence number of each block, and the number after its last.
    pub sack: Vec<(u64, u64)>,
    /// The first option of another kind, except TCP Fast Open.
    pub other: Option<String>,
}

impl Packet {
    /// Empty if it names none or allows any (`<...>`).
    pub fn named_options(&self) -> Options {
        self.options.clone().unwrap_or_default()
    }
}
