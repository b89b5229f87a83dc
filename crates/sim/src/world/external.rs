//! Users whose packets come from outside, and where those packets go that have come through.

use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet};
use nodeb_base::units::Time;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a server to a phone.
    Down,
    /// From a phone to a server.
    Up,
}

/// A packet from outside: as much of it as the network and the radio look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalPacket {
    /// What the driver knows it by; nothing reads it.
    pub tag: u64,
    /// Bytes of the IP packet.
    pub bytes: u32,
    /// The same for all packets of a flow: what a fair queue goes by.
    pub flow_hash: u32,
    /// The ECN field; a queue may set it to CE.
    pub ecn: EcnField,
}

/// What has become of a packet from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has arrived.
    Arrived {
        /// When.
        at: Time,
        /// Its way.
        direction: Direction,
        /// Number of the user.
        user: u32,
        /// The packet, with its mark.
        packet: ExternalPacket,
    },
    /// It is lost.
    Lost {
        /// When.
        at: Time,
        /// Number of the user.
        user: u32,
        /// The packet.
        packet: ExternalPacket,
        /// Why.
        cause: Cause,
    },
}

/// The fates that have not been asked for yet.
#[derive(Debug, Default)]
pub struct External {
    pub fates: Vec<Fate>,
    /// Bytes of packets from outside that have arrived at phones.
    pub down_bytes: u64,
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
