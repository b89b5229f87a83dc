//! Snoop depends on it.

use super::TcpSpec;
use crate::segment::{Kind, Segment};

/// Of [`Segment::seq`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// The SYN is 0, data from 1; an ACK has the highest segment in order.
    Segments,
    /// The SYN is 0; a segment has its first byte, an ACK the next one expected.
    Bytes {
        /// With options.
        header_bytes: u32,
    },
}

impl Numbering {
    /// Neither a SYN nor an ACK.
    pub fn is_data(self, packet: &Segment) -> bool {
        let carries = match self {
            Self::Segments => true,
            Self::Bytes { header_bytes } => packet.size > header_bytes,
        };
        carries && packet.seq > 0 && packet.kind == Kind::Data
    }

    /// Segment or byte.
    pub fn unacknowledged(self, ack: &Segment) -> u64 {
        match self {
            Self::Segments => ack.seq + 1,
            Self::Bytes { .. } => ack.seq,
        }
    }
}

impl TcpSpec {
    pub fn numbering(&self) -> Numbering {
        match self {
            Self::Classic(_) => Numbering::Segments,
            Self::Linux(params) => Numbering::Bytes { header_bytes: params.header_bytes() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::Linux;

    #[test]
    fn syn_with_options_and_probe_carry_no_data() {
        let tcp = Linux::default();
        let numbering = TcpSpec::Linux(tcp.clone()).numbering();
        let is_data = |seq: u64, size: u32| {
            numbering.is_data(&Segment { size, seq, ..Segment::control(0, Kind::Data) })
        };
        assert!(tcp.syn_bytes() > tcp.header_bytes());
        assert!(!is_data(0, tcp.syn_bytes()) && !is_data(1, tcp.header_bytes()));
        assert!(is_data(1, tcp.header_bytes() + 1));
    }
}
