//! What a world tells its listeners, beyond what links and bearers tell themselves.

use super::World;
use super::control::Listener;
use crate::context::Output;
use crate::error::Result;
use crate::event::{Event, Mask, Place, Purpose, Site};
use crate::packet::Packet;
use crate::transport::packet::{Kind, Packet as Segment};

fn purpose(kind: Kind) -> Purpose {
    match kind {
        Kind::Connect => Purpose::Connect,
        Kind::Request => Purpose::Request,
        Kind::Segment => Purpose::Data,
        Kind::Ack => Purpose::Ack,
    }
}

impl<T: Listener> World<T> {
    /// Hands on what has been told since.
    #[inline]
    pub(super) fn hand_on(&mut self) -> Result<()> {
        if self.env.sink.is_empty() {
            return Ok(());
        }
        for (at, event) in self.env.sink.drain() {
            self.recorder.hear(at, &event, None)?;
            if self.listener.mask().has(event.class()) {
                self.listener.hear(at, &event, None)?;
            }
        }
        Ok(())
    }

    /// Tells of a packet and what it stands for.
    #[cold]
    fn tell(&mut self, event: &Event, segment: Option<&Segment>) -> Result<()> {
        self.hand_on()?;
        self.recorder.hear(self.env.now, event, segment)?;
        if self.listener.mask().has(event.class()) {
            self.listener.hear(self.env.now, event, segment)?;
        }
        Ok(())
    }

    /// Puts a segment on its way from a place.
    #[inline]
    pub(super) fn launch(&mut self, site: Site, segment: &Segment) -> Result<Packet> {
        let packet = self.env.flying.launch(segment);
        if self.env.sink.wants(Mask::PACKETS) {
            let &Segment { flow, kind, size, seq, retransmission: again, .. } = segment;
            let place = Place::new(site, flow);
            let (packet, purpose) = (packet.id, purpose(kind));
            self.tell(&Event::Sent { place, packet, flow, purpose, size, seq, again }, Some(segment))?;
        }
        Ok(packet)
    }

    /// A packet has come to the end of its way.
    #[inline]
    pub(super) fn land(&mut self, site: Site, packet: &Packet) -> Result<Segment> {
        let segment = self.env.flying.land(packet);
        if self.env.sink.wants(Mask::PACKETS) {
            let event = Event::Received { place: Place::new(site, segment.flow), packet: packet.id };
            let is_simulated = !self.flows[segment.flow as usize].is_external;
            self.tell(&event, is_simulated.then_some(&segment))?;
        }
        Ok(segment)
    }

    /// The packet that has come out of the link that was at work, if one has; what was lost in it is
    /// taken from its way.
    #[inline]
    pub(super) fn take_arrival(&mut self) -> Option<Packet> {
        let mut arrived = None;
        while let Some(output) = self.env.out.pop() {
            match output {
                Output::Arrived { packet, .. } => arrived = Some(packet),
                Output::Lost { packet, .. } => self.lose(&packet),
                Output::CellChanged { .. } => {}
            }
        }
        arrived
    }

    /// What was lost in the link that was at work is taken from its way.
    #[inline]
    pub(super) fn drop_lost(&mut self) {
        if !self.env.out.is_empty() {
            let arrived = self.take_arrival();
            debug_assert!(arrived.is_none(), "nothing arrives when a packet is taken");
        }
    }

    /// A packet is lost.
    pub(super) fn lose(&mut self, packet: &Packet) {
        let Segment { flow, seq: tag, .. } = self.env.flying.land(packet);
        if self.flows[flow as usize].is_external {
            self.external.lost(self.env.now, flow, tag, packet);
        }
    }

    /// Tells of a user's backlog at its bearer.
    #[inline]
    pub(super) fn tell_queue(&mut self, flow: u32) {
        if self.env.sink.wants(Mask::QUEUE) {
            let state = &self.flows[flow as usize];
            let (bearer, user) = (state.bearer, state.position);
            let backlog = self.bearers[bearer as usize].bearer.backlog(user);
            let (packets, bytes) = (backlog.packets as u32, backlog.bytes);
            self.env.sink.emit(self.env.now, Event::Queue { bearer, user: user as u32, packets, bytes });
        }
    }

    /// Tells what the sender that faces a phone has measured and decided.
    #[inline]
    pub(super) fn tell_sender(&mut self, flow: u32) {
        let (now, sink) = (self.env.now, &mut self.env.sink);
        let state = &mut self.flows[flow as usize];
        if sink.wants(Mask::ROUND_TRIPS)
            && let Some(rtt) = state.air_sender_mut().take_rtt_sample()
        {
            sink.emit(now, Event::RoundTrip { flow, rtt });
        }
        if sink.wants(Mask::WINDOW) {
            let window = state.air_sender().window();
            if state.told.replace(window) != Some(window) {
                sink.emit(now, Event::Window { flow, cwnd: window.cwnd, ssthresh: window.ssthresh });
            }
        }
    }
}
