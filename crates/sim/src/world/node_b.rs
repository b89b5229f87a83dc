//! The Node B: bearers towards the phones, and a Snoop agent where there is one.

use nodeb_base::engine::Key;
use nodeb_base::event::{Clock, Site};
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;
use nodeb_tcp::segment::Segment;

use super::World;
use super::control::Listener;
use super::flow::Phone;
use crate::proxy::snoop::SnoopAgent;

impl<T: Listener> World<T> {
    /// A packet for a phone comes under `entry` to the Node B, or to the RNC before it.
    pub(super) fn reach_node_b(&mut self, packet: Packet, entry: Key) {
        let flow = self.env.flying.flow(&packet);
        let snooped = if self.has_snoop { self.env.flying.segment(&packet).copied() } else { None };
        let taken = self.send_over_air(flow, packet, entry);
        // What an RNC has no room for never comes to the agent; what a Node B has none for, does.
        if let Some(segment) = snooped
            && (taken || !self.waits_at_rnc)
        {
            self.flows[flow].snoop(&mut self.env, |snoop, now| snoop.on_segment(now, &segment));
        }
    }

    fn send_over_air(&mut self, flow: u32, packet: Packet, entry: Key) -> bool {
        let Phone { bearer, position, .. } = self.phones[flow as usize];
        if self.bearers[bearer as usize].looks_ahead {
            return self.enter_bearer_link(bearer, packet, entry);
        }
        let taken = self.work_bearer(bearer, |bearer, ctx| bearer.accept(ctx, position, packet));
        if taken {
            self.emit_queue(flow);
        }
        taken
    }

    fn enter_bearer_link(&mut self, index: u32, packet: Packet, entry: Key) -> bool {
        let air = &mut self.bearers[index as usize];
        let Some(arrival) = air.enter(&mut self.env, &packet, entry) else {
            return false;
        };
        if !self.to_phones.append(&mut self.env, arrival, packet) {
            air.deliver(&mut self.env, arrival, packet);
        }
        true
    }

    /// The next packet reaches its phone of those that came over links whose arrivals are known ahead of time.
    pub(super) fn wake_to_phones(&mut self) {
        if let Some(packet) = self.to_phones.arrive(&mut self.env) {
            let bearer = self.phones[self.env.flying.flow(&packet) as usize].bearer;
            self.bearers[bearer as usize].pass(&mut self.env, &packet);
            self.reach_phone(&packet);
        }
    }

    pub(super) fn wake_bearer(&mut self, key: Key, index: u32) {
        self.work_bearer(index, |bearer, ctx| bearer.wake(ctx, key));
    }

    /// The CQI that the Node B has of a user now, where the radio has one.
    pub(super) fn cqi(&mut self, flow: u32) -> Option<f32> {
        let Phone { bearer, position, .. } = self.phones[flow as usize];
        self.work_bearer(bearer, |bearer, ctx| bearer.cqi(ctx, position))
    }

    /// A user has left the Node B in which its agent stands.
    pub(super) fn leave_snoop(&mut self, bearer: u32, user: usize) {
        let number = self.bearers[bearer as usize].users[user];
        if let Some(flow) = self.flows.of(number) {
            flow.snoop(&mut self.env, |snoop, _| snoop.forget());
        }
    }

    pub(super) fn wake_uplink(&mut self, key: Key, flow: u32) {
        let arrived = self.phones[flow as usize].uplink.wake(&mut self.env, key);
        if let Some(packet) = arrived {
            self.leave_uplink(key, flow, packet);
        }
    }

    /// The next packet arrives of those that came over uplinks whose arrivals are known ahead of time.
    pub(super) fn wake_from_phones(&mut self, key: Key) {
        if let Some(packet) = self.from_phones.arrive(&mut self.env) {
            self.leave_uplink(key, self.env.flying.flow(&packet), packet);
        }
    }

    fn leave_uplink(&mut self, key: Key, flow: u32, packet: Packet) {
        if !self.has_snoop || self.passes_snoop(flow, &packet) {
            self.enter_up(packet, key, self.links.len());
        }
    }

    /// A packet of a phone comes to where its agent stands; whether it goes on from there.
    fn passes_snoop(&mut self, flow: u32, packet: &Packet) -> bool {
        self.settle_bearer(flow);
        let Some(&segment) = self.env.flying.segment(packet) else {
            return true;
        };
        let goes_on =
            self.snoop(flow, |snoop, now, again| snoop.on_ack(now, &segment, again)).unwrap_or(true);
        if !goes_on {
            self.receive(Site::Snoop, packet);
            self.env.flying.land(packet);
        }
        goes_on
    }

    /// A bearer makes good what it has put off, before an agent goes by what it knows: its user may have
    /// left the Node B in which the agent stands.
    fn settle_bearer(&mut self, flow: u32) {
        self.work_bearer(self.phones[flow as usize].bearer, |bearer, ctx| bearer.settle(ctx));
    }

    pub(super) fn snoop_timer(&mut self, flow: u32) {
        self.settle_bearer(flow);
        self.emit_timer(Site::Snoop, flow, Clock::Snoop);
        self.snoop(flow, SnoopAgent::on_timer);
    }

    /// Lets a Snoop agent do something, keeps its timer, and sends what it sends again.
    fn snoop<R>(
        &mut self,
        flow: u32,
        act: impl FnOnce(&mut SnoopAgent, Time, &mut Vec<Segment>) -> R,
    ) -> Option<R> {
        let mut again = std::mem::take(&mut self.again);
        let result = self.flows[flow].snoop(&mut self.env, |snoop, now| act(snoop, now, &mut again));
        let now = self.env.handled();
        for segment in &again {
            let packet = self.launch(Site::Snoop, segment);
            self.send_over_air(flow, packet, now);
        }
        again.clear();
        self.again = again;
        result
    }
}
