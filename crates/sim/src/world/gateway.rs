//! The gateway between the server's network and the core network, where a proxy may stand.

use super::World;
use super::control::Listener;
use crate::engine::Key;
use crate::event::Site;
use crate::packet::Packet;
use crate::transport::segment::Kind;

impl<T: Listener> World<T> {
    pub(super) fn wake_wired_down(&mut self, key: Key) {
        let arrived = self.wired.down.wake(&mut self.env, key);
        self.drop_lost();
        let Some(packet) = arrived else {
            return;
        };
        if !self.has_proxy {
            return self.enter_core_down(packet, 0);
        }
        let flow = self.env.flying.flow(&packet);
        if self.flows[flow as usize].proxy.is_none() {
            return self.enter_core_down(packet, 0);
        }
        self.receive(Site::Proxy, &packet);
        if let Some(proxy) = &mut self.flows[flow as usize].proxy {
            let segment = self.env.flying.land(&packet);
            proxy.agent.on_segment(self.env.common.now, segment, &mut self.relayed);
        }
        self.after_proxy(flow);
    }

    /// A packet of a phone has come to the gateway.
    pub(super) fn reach_gateway_from_phone(&mut self, packet: Packet) {
        if !self.has_proxy || self.flows[self.env.flying.flow(&packet) as usize].proxy.is_none() {
            self.wired.up.accept(&mut self.env, packet);
            self.drop_lost();
            return;
        }
        let flow = self.receive(Site::Proxy, &packet);
        let state = &mut self.flows[flow as usize];
        let segment = self.env.flying.land(&packet);
        if let Some(proxy) = &mut state.proxy {
            proxy.agent.on_packet_of_phone(self.env.common.now, segment, &mut self.relayed);
        }
        if segment.kind != Kind::Ack {
            state.requester.hear(segment.kind);
            self.env.keep_time(state.alarms.request_timer, state.requester.timer());
        }
        self.after_proxy(flow);
    }

    pub(super) fn proxy_timer(&mut self, flow: u32) {
        if let Some(proxy) = &mut self.flows[flow as usize].proxy {
            proxy.agent.on_timer(self.env.now, &mut self.relayed);
        }
        self.after_proxy(flow);
    }

    /// Sends what a proxy has put out and keeps its timer.
    pub(super) fn after_proxy(&mut self, flow: u32) {
        if let Some(proxy) = &self.flows[flow as usize].proxy {
            self.env.keep_time(proxy.alarm, proxy.agent.timer());
        }
        self.after_air_sender(flow);
        let mut relayed = std::mem::take(&mut self.relayed);
        for segment in &relayed.down {
            let packet = self.launch(Site::Proxy, segment);
            self.enter_core_down(packet, 0);
        }
        for segment in &relayed.up {
            let packet = self.launch(Site::Proxy, segment);
            self.wired.up.accept(&mut self.env, packet);
            self.drop_lost();
        }
        relayed.down.clear();
        relayed.up.clear();
        self.relayed = relayed;
        self.tell_hold(Site::Proxy, flow);
    }
}
