//! Packets of TCP connections, as links and bearers transport them.

/// Size of an IPv4 and a TCP header without options in bytes (RFC 791, RFC 9293).
pub const HEADER_BYTES: u32 = 40;

/// Role of a packet in its TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The SYN with which the phone opens the connection.
    Connect,
    /// A request that the phone sends on an open connection.
    Request,
    /// A segment of the sender (the server, or the phone in an upload). Number 0 is the sender's
    /// SYN, and data begins at number 1.
    Data,
    /// A cumulative acknowledgement of the receiver, possibly with SACK blocks.
    Ack,
}

/// SACK blocks of an ACK (RFC 2018), at most three as in ns-2. As on the wire, sequence numbers are
/// stored modulo 2^32; [`Self::of`] returns the full numbers nearest to the acknowledgement number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); Self::MAX],
    count: u8,
}

impl SackBlocks {
    /// Maximum number of SACK blocks in one ACK.
    pub const MAX: usize = 3;

    /// Adds a block of the sequence numbers from `first` to `end - 1`. There must be fewer than
    /// [`Self::MAX`] blocks.
    pub fn push(&mut self, first: u64, end: u64) {
        self.blocks[usize::from(self.count)] = (first as u32, end as u32);
        self.count += 1;
    }

    /// Returns the blocks of an ACK with acknowledgement number `ack`, each as (first number, last
    /// number + 1).
    pub fn of(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let blocks = self.blocks[..usize::from(self.count)].iter();
        let near = move |number: u32| {
            ack.saturating_add_signed(number.wrapping_sub(ack as u32).cast_signed().into())
        };
        blocks.map(move |&(first, end)| (near(first), near(end)))
    }

    /// Returns the number of SACK blocks in the ACK.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Returns true if the ACK has no SACK blocks.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// IP packet of a TCP connection. The payload is not simulated, so the type is `Copy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Index of the connection among all connections of the simulation.
    pub flow: u32,
    /// Size of the IP packet in bytes, headers included.
    pub size: u32,
    /// Role of the packet: SYN or request of the phone, segment of the sender, or ACK of the
    /// receiver.
    pub kind: Kind,
    /// Whether the packet is the retransmission of a SYN, segment or request.
    pub retransmission: bool,
    /// Whether the first segment that this ACK answers was a retransmission. Eifel detection of the
    /// `classic` family uses this bit.
    pub answers_retransmission: bool,
    /// Number of the segment, or the acknowledgement number of an ACK, in the units of the TCP
    /// family (see [`Numbering`](crate::numbering::Numbering)).
    pub seq: u64,
    /// SACK blocks of an ACK; empty for packets that are no ACKs.
    pub sack: SackBlocks,
    /// Timestamp value (RFC 7323) in microseconds; 0 if the option is not used.
    pub timestamp_us: u32,
    /// Timestamp echo reply in microseconds; 0 if the option is not used or no timestamp has
    /// arrived yet.
    pub echo_us: u32,
    /// Advertised window of an ACK in bytes; the `classic` family ignores it.
    pub window: u32,
    /// ECN marks in the IP and TCP headers.
    pub ecn: Ecn,
}

/// ECN marks in the IP and TCP headers of a packet (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent marks")]
pub struct Ecn {
    /// Whether the transport is ECN-capable (ECT), so that a queue may mark the packet instead of
    /// dropping it.
    pub capable: bool,
    /// Whether a queue on the path has marked the packet because of congestion (CE).
    pub experienced: bool,
    /// Whether the receiver echoes a CE mark in this ACK (ECE flag).
    pub echo: bool,
    /// Whether the sender reports in this segment that it has reduced its window (CWR flag).
    pub reduced: bool,
}

impl Segment {
    /// Returns true for a segment of the sender other than its SYN. A window probe counts as data.
    pub fn is_data(&self) -> bool {
        self.kind == Kind::Data && self.seq > 0
    }

    /// Returns a packet of kind `kind` for connection `flow`. It has number 0 and a size of 40
    /// bytes, which is that of the headers without payload and options.
    pub fn control(flow: u32, kind: Kind) -> Self {
        Self {
            flow,
            size: HEADER_BYTES,
            kind,
            retransmission: false,
            answers_retransmission: false,
            seq: 0,
            sack: SackBlocks::default(),
            timestamp_us: 0,
            echo_us: 0,
            window: u32::MAX,
            ecn: Ecn::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sack_block_numbers_are_nearest_to_the_ack() {
        let mut blocks = SackBlocks::default();
        let ack = (7 << 32) - 1_000;
        blocks.push(ack - 3_000, ack - 2_000);
        blocks.push(ack + 500, ack + 2_000);
        let seen: Vec<_> = blocks.of(ack).collect();
        assert_eq!(seen, [(ack - 3_000, ack - 2_000), (ack + 500, ack + 2_000)]);
    }
}
