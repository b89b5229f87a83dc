//! What travels on links and bearers.

/// Bytes of an IPv4 and a TCP header without options (RFC 791, RFC 9293).
pub const HEADER_BYTES: u32 = 40;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The phone's request for a connection.
    Connect,
    /// The phone's request for more on an open connection.
    Request,
    /// A segment of the server: number 0 is its SYN, data begin at 1.
    Data,
    /// The phone's cumulative acknowledgement.
    Ack,
}

/// Blocks of what arrived beyond a gap (RFC 2018), at most three as ns-2 reports them. As on the wire
/// the numbers are modulo 2^32, and mean those nearest to the ACK's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); Self::MAX],
    count: u8,
}

impl SackBlocks {
    /// Blocks that one ACK can report.
    pub const MAX: usize = 3;

    /// Adds a block of numbers `first` to `end - 1`.
    pub fn push(&mut self, first: u64, end: u64) {
        self.blocks[usize::from(self.count)] = (first as u32, end as u32);
        self.count += 1;
    }

    /// The blocks of an ACK numbered `ack` as (first, one past the last).
    pub fn of(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let blocks = self.blocks[..usize::from(self.count)].iter();
        let near = move |number: u32| {
            ack.saturating_add_signed(number.wrapping_sub(ack as u32).cast_signed().into())
        };
        blocks.map(move |&(first, end)| (near(first), near(end)))
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether nothing is reported.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// An IP packet of one TCP connection. Copied freely: the payload itself is never simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The connection it belongs to.
    pub flow: u32,
    /// Bytes on the wire, headers included.
    pub size: u32,
    /// What it is for.
    pub kind: Kind,
    /// Whether the segment has been sent before.
    pub retransmission: bool,
    /// Whether an ACK answers a segment that had been sent before: the mark on which Eifel rests.
    pub answers_retransmission: bool,
    /// Segment number, or for an ACK the highest segment received in order.
    pub seq: u64,
    /// What an ACK reports beyond that.
    pub sack: SackBlocks,
    /// Timestamp and echo (RFC 7323) in microseconds; 0 where the option is not used.
    pub timestamp_us: u32,
    /// The timestamp that this packet echoes.
    pub echo_us: u32,
    /// Bytes an ACK allows beyond its number; the classic family does not look.
    pub window: u32,
    /// Explicit congestion notification.
    pub ecn: Ecn,
}

/// The ECN marks of a packet (RFC 3168): those of its IP header and of its TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent marks")]
pub struct Ecn {
    /// The transport understands ECN, so a queue may mark instead of dropping.
    pub capable: bool,
    /// A queue has met congestion (CE).
    pub experienced: bool,
    /// The receiver echoes that mark (ECE).
    pub echo: bool,
    /// The sender has reduced its window (CWR).
    pub reduced: bool,
}

impl Segment {
    /// Whether it is one of the server's data, which its SYN is not; a probe of the window counts too.
    pub fn is_data(&self) -> bool {
        self.kind == Kind::Data && self.seq > 0
    }

    /// A packet of headers alone.
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
    fn blocks_are_near_their_ack() {
        let mut blocks = SackBlocks::default();
        let ack = (7 << 32) - 1_000;
        blocks.push(ack - 3_000, ack - 2_000);
        blocks.push(ack + 500, ack + 2_000);
        let seen: Vec<_> = blocks.of(ack).collect();
        assert_eq!(seen, [(ack - 3_000, ack - 2_000), (ack + 500, ack + 2_000)]);
    }
}
