//! State that all places of a world share: time, the event queue, listeners, and the packets in the network.

use std::ops::{Deref, DerefMut};

use nodeb_base::context::{Common, Output};
use nodeb_base::engine::EventQueue;
use nodeb_base::event::Cause;
use nodeb_base::packet::{EcnField, Packet, PacketId};
use nodeb_tcp::segment::Segment;

use super::external::External;

/// What a packet stands for.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// A segment of simulated TCP.
    Segment(Segment),
    /// A packet from outside.
    External {
        /// Number of the user.
        user: u32,
        /// What the driver knows it by.
        tag: u64,
    },
}

/// The packets on their way and what they stand for, by identity: a place in a list, and how many have
/// been launched.
#[derive(Debug, Default)]
pub struct Flying {
    loads: Vec<Load>,
    free: Vec<u32>,
    launched: u32,
}

impl Flying {
    /// Packets on their way.
    pub fn len(&self) -> usize {
        self.loads.len() - self.free.len()
    }

    /// Returns the identity of a new packet, whose load is not set yet.
    #[inline]
    fn identify(&mut self) -> PacketId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.loads.push(Load::External { user: 0, tag: 0 });
            self.loads.len() as u32 - 1
        });
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
        let id = self.identify();
        match &mut self.loads[id.place()] {
            // Nearly always: it is copied once, and not into a load first.
            Load::Segment(held) => *held = *segment,
            held @ Load::External { .. } => *held = Load::Segment(*segment),
        }
        Packet { id, size: segment.size, flow_hash: segment.flow, ecn, payload: segment.is_data() }
    }

    /// Puts a real packet on its way: `packet` with an identity.
    pub fn launch_external(&mut self, user: u32, tag: u64, packet: Packet) -> Packet {
        let id = self.identify();
        self.loads[id.place()] = Load::External { user, tag };
        Packet { id, ..packet }
    }

    /// Returns the number of the user whose packet it is.
    #[inline]
    pub fn flow(&self, packet: &Packet) -> u32 {
        match &self.loads[packet.id.place()] {
            Load::Segment(segment) => segment.flow,
            Load::External { user, .. } => *user,
        }
    }

    /// Returns the segment that a packet stands for, marked as the packet is; `None` for a packet from outside.
    #[inline]
    pub fn segment(&mut self, packet: &Packet) -> Option<&Segment> {
        match self.look(packet) {
            Load::Segment(segment) => Some(segment),
            Load::External { .. } => None,
        }
    }

    #[inline]
    fn look(&mut self, packet: &Packet) -> &Load {
        let load = &mut self.loads[packet.id.place()];
        if let Load::Segment(segment) = load {
            segment.ecn.experienced = packet.ecn == EcnField::Ce;
        }
        load
    }

    /// Takes a packet from its way. Returns what it stood for, marked as the packet is.
    #[inline]
    pub fn land(&mut self, packet: &Packet) -> &Load {
        self.free.push(packet.id.place() as u32);
        self.look(packet)
    }
}

/// State that all places share: time, stamps, listeners, the event queue, and the packets in the network.
#[derive(Debug)]
pub struct Env {
    pub common: Common,
    pub event_queue: EventQueue,
    pub flying: Flying,
    pub external: External,
}

impl Env {
    /// Takes the packets from their way that the link at work has lost.
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
                other => debug_assert!(false, "links hand over what has arrived: {other:?}"),
            }
        }
        self.common.out = out;
    }

    /// Takes a packet from its way that is lost.
    pub fn lose(&mut self, packet: &Packet, cause: Cause) {
        if let &Load::External { user, tag } = self.flying.land(packet) {
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
