//! Link 0 is between server and gateway, then those of the core network to the Node B. A chain's arrivals are
//! computed as soon as a packet enters its first link, if nothing else enters the others: only the arrival at
//! the end is an event. This changes no result but the number of events.

use nodeb_base::engine::Instant;
use nodeb_base::event::Mask;
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::World;
use super::bearer::HostedBearer;
use super::control::Listener;

/// They report each packet at each link in the order of time.
const STEPWISE: Mask = Mask::PACKETS.or(Mask::PLACES).or(Mask::SERVICE);

impl<T: Listener> World<T> {
    /// Snapshots must not be taken in such a run, as the queues of links are ahead of the current time.
    pub(super) fn look_ahead(&mut self) {
        if self.env.sink.wants(STEPWISE) || self.flows.0.iter().any(Option::is_none) {
            return;
        }
        let down: Vec<bool> = self.links.iter_mut().map(|link| link.down.link.look_ahead()).collect();
        let up: Vec<bool> = self.links.iter_mut().map(|link| link.up.link.look_ahead()).collect();
        self.phones.iter_mut().for_each(|phone| {
            phone.uplink.link.look_ahead();
        });
        // A bearer takes packets ahead of time only if no component reads its backlog (as meters and queue
        // events do) and no Snoop agent sends packets into it.
        let is_metered = self.flows.iter().any(|flow| flow.meter.is_some());
        let is_plain = !is_metered && !self.has_snoop && !self.env.sink.wants(Mask::QUEUE);
        if is_plain {
            self.bearers.iter_mut().for_each(HostedBearer::look_ahead);
        }
        let bearer = matches!(&self.bearers[..], [air] if air.looks_ahead);
        let last = self.links.len() - 1;
        for (at, link) in self.links.iter_mut().enumerate() {
            let next = if at == last { bearer } else { down[at + 1] };
            link.down.leads_on = down[at] && next && !(self.has_proxy && at == 0);
            link.up.leads_on = at > 0 && up[at] && up[at - 1] && !(self.has_proxy && at == 1);
        }
        let has_agent = self.has_snoop || (self.has_proxy && last == 0);
        if let [phone] = &mut self.phones[..] {
            phone.uplink.leads_on = phone.uplink.link.looks_ahead() && up[last] && !has_agent;
        }
    }

    /// To the Node B if there is no link `at`.
    pub(super) fn enter_down(&mut self, packet: Packet, mut at: usize) {
        let mut entry = self.env.now;
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

    pub(super) fn wake_down(&mut self, instant: Instant, at: usize) {
        let packet = self.links[at].down.wake(&mut self.env, instant);
        if let Some(packet) = packet {
            if at == 0 { self.reach_gateway(packet) } else { self.enter_down(packet, at + 1) }
        }
    }

    /// To the proxy if it has reached the gateway; it enters at `entry`, with `left` links to pass.
    pub(super) fn enter_up(&mut self, packet: Packet, mut entry: Time, mut left: usize) {
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

    pub(super) fn wake_up(&mut self, instant: Instant, at: usize) {
        let packet = self.links[at].up.wake(&mut self.env, instant);
        match packet {
            Some(packet) if at == 0 => self.reach_server(&packet),
            Some(packet) => self.enter_up(packet, self.env.now, at),
            None => {}
        }
    }
}
