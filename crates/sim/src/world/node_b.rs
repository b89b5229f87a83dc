use nodeb_base::event::{Site, TimerKind};
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;
use nodeb_tcp::segment::Segment;

use super::World;
use super::control::Listener;
use super::hop::Port;
use crate::proxy::snoop::SnoopAgent;

impl<T: Listener> World<T> {
    /// Or the RNC if packets wait there.
    pub(super) fn reach_node_b(&mut self, packet: Packet) {
        let flow = self.env.in_flight.flow(&packet);
        let snooped = if self.has_snoop { self.env.in_flight.segment(&packet).copied() } else { None };
        let is_accepted = self.send_over_air(flow, packet);
        // The Snoop agent is at the Node B. So a packet that the full buffer of the Node B drops passes the
        // agent, but not one that the full buffer of the RNC drops.
        if let Some(segment) = snooped
            && (is_accepted || !self.waits_at_rnc)
        {
            self.flows[flow].snoop(&mut self.env, |snoop, now| snoop.on_segment(now, &segment));
        }
    }

    /// False if the packet is dropped or lost at once.
    fn send_over_air(&mut self, flow: u32, mut packet: Packet) -> bool {
        self.set_bearer(flow, &mut packet);
        let is_accepted = self.enter(self.phone_of(flow).down, packet);
        if is_accepted {
            self.emit_queue(flow);
        }
        is_accepted
    }

    pub(super) fn cqi(&mut self, flow: u32) -> Option<f32> {
        let Port { hop, user } = self.phones[flow as usize].down;
        self.with_hop(hop, |bearer, ctx| bearer.cqi(ctx, user))
    }

    pub(super) fn leave_snoop(&mut self, user: u32) {
        if let Some(flow) = self.flows.of(user) {
            flow.snoop(&mut self.env, |snoop, _| snoop.reset());
        }
    }

    pub(super) fn leave_uplink(&mut self, flow: u32, packet: Packet) {
        if self.has_external && self.env.in_flight.segment(&packet).is_none() {
            self.env.external.up_bytes += u64::from(packet.size);
        }
        if !self.has_snoop || self.passes_snoop(flow, &packet) {
            self.enter_up(packet, self.hops.up.len());
        }
    }

    /// True if the packet must be forwarded.
    fn passes_snoop(&mut self, flow: u32, packet: &Packet) -> bool {
        self.apply_deferred_of(flow);
        let Some(&segment) = self.env.in_flight.segment(packet) else {
            return true;
        };
        let is_forwarded = self
            .snoop(flow, |snoop, now, retransmitted| snoop.on_ack(now, &segment, retransmitted))
            .unwrap_or(true);
        if !is_forwarded {
            self.receive(Site::Snoop, packet);
            self.env.in_flight.land(packet);
        }
        is_forwarded
    }

    /// Must precede every action of the Snoop agent, as an update can be a change of cell, which clears the
    /// agent.
    fn apply_deferred_of(&mut self, flow: u32) {
        self.with_hop(self.phones[flow as usize].down.hop, |bearer, ctx| bearer.apply_deferred(ctx));
    }

    pub(super) fn snoop_timer(&mut self, flow: u32) {
        self.apply_deferred_of(flow);
        self.emit_timer(Site::Snoop, flow, TimerKind::Snoop);
        self.snoop(flow, SnoopAgent::on_timer);
    }

    /// Also transmits the segments that `act` appends; `None` without an agent.
    fn snoop<R>(
        &mut self,
        flow: u32,
        act: impl FnOnce(&mut SnoopAgent, Time, &mut Vec<Segment>) -> R,
    ) -> Option<R> {
        let mut retransmitted = std::mem::take(&mut self.retransmitted);
        let result = self.flows[flow].snoop(&mut self.env, |snoop, now| act(snoop, now, &mut retransmitted));
        for segment in &retransmitted {
            let packet = self.launch(Site::Snoop, segment);
            self.send_over_air(flow, packet);
        }
        retransmitted.clear();
        self.retransmitted = retransmitted;
        result
    }
}
