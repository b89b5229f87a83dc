//! The Node B: bearers towards the phones, and a Snoop agent where there is one.

use super::World;
use super::control::Listener;
use super::timers::Timer;
use crate::context::Output;
use crate::engine::Key;
use crate::event::{Clock, Site};
use crate::packet::Packet;

impl<T: Listener> World<T> {
    /// A packet for a phone comes under `entry` to the Node B, or to the RNC before it.
    pub(super) fn reach_node_b(&mut self, packet: Packet, entry: Key) {
        let flow = self.env.flying.flow(&packet);
        let snooped = self.has_snoop.then(|| *self.env.flying.look(&packet));
        let taken = self.send_over_air(flow, packet, entry);
        // What an RNC has no room for never comes to the agent; what a Node B has none for, does.
        if let Some(segment) = snooped
            && (taken || !self.waits_at_rnc)
            && let state = &mut self.flows[flow as usize]
            && let Some(snoop) = &mut state.snoop
        {
            snoop.on_segment(self.env.now, &segment);
            state.timers.keep(&mut self.env, Timer::Snoop, snoop.timer());
        }
    }

    fn send_over_air(&mut self, flow: u32, packet: Packet, entry: Key) -> bool {
        let state = &self.flows[flow as usize];
        let (index, position) = (state.bearer, state.position);
        let air = &mut self.bearers[index as usize];
        if air.is_foreseen {
            return self.enter_bearer_link(index, packet, entry);
        }
        let (bearer, mut ctx) = air.at_work(&mut self.env);
        let taken = bearer.accept(&mut ctx, position, packet);
        self.env.agenda.set(air.alarm, air.bearer.next_wake());
        self.take_outputs(index);
        if taken {
            self.tell_queue(flow);
        }
        taken
    }

    fn enter_bearer_link(&mut self, index: u32, packet: Packet, entry: Key) -> bool {
        let air = &mut self.bearers[index as usize];
        let (bearer, mut ctx) = air.at_work(&mut self.env);
        let arrival = bearer.as_link().and_then(|link| link.enter(&mut ctx, &packet, entry));
        let Some(arrival) = arrival else {
            self.drop_lost();
            return false;
        };
        if !self.to_phones.append(&mut self.env, arrival, packet)
            && air.bearer.as_link().is_some_and(|link| link.deliver(arrival, packet))
        {
            self.env.agenda.set(air.alarm, Some(arrival));
        }
        true
    }

    /// The next packet reaches its phone of those that came over links whose arrivals are known ahead of time.
    pub(super) fn wake_to_phones(&mut self) {
        if let Some(packet) = self.to_phones.arrive(&mut self.env) {
            let bearer = self.flows[self.env.flying.flow(&packet) as usize].bearer;
            self.bearers[bearer as usize].at_work(&mut self.env).1.pass(&packet);
            self.reach_phone(&packet);
        }
    }

    pub(super) fn wake_bearer(&mut self, key: Key, index: u32) {
        let air = &mut self.bearers[index as usize];
        let (bearer, mut ctx) = air.at_work(&mut self.env);
        bearer.wake(&mut ctx, key);
        self.env.agenda.set(air.alarm, air.bearer.next_wake());
        self.take_outputs(index);
    }

    /// The CQI that the Node B has of a user now, where the radio has one.
    pub(super) fn cqi(&mut self, flow: u32) -> Option<f32> {
        let state = &self.flows[flow as usize];
        let (index, position) = (state.bearer, state.position);
        let air = &mut self.bearers[index as usize];
        let (bearer, mut ctx) = air.at_work(&mut self.env);
        let cqi = bearer.cqi(&mut ctx, position);
        self.env.agenda.set(air.alarm, air.bearer.next_wake());
        self.take_outputs(index);
        cqi
    }

    /// What has come out of a bearer goes on: first users change cells and losses are known, then packets
    /// reach their phones.
    #[inline]
    fn take_outputs(&mut self, bearer: u32) {
        match self.env.out[..] {
            [] => {}
            // Nearly always it is one packet.
            [Output::Arrived { packet, .. }] => {
                self.env.out.clear();
                self.reach_phone(&packet);
            }
            _ => self.take_all_outputs(bearer),
        }
    }

    fn take_all_outputs(&mut self, bearer: u32) {
        let mut out = std::mem::take(&mut self.env.out);
        for output in &out {
            match output {
                Output::CellChanged { user } => self.leave_snoop(bearer, *user),
                Output::Lost { packet, cause, .. } => self.lose(packet, *cause),
                Output::Arrived { .. } => {}
            }
        }
        for output in out.drain(..) {
            if let Output::Arrived { packet, .. } = output {
                self.reach_phone(&packet);
            }
        }
        self.env.out = out;
    }

    /// A user has left the Node B in which its agent stands.
    fn leave_snoop(&mut self, bearer: u32, user: usize) {
        let flow = self.bearers[bearer as usize].flows[user];
        let state = &mut self.flows[flow as usize];
        if let Some(snoop) = &mut state.snoop {
            snoop.forget();
            state.timers.keep(&mut self.env, Timer::Snoop, snoop.timer());
        }
    }

    pub(super) fn wake_uplink(&mut self, key: Key, flow: u32) {
        let arrived = self.flows[flow as usize].uplink.wake(&mut self.env, key);
        self.drop_lost();
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
        let Some(snoop) = &mut self.flows[flow as usize].snoop else {
            return true;
        };
        let now = self.env.now;
        let goes_on = snoop.on_ack(now, self.env.flying.look(packet), &mut self.again);
        self.after_snoop(flow);
        if !goes_on {
            self.receive(Site::Snoop, packet);
            self.env.flying.land(packet);
        }
        goes_on
    }

    /// A bearer makes good what it has put off, before an agent goes by what it knows: its user may have
    /// left the Node B in which the agent stands.
    fn settle_bearer(&mut self, flow: u32) {
        let index = self.flows[flow as usize].bearer;
        let air = &mut self.bearers[index as usize];
        let (bearer, mut ctx) = air.at_work(&mut self.env);
        bearer.settle(&mut ctx);
        self.env.agenda.set(air.alarm, air.bearer.next_wake());
        self.take_outputs(index);
    }

    pub(super) fn snoop_timer(&mut self, flow: u32) {
        self.settle_bearer(flow);
        self.tell_clock(Site::Snoop, flow, Clock::Snoop);
        if let Some(snoop) = &mut self.flows[flow as usize].snoop {
            snoop.on_timer(self.env.now, &mut self.again);
        }
        self.after_snoop(flow);
    }

    /// Sends what a Snoop agent sends again and keeps its timer.
    fn after_snoop(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        if let Some(snoop) = &state.snoop {
            state.timers.keep(&mut self.env, Timer::Snoop, snoop.timer());
            let now = self.env.handled();
            let mut again = std::mem::take(&mut self.again);
            for segment in &again {
                let packet = self.launch(Site::Snoop, segment);
                self.send_over_air(flow, packet, now);
            }
            again.clear();
            self.again = again;
        }
    }
}
