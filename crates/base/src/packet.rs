//! What links, queues and bearers carry: a packet without its contents.
//!
//! They read an identity, a size, a hash of the flow, the ECN field and whether there is payload,
//! nothing else. Whoever puts a packet in keeps what it stands for: a simulated TCP segment, or bytes
//! that a real host has sent.

/// Which packet it is. Every packet that is put on the way has an identity of its own; what is
/// sent again is another packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u64);

impl PacketId {
    /// Its number among all packets that are sent in a run, from 1, where a world has given the identity.
    pub const fn number(self) -> u64 {
        self.0 >> 32
    }

    /// Its place among the packets on their way, which no other has at the same time, where a world has given the
    /// identity.
    pub const fn place(self) -> usize {
        self.0 as u32 as usize
    }
}

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    /// The transport does not understand ECN.
    #[default]
    NotEct,
    /// ECT(0): a queue may mark instead of dropping.
    Ect0,
    /// ECT(1), the same here (RFC 8311 gives it other uses).
    Ect1,
    /// CE: a queue has met congestion.
    Ce,
}

impl EcnField {
    /// Whether a queue may mark the packet instead of dropping it.
    pub fn is_capable(self) -> bool {
        self != Self::NotEct
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Which packet it is.
    pub id: PacketId,
    /// Bytes of the IP packet, headers included.
    pub size: u32,
    /// The same for all packets of a flow, and different for most flows: what a fair queue goes by.
    pub flow_hash: u32,
    /// The ECN field.
    pub ecn: EcnField,
    /// Whether it carries data of a server; `false` too where nobody has looked into it.
    pub payload: bool,
}

impl Packet {
    /// A packet of flow 0 that does not understand ECN.
    pub fn new(id: u64, size: u32) -> Self {
        Self { id: PacketId(id), size, flow_hash: 0, ecn: EcnField::NotEct, payload: false }
    }
}
