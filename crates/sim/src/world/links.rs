//! The links of the fixed network: link 0 between server and gateway, then the links of the core network from the
//! gateway to the Node B.
//!
//! Links form a chain if packets that leave a link enter only the next link, and no other packets enter that
//! link. The world computes the arrivals at all links of a chain as soon as a packet enters the first one.
//! Only the arrival at the end of the chain is an event. This look-ahead changes no result but the number of
//! events, with one exception: it cannot always determine the order of two events that happen at the same
//! time and were scheduled at the same time. If such a case occurs, the run starts over without look-ahead.

use nodeb_base::engine::Key;
use nodeb_base::event::Mask;
use nodeb_base::packet::Packet;

use super::World;
use super::bearer::HostedBearer;
use super::control::Listener;

/// Classes of events that exclude look-ahead, as they report each packet at each link in the order of time.
const STEPWISE: Mask = Mask::PACKETS.or(Mask::PLACES).or(Mask::SERVICE);

impl<T: Listener> World<T> {
    /// Determines the links whose arrivals can be computed ahead of time, and the links whose packets enter the next
    /// link in the same computation. The caller must not take snapshots in a run with look-ahead, as the queues of
    /// links are then ahead of the current time.
    pub(super) fn look_ahead(&mut self) {
        if self.env.sink.wants(STEPWISE) || self.flows.0.iter().any(Option::is_none) {
            return;
        }
        let down: Vec<bool> = self.links.iter_mut().map(|link| link.down.link.look_ahead()).collect();
        let up: Vec<bool> = self.links.iter_mut().map(|link| link.up.link.look_ahead()).collect();
        let uplinks: Vec<bool> = self.phones.iter_mut().map(|phone| phone.uplink.link.look_ahead()).collect();
        // A bearer takes packets ahead of time only if no component reads its backlog (as meters and queue
        // events do) and no Snoop agent sends packets into it.
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

    /// Passes a packet towards a phone to link number `at` of [`World::links`], or to the Node B if there is no such
    /// link.
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

    /// Passes a packet from a phone to the next link towards the server, or to the proxy if the packet has
    /// reached the gateway. The packet enters in the event with the key `entry` (time and stamp). `left` is the
    /// number of links that it still has to pass.
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
