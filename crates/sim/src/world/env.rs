//! What every place of a world shares: time, alarms, events, and the packets on their way.

use crate::context::{Context, Counts, Output};
use crate::engine::Agenda;
use crate::event::{Place, Sink};
use crate::packet::{EcnField, Packet, PacketId};
use crate::transport::packet::Packet as Segment;
use crate::units::Time;

/// What a packet on its way stands for.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// A simulated segment or ACK.
    Segment(Segment),
    /// What a real host has sent, known by the tag that it was given.
    External { flow: u32, tag: u64 },
}

/// The packets on their way, by identity: a place in a list and how often that has been used.
#[derive(Debug, Default)]
pub struct Flying {
    loads: Vec<(u32, Option<Load>)>,
    free: Vec<u32>,
}

impl Flying {
    /// Packets on their way.
    pub fn len(&self) -> usize {
        self.loads.len() - self.free.len()
    }

    fn add(&mut self, load: Load) -> PacketId {
        let place = self.free.pop().unwrap_or_else(|| {
            self.loads.push((0, None));
            self.loads.len() as u32 - 1
        });
        let (uses, held) = &mut self.loads[place as usize];
        *uses = uses.wrapping_add(1);
        *held = Some(load);
        PacketId(u64::from(*uses) << 32 | u64::from(place))
    }

    /// Puts a simulated packet on its way.
    pub fn launch(&mut self, segment: &Segment) -> Packet {
        let ecn = match (segment.ecn.capable, segment.ecn.experienced) {
            (_, true) => EcnField::Ce,
            (true, false) => EcnField::Ect0,
            (false, false) => EcnField::NotEct,
        };
        let id = self.add(Load::Segment(*segment));
        Packet { id, size: segment.size, flow_hash: segment.flow, ecn }
    }

    /// Puts a real packet on its way: `packet` with an identity.
    pub fn launch_external(&mut self, flow: u32, tag: u64, packet: Packet) -> Packet {
        Packet { id: self.add(Load::External { flow, tag }), ..packet }
    }

    /// What a packet stands for, marked as the packet is.
    pub fn look(&self, packet: &Packet) -> Load {
        let (_, held) = &self.loads[packet.id.0 as u32 as usize];
        marked(held.expect("a packet on its way"), packet)
    }

    /// The flow of a packet.
    pub fn flow(&self, packet: &Packet) -> u32 {
        match self.loads[packet.id.0 as u32 as usize].1 {
            Some(Load::Segment(Segment { flow, .. }) | Load::External { flow, .. }) => flow,
            None => unreachable!("a packet on its way"),
        }
    }

    /// Takes a packet from its way.
    pub fn land(&mut self, packet: &Packet) -> Load {
        let place = packet.id.0 as u32;
        let load = self.loads[place as usize].1.take().expect("a packet on its way");
        self.free.push(place);
        marked(load, packet)
    }
}

fn marked(load: Load, packet: &Packet) -> Load {
    match load {
        Load::Segment(mut segment) => {
            segment.ecn.experienced = packet.ecn == EcnField::Ce;
            Load::Segment(segment)
        }
        external @ Load::External { .. } => external,
    }
}

/// What every place shares.
#[derive(Debug)]
pub struct Env {
    pub now: Time,
    /// The end of the run.
    pub horizon: Time,
    pub agenda: Agenda,
    pub sink: Sink,
    /// What has come out of the place that was at work.
    pub out: Vec<Output>,
    pub flying: Flying,
}

impl Env {
    /// The context of a place that counts in `counts`.
    #[inline]
    pub fn context<'a>(&'a mut self, place: Place, counts: &'a mut Counts) -> Context<'a> {
        let Self { now, horizon, agenda, sink, out, .. } = self;
        Context { now: *now, horizon: *horizon, place, stamps: &mut agenda.stamps, sink, out, counts }
    }
}
