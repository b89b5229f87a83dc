//! The links of the fixed network in a row: link 0 between server and gateway, the core network's from there to
//! the Node B.
//!
//! Where a packet that leaves a link can only enter the next one, and nothing else enters that, it enters the next
//! one at once, ahead of its time: its arrival behind all of them is one event. What happens does not change, but where
//! two events are simultaneous and were decided at the same time, their order cannot always be known ahead. Where that
//! occurs the run begins anew, one step after the other.

use nodeb_base::engine::Key;
use nodeb_base::event::Mask;
use nodeb_base::packet::Packet;

use super::World;
use super::bearer::HostedBearer;
use super::control::Listener;

/// What must be reported in order of time, packet by packet and place by place.
const STEPWISE: Mask = Mask::PACKETS.or(Mask::PLACES).or(Mask::SERVICE);

impl<T: Listener> World<T> {
    /// Finds the links whose arrivals are known ahead of time, and those of them that lead on to another one. The run
    /// must not be asked how it stands before it ends.
    pub(super) fn look_ahead(&mut self) {
        if self.env.sink.wants(STEPWISE) || self.flows.0.iter().any(Option::is_none) {
            return;
        }
        let down: Vec<bool> = self.links.iter_mut().map(|link| link.down.link.look_ahead()).collect();
        let up: Vec<bool> = self.links.iter_mut().map(|link| link.up.link.look_ahead()).collect();
        let uplinks: Vec<bool> = self.phones.iter_mut().map(|phone| phone.uplink.link.look_ahead()).collect();
        // Where backlogs are asked for, or an agent sends as well, bearers take packets when they come.
        let is_metered = self.flows.iter().any(|flow| flow.meter.is_some());
        let is_plain = !is_metered && !self.has_snoop && !self.env.sink.wants(Mask::QUEUE);
        if is_plain {
            self.bearers.iter_mut().for_each(HostedBearer::look_ahead);
        }
        let bearers = self.bearers.iter().all(|air| air.looks_ahead);
        let last = self.links.len() - 1;
        for (at, link) in self.links.iter_mut().enumerate() {
            let next = if at == last { bearers } else { down[at + 1] };
            link.down.leads_on = down[at] && next && !(self.has_proxy && at == 0);
            link.up.leads_on = at > 0 && up[at] && up[at - 1] && !(self.has_proxy && at == 1);
        }
        let has_agent = self.has_snoop || (self.has_proxy && last == 0);
        if let [phone] = &mut self.phones[..] {
            phone.uplink.leads_on = uplinks[0] && up[last] && !has_agent;
        }
    }

    /// A packet for a phone comes to the link of position `at`, or to the Node B behind the last one.
    pub(super) fn enter_down(&mut self, packet: Packet, mut at: usize) {
        let mut entry = self.env.handled();
        while let Some(link) = self.links.get_mut(at) {
            if !link.down.leads_on {
                return link.down.accept(&mut self.env, packet, entry);
            }
            let Some(arrival) = link.down.enter(&mut self.env, &packet, entry) else {
                return;
            };
            (entry, at) = (arrival, at + 1);
        }
        self.reach_node_b(packet, entry);
    }

    pub(super) fn wake_down(&mut self, key: Key, at: usize) {
        let packet = self.links[at].down.wake(&mut self.env, key);
        if let Some(packet) = packet {
            if at == 0 { self.reach_gateway(packet) } else { self.enter_down(packet, at + 1) }
        }
    }

    /// A packet of a phone comes under `entry` from the Node B, or from the link behind. `left` is the number of links
    /// still ahead of it.
    pub(super) fn enter_up(&mut self, packet: Packet, mut entry: Key, mut left: usize) {
        while let Some(at) = left.checked_sub(1) {
            if at == 0 && self.has_proxy {
                return self.reach_gateway_from_phone(packet);
            }
            let link = &mut self.links[at].up;
            if !link.leads_on {
                return link.accept(&mut self.env, packet, entry);
            }
            let Some(arrival) = link.enter(&mut self.env, &packet, entry) else {
                return;
            };
            (entry, left) = (arrival, at);
        }
    }

    pub(super) fn wake_up(&mut self, key: Key, at: usize) {
        let packet = self.links[at].up.wake(&mut self.env, key);
        match packet {
            Some(packet) if at == 0 => self.reach_server(&packet),
            Some(packet) => self.enter_up(packet, key, at),
            None => {}
        }
    }
}
