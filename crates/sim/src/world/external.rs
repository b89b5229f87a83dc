//! Packets from outside the simulation, and their fates: arrival or loss.

use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet};
use nodeb_base::units::Time;

use crate::scenario::Direction;

/// Packet from outside the simulation: a tag, and the fields that network and radio read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalPacket {
    /// Tag by which the driver identifies the packet; the simulation only returns it with the packet's fate.
    pub tag: u64,
    /// Size of the IP packet in bytes.
    pub bytes: u32,
    /// Hash of the packet's flow, by which a fair queue classifies it.
    pub flow_hash: u32,
    /// ECN field, which a queue may set to CE.
    pub ecn: EcnField,
}

/// Fate of a packet from outside the simulation: arrival or loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet arrived at its phone or at the server.
    Arrived {
        /// Simulated time at which the packet arrived.
        at: Time,
        /// Direction of the packet: from the server or from the phone.
        direction: Direction,
        /// Number in the scenario of the user who sent the packet or to whom it was sent.
        user: u32,
        /// The packet, with the ECN field that it has at its arrival.
        packet: ExternalPacket,
    },
    /// The packet was dropped by a queue, or lost on a link or on the radio.
    Lost {
        /// Simulated time at which the packet was lost.
        at: Time,
        /// Number in the scenario of the user who sent the packet or to whom it was sent.
        user: u32,
        /// The packet, with the ECN field that it had when it was lost.
        packet: ExternalPacket,
        /// Cause of the loss, such as a full queue or failed transmissions on the radio.
        cause: Cause,
    },
}

/// Fates of packets from outside that the driver has not taken yet, and counts of the bytes of such packets.
#[derive(Debug, Default)]
pub struct External {
    pub fates: Vec<Fate>,
    /// Number of bytes of packets from outside that have arrived at phones so far.
    pub down_bytes: u64,
    /// Number of bytes of packets from outside that a shared uplink has carried so far.
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
