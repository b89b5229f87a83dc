//! State that all components of a world share: time, the event queue, events to be emitted, and the packets in the
//! network.

use std::ops::{Deref, DerefMut};

use nodeb_base::context::{Common, Output};
use nodeb_base::engine::EventQueue;
use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet, PacketId};
use nodeb_tcp::segment::Segment;

use super::external::External;

/// Contents of a packet: what it carries for the end hosts. Links and bearers do not read it.
#[derive(Clone, Copy, Debug)]
pub enum Contents {
    /// Segment of simulated TCP.
    Segment(Segment),
    /// Packet from outside the simulation.
    External {
        /// Number in the scenario of the user who sends or receives the packet.
        user: u32,
        /// Tag by which the driver of an emulation identifies the packet.
        tag: u64,
    },
}

/// The packets in flight with their contents. The lower 32 bits of a packet's identity are its index in the list of
/// contents, the upper 32 bits are a running number.
#[derive(Debug, Default)]
pub struct InFlight {
    contents: Vec<Contents>,
    /// Indices in `contents` that no packet in flight uses.
    free: Vec<u32>,
    /// Number of packets launched so far, modulo 2^32.
    launched: u32,
}

impl InFlight {
    /// Returns the number of packets in flight.
    pub fn len(&self) -> usize {
        self.contents.len() - self.free.len()
    }

    /// Returns the identity of a new packet. The caller must then set the packet's contents.
    #[inline]
    fn identify(&mut self) -> PacketId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.contents.push(Contents::External { user: 0, tag: 0 });
            self.contents.len() as u32 - 1
        });
        self.launched = self.launched.wrapping_add(1);
        PacketId(u64::from(self.launched) << 32 | u64::from(place))
    }

    /// Adds a packet that carries a simulated TCP segment, and returns the packet.
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
        Packet { id, size: segment.size, flow_hash: segment.flow, ecn, payload: segment.is_data() }
    }

    /// Adds a packet from outside, which user number `user` sends or receives. Returns `packet` with its new
    /// identity.
    pub fn launch_external(&mut self, user: u32, tag: u64, packet: Packet) -> Packet {
        let id = self.identify();
        self.contents[id.place()] = Contents::External { user, tag };
        Packet { id, ..packet }
    }

    /// Returns the number of the connection of a packet, or for a packet from outside the number of its user.
    #[inline]
    pub fn flow(&self, packet: &Packet) -> u32 {
        match &self.contents[packet.id.place()] {
            Contents::Segment(segment) => segment.flow,
            Contents::External { user, .. } => *user,
        }
    }

    /// Returns a packet's segment with the packet's ECN mark, or `None` if the packet is from outside.
    #[inline]
    pub fn segment(&mut self, packet: &Packet) -> Option<&Segment> {
        match self.marked(packet) {
            Contents::Segment(segment) => Some(segment),
            Contents::External { .. } => None,
        }
    }

    /// Returns the contents of a packet, after copying the packet's ECN mark to the segment in them.
    #[inline]
    fn marked(&mut self, packet: &Packet) -> &Contents {
        let contents = &mut self.contents[packet.id.place()];
        if let Contents::Segment(segment) = contents {
            segment.ecn.experienced = packet.ecn == EcnField::Ce;
        }
        contents
    }

    /// Removes a packet that has arrived or is lost. Returns its contents with the packet's ECN mark.
    #[inline]
    pub fn land(&mut self, packet: &Packet) -> &Contents {
        self.free.push(packet.id.place() as u32);
        self.marked(packet)
    }
}

/// State that all components of a world share: time, stamps, events to be emitted, the event queue, and the packets in
/// flight.
#[derive(Debug)]
pub struct Env {
    pub common: Common,
    pub event_queue: EventQueue,
    pub in_flight: InFlight,
    pub external: External,
}

impl Env {
    /// Removes the packets that a link lost during the call that has just returned, and reports the losses of
    /// packets from outside.
    #[inline]
    pub fn drop_lost(&mut self) {
        if !self.common.out.is_empty() {
            self.drop_all();
        }
    }

    #[cold]
    fn drop_all(&mut self) {
        let mut out = std::mem::take(&mut self.common.out);
        for output in out.drain(..) {
            match output {
                Output::Lost { packet, cause, .. } => self.lose(&packet, cause),
                other => debug_assert!(false, "links return arrived packets instead: {other:?}"),
            }
        }
        self.common.out = out;
    }

    /// Removes a lost packet from the packets in flight. If the packet is from outside, its loss is recorded
    /// for the driver.
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
