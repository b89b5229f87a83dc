//! Meaning of segment numbers in the `classic` and `linux` families. Agents on the path that read
//! TCP headers (Snoop) depend on this meaning.

use super::TcpSpec;
use crate::segment::{Kind, Segment};

/// Meaning of the field [`Segment::seq`] in the packets of a TCP family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// Segments are counted: the SYN has number 0, and data begins at number 1. An ACK carries the
    /// number of the highest segment received in order.
    Segments,
    /// Bytes are counted: the SYN has number 0, and a segment carries the number of its first byte.
    /// An ACK carries the number of the next byte expected.
    Bytes {
        /// Number of bytes of the IP and TCP headers in a data segment, options included.
        header_bytes: u32,
    },
}

impl Numbering {
    /// Returns true if a packet is a data segment, and neither a SYN nor an ACK.
    pub fn is_data(self, packet: &Segment) -> bool {
        let carries = match self {
            Self::Segments => true,
            Self::Bytes { header_bytes } => packet.size > header_bytes,
        };
        carries && packet.seq > 0 && packet.kind == Kind::Data
    }

    /// Returns the lowest segment number (`Segments`) or byte number (`Bytes`) that an ACK does not
    /// acknowledge.
    pub fn unacknowledged(self, ack: &Segment) -> u64 {
        match self {
            Self::Segments => ack.seq + 1,
            Self::Bytes { .. } => ack.seq,
        }
    }
}

impl TcpSpec {
    /// Returns the numbering that packets of this TCP family use.
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
