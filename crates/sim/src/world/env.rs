//! What every place of a world shares: time, alarms, events, and the packets on their way.

use crate::context::{Blocks, Context, Counts, Output};
use crate::engine::Agenda;
use crate::event::{Place, Sink};
use crate::packet::{EcnField, Packet, PacketId};
use crate::transport::packet::{Kind, Packet as Segment};
use crate::units::Time;

/// The packets on their way and what they stand for, by identity: a place in a list and how often that
/// has been used. A packet from outside stands for a segment of its flow whose number is the tag.
#[derive(Debug, Default)]
pub struct Flying {
    segments: Vec<Segment>,
    uses: Vec<u32>,
    free: Vec<u32>,
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
            self.uses.push(0);
            self.segments.len() as u32 - 1
        };
        let uses = &mut self.uses[place as usize];
        *uses = uses.wrapping_add(1);
        PacketId(u64::from(*uses) << 32 | u64::from(place))
    }

    /// Puts a simulated packet on its way.
    #[inline]
    pub fn launch(&mut self, segment: &Segment) -> Packet {
        let ecn = match (segment.ecn.capable, segment.ecn.experienced) {
            (_, true) => EcnField::Ce,
            (true, false) => EcnField::Ect0,
            (false, false) => EcnField::NotEct,
        };
        Packet { id: self.add(segment), size: segment.size, flow_hash: segment.flow, ecn }
    }

    /// Puts a real packet on its way: `packet` with an identity.
    pub fn launch_external(&mut self, flow: u32, tag: u64, packet: Packet) -> Packet {
        let segment = Segment { size: packet.size, seq: tag, ..Segment::control(flow, Kind::Segment) };
        Packet { id: self.add(&segment), ..packet }
    }

    /// The flow of a packet.
    #[inline]
    pub fn flow(&self, packet: &Packet) -> u32 {
        self.segments[packet.id.0 as u32 as usize].flow
    }

    /// What a packet stands for, marked as the packet is.
    #[inline]
    pub fn look(&self, packet: &Packet) -> Segment {
        let mut segment = self.segments[packet.id.0 as u32 as usize];
        segment.ecn.experienced = packet.ecn == EcnField::Ce;
        segment
    }

    /// Takes a packet from its way.
    #[inline]
    pub fn land(&mut self, packet: &Packet) -> Segment {
        debug_assert_eq!(self.uses[packet.id.0 as u32 as usize], (packet.id.0 >> 32) as u32, "it lands once");
        self.free.push(packet.id.0 as u32);
        self.look(packet)
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
        self.context_of_users(place, counts, &mut [])
    }

    /// The same where users' blocks are counted too.
    #[inline]
    pub fn context_of_users<'a>(
        &'a mut self,
        place: Place,
        counts: &'a mut Counts,
        of_users: &'a mut [Blocks],
    ) -> Context<'a> {
        let Self { now, horizon, agenda, sink, out, .. } = self;
        Context {
            now: *now,
            horizon: *horizon,
            place,
            stamps: &mut agenda.stamps,
            sink,
            out,
            counts,
            of_users,
        }
    }
}
