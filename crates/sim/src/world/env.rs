//! What every place of a world shares: time, alarms, events, and the packets on their way.

use std::ops::{Deref, DerefMut};

use crate::context::Common;
use crate::engine::Agenda;
use crate::packet::{EcnField, Packet, PacketId};
use crate::transport::segment::{Kind, Segment};

/// The packets on their way and what they stand for, by identity: a place in a list, and how many have
/// been launched. A packet from outside stands for a segment of its flow whose number is the tag.
#[derive(Debug, Default)]
pub struct Flying {
    segments: Vec<Segment>,
    free: Vec<u32>,
    launched: u32,
}

impl Flying {
    /// Packets on their way.
    pub fn len(&self) -> usize {
        self.segments.len() - self.free.len()
    }

    #[inline]
    fn add(&mut self, segment: &Segment) -> PacketId {
        let place = if let Some(place) = self.free.pop() {
            self.segments[place as usize] = *segment;
            place
        } else {
            self.segments.push(*segment);
            self.segments.len() as u32 - 1
        };
        self.launched = self.launched.wrapping_add(1);
        PacketId(u64::from(self.launched) << 32 | u64::from(place))
    }

    /// Puts a simulated packet on its way.
    #[inline]
    pub fn launch(&mut self, segment: &Segment) -> Packet {
        let ecn = match (segment.ecn.capable, segment.ecn.experienced) {
            (_, true) => EcnField::Ce,
            (true, false) => EcnField::Ect0,
            (false, false) => EcnField::NotEct,
        };
        let (size, flow_hash, payload) = (segment.size, segment.flow, segment.is_data());
        Packet { id: self.add(segment), size, flow_hash, ecn, payload }
    }

    /// Puts a real packet on its way: `packet` with an identity.
    pub fn launch_external(&mut self, flow: u32, tag: u64, packet: Packet) -> Packet {
        let segment = Segment { size: packet.size, seq: tag, ..Segment::control(flow, Kind::Data) };
        Packet { id: self.add(&segment), ..packet }
    }

    /// The flow of a packet.
    #[inline]
    pub fn flow(&self, packet: &Packet) -> u32 {
        self.segments[packet.id.place()].flow
    }

    /// What a packet stands for, marked as the packet is.
    #[inline]
    pub fn look(&mut self, packet: &Packet) -> &Segment {
        let segment = &mut self.segments[packet.id.place()];
        segment.ecn.experienced = packet.ecn == EcnField::Ce;
        segment
    }

    /// Takes a packet from its way; what it stood for can be read until the next is launched.
    #[inline]
    pub fn land(&mut self, packet: &Packet) -> &Segment {
        self.free.push(packet.id.0 as u32);
        self.look(packet)
    }
}

/// What every place shares: time, the order of events and who listens, alarms, packets on their way.
#[derive(Debug)]
pub struct Env {
    pub common: Common,
    pub agenda: Agenda,
    pub flying: Flying,
}

impl Deref for Env {
    type Target = Common;

    #[inline]
    fn deref(&self) -> &Common {
        &self.common
    }
}

impl DerefMut for Env {
    #[inline]
    fn deref_mut(&mut self) -> &mut Common {
        &mut self.common
    }
}
