/// IPv4 and TCP without options (RFC 791, RFC 9293).
pub const HEADER_BYTES: u32 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SYN of the phone.
    Connect,
    /// On an open connection.
    Request,
    /// Number 0 is the sender's SYN.
    Data,
    /// Cumulative, possibly with SACK blocks.
    Ack,
}

/// RFC 2018, at most three as in ns-2; modulo 2^32 as on the wire, see [`Self::of`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); Self::MAX],
    count: u8,
}

impl SackBlocks {
    /// In one ACK.
    pub const MAX: usize = 3;

    /// `first` to `end - 1`, with fewer than [`Self::MAX`] blocks before.
    pub fn push(&mut self, first: u64, end: u64) {
        self.blocks[usize::from(self.count)] = (first as u32, end as u32);
        self.count += 1;
    }

    /// (first, last + 1), nearest to `ack`.
    pub fn of(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let blocks = self.blocks[..usize::from(self.count)].iter();
        let near = move |number: u32| {
            ack.saturating_add_signed(number.wrapping_sub(ack as u32).cast_signed().into())
        };
        blocks.map(move |&(first, end)| (near(first), near(end)))
    }

    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The payload is not simulated, so the type is `Copy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Index of the connection.
    pub flow: u32,
    /// Of the IP packet.
    pub size: u32,
    pub kind: Kind,
    /// Of a SYN, segment or request.
    pub retransmission: bool,
    /// The first segment answered was one; for Eifel of `classic`.
    pub answers_retransmission: bool,
    /// Segment, or acknowledgement number of an ACK (see [`Numbering`](crate::numbering::Numbering)).
    pub seq: u64,
    pub sack: SackBlocks,
    /// RFC 7323; 0 without the option.
    pub timestamp_us: u32,
    /// 0 without the option or a timestamp.
    pub echo_us: u32,
    /// Of an ACK; `classic` ignores it.
    pub window: u32,
    pub ecn: Ecn,
}

/// RFC 3168.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent marks")]
pub struct Ecn {
    /// ECT.
    pub capable: bool,
    /// CE.
    pub experienced: bool,
    /// ECE.
    pub echo: bool,
    /// CWR.
    pub reduced: bool,
}

impl Segment {
    /// Not the SYN; a window probe counts.
    pub fn is_data(&self) -> bool {
        self.kind == Kind::Data && self.seq > 0
    }

    /// 40 bytes, number 0.
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
