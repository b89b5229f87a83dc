use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet};
use nodeb_base::units::Time;

use crate::scenario::Direction;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalPacket {
    /// For the driver.
    pub tag: u64,
    pub bytes: u32,
    /// A fair queue classifies the packet by it.
    pub flow_hash: u32,
    /// A queue may set it to CE.
    pub ecn: EcnField,
}

/// Of a packet from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// At its phone or at the server.
    Arrived {
        at: Time,
        direction: Direction,
        /// Number in the scenario of the sender or receiver.
        user: u32,
        /// With the ECN field at its arrival.
        packet: ExternalPacket,
    },
    Lost {
        at: Time,
        /// Number in the scenario of the sender or receiver.
        user: u32,
        /// With the ECN field when it was lost.
        packet: ExternalPacket,
        cause: Cause,
    },
}

/// Not taken yet by the driver.
#[derive(Debug, Default)]
pub struct External {
    pub fates: Vec<Fate>,
    /// Arrived at phones.
    pub down_bytes: u64,
    /// Carried by uplinks.
    pub up_bytes: u64,
}

impl External {
    pub fn arrived(&mut self, at: Time, direction: Direction, user: u32, tag: u64, packet: &Packet) {
        if direction == Direction::Down {
            self.down_bytes += u64::from(packet.size);
        }
        self.fates.push(Fate::Arrived { at, direction, user, packet: external_packet(tag, packet) });
    }

    pub fn lost(&mut self, at: Time, user: u32, tag: u64, packet: &Packet, cause: Cause) {
        self.fates.push(Fate::Lost { at, user, packet: external_packet(tag, packet), cause });
    }
}

fn external_packet(tag: u64, packet: &Packet) -> ExternalPacket {
    ExternalPacket { tag, bytes: packet.size, flow_hash: packet.flow_hash, ecn: packet.ecn }
}
