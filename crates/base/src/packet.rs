//! Packets without contents, as links, queues and bearers carry them.
//!
//! Links, queues and bearers read an identifier, a size, a hash of the flow, the ECN field and
//! whether there is payload. The code that puts a packet into the network stores the contents for
//! which the packet stands: a simulated TCP segment, or the bytes of a real packet.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u64);

impl PacketId {
    /// Returns the packet's number among all packets sent in a run, from 1 and modulo 2^32. It is
    /// meaningful only if a `World` assigned the identifier.
    pub const fn number(self) -> u64 {
        self.0 >> 32
    }

    /// Returns the packet's index among the packets in the network, which is reused once the packet has left
    /// the network. It is meaningful only if a `World` assigned the identifier.
    pub const fn place(self) -> usize {
        self.0 as u32 as usize
    }
}

/// RFC 3168, section 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// Not-ECT: the packet does not use ECN, so a queue can signal congestion only by dropping it.
    #[default]
    NotEct,
    /// ECT(0): the transport supports ECN, so a queue may mark the packet instead of dropping it.
    Ect0,
    /// ECT(1): treated like ECT(0), although RFC 8311 allows other uses.
    Ect1,
    /// CE: a queue on the path has marked the packet because of congestion.
    Ce,
}

impl EcnField {
    pub fn is_capable(self) -> bool {
        self != Self::NotEct
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub id: PacketId,
    /// IP packet, in bytes.
    pub size: u32,
    pub flow_hash: u32,
    pub ecn: EcnField,
    /// Number of the bearer among those of the packet's phone.
    pub bearer: u8,
    /// Whether the packet is a data segment of simulated TCP. `false` for a packet of a real host,
    /// whose contents are not examined.
    pub payload: bool,
}

impl Packet {
    pub fn new(id: u64, size: u32) -> Self {
        Self { id: PacketId(id), size, flow_hash: 0, ecn: EcnField::NotEct, bearer: 0, payload: false }
    }
}
