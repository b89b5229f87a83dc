//! What travels on links and bearers.

/// Bytes of an IPv4 and a TCP header without options (RFC 791, RFC 9293).
pub const HEADER_BYTES: u32 = 40;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The phone's request for a connection.
    Connect,
    /// A segment of the server: number 0 is its SYN, data begin at 1.
    Segment,
    /// The phone's cumulative acknowledgement.
    Ack,
}

/// An IP packet of one TCP connection. Copied freely: the payload itself is never simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The connection it belongs to.
    pub flow: u32,
    /// Bytes on the wire, headers included.
    pub size: u32,
    /// What it is for.
    pub kind: Kind,
    /// Whether the segment has been sent before.
    pub retransmission: bool,
    /// Segment number, or for an ACK the highest segment received in order.
    pub seq: u64,
}
