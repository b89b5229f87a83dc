use std::ops::{Deref, DerefMut};

use nodeb_base::context::Common;
use nodeb_base::engine::EventQueue;
use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet, PacketId};
use nodeb_tcp::segment::Segment;

use super::external::External;

/// What a packet carries for the end hosts; links and bearers do not read it.
#[derive(Clone, Copy, Debug)]
pub enum Contents {
    Segment(Segment),
    /// From outside the simulation.
    External {
        /// Number in the scenario of the sender or receiver.
        user: u32,
        /// For the driver of an emulation.
        tag: u64,
    },
}

/// The lower 32 bits of a packet's identity are its index in `contents`, the upper 32 a running number.
#[derive(Debug, Default)]
pub struct InFlight {
    contents: Vec<Contents>,
    /// Unused indices in `contents`.
    free: Vec<u32>,
    /// Modulo 2^32.
    launched: u32,
}

impl InFlight {
    pub fn len(&self) -> usize {
        self.contents.len() - self.free.len()
    }

    /// The caller must then set the packet's contents.
    #[inline]
    fn identify(&mut self) -> PacketId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.contents.push(Contents::External { user: 0, tag: 0 });
            self.contents.len() as u32 - 1
        });
        self.launched = self.launched.wrapping_add(1);
        PacketId(u64::from(self.launched) << 32 | u64::from(place))
    }

    #[inline]
    pub fn launch(&mut self, segment: &Segment) -> Packet {
        let ecn = match (segment.ecn.capable, segment.ecn.experienced) {
            (_, true) => EcnField::Ce,
            (true, false) => EcnField::Ect0,
            (false, false) => EcnField::NotEct,
        };
        let id = self.identify();
        match &mut self.contents[id.place()] {
            // The entry usually contains a segment already. Overwriting this segment copies the new one only
            // once.
            Contents::Segment(held) => *held = *segment,
            held @ Contents::External { .. } => *held = Contents::Segment(*segment),
        }
        Packet { id, size: segment.size, flow_hash: segment.flow, ecn, bearer: 0, payload: segment.is_data() }
    }

    /// User number `user` sends or receives it.
    pub fn launch_external(&mut self, user: u32, tag: u64, packet: Packet) -> Packet {
        let id = self.identify();
        self.contents[id.place()] = Contents::External { user, tag };
        Packet { id, ..packet }
    }

    /// Of its user for a packet from outside.
    #[inline]
    pub fn flow(&self, packet: &Packet) -> u32 {
        match &self.contents[packet.id.place()] {
            Contents::Segment(segment) => segment.flow,
            Contents::External { user, .. } => *user,
        }
    }

    /// With the packet's ECN mark; `None` if it is from outside.
    #[inline]
    pub fn segment(&mut self, packet: &Packet) -> Option<&Segment> {
        match self.marked(packet) {
            Contents::Segment(segment) => Some(segment),
            Contents::External { .. } => None,
        }
    }

    /// After copying the ECN mark to the segment.
    #[inline]
    fn marked(&mut self, packet: &Packet) -> &Contents {
        let contents = &mut self.contents[packet.id.place()];
        if let Contents::Segment(segment) = contents {
            segment.ecn.experienced = packet.ecn == EcnField::Ce;
        }
        contents
    }

    /// Arrived or lost; contents with the ECN mark.
    #[inline]
    pub fn land(&mut self, packet: &Packet) -> &Contents {
        self.free.push(packet.id.place() as u32);
        self.marked(packet)
    }
}

#[derive(Debug)]
pub struct Env {
    pub common: Common,
    pub event_queue: EventQueue,
    pub in_flight: InFlight,
    pub external: External,
}

impl Env {
    /// The loss of a packet from outside is recorded for the driver.
    pub fn lose(&mut self, packet: &Packet, cause: Cause) {
        if let &Contents::External { user, tag } = self.in_flight.land(packet) {
            self.external.lost(self.common.now, user, tag, packet, cause);
        }
    }
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
