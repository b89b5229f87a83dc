use nodeb_base::event::Site;
use nodeb_base::packet::Packet;
use nodeb_tcp::segment::Kind;

use super::World;
use super::connection_timers::Timer;
use super::control::Listener;
use super::env::Contents;
use super::hop::Port;

impl<T: Listener> World<T> {
    /// To the proxy, if one handles it, or to the next link.
    pub(super) fn reach_gateway(&mut self, packet: Packet) {
        if !self.is_for_proxy(&packet) {
            return self.enter_down(packet, 1);
        }
        let flow = self.receive(Site::Proxy, &packet);
        if let Contents::Segment(segment) = self.env.in_flight.land(&packet)
            && let Some(proxy) = &mut self.flows[flow].proxy
        {
            proxy.on_segment(self.env.common.now, segment, &mut self.relayed);
        }
        self.after_proxy(flow);
    }

    /// To the proxy, if one handles it, or to the link to the server.
    pub(super) fn reach_gateway_from_phone(&mut self, packet: Packet) {
        if !self.is_for_proxy(&packet) {
            return self.send_to_server(packet);
        }
        let flow = self.receive(Site::Proxy, &packet);
        if let &Contents::Segment(segment) = self.env.in_flight.land(&packet) {
            let state = &mut self.flows[flow];
            if let Some(proxy) = &mut state.proxy {
                proxy.on_packet_of_phone(self.env.common.now, &segment, &mut self.relayed);
            }
            if segment.kind != Kind::Ack {
                state.requester(&mut self.env, |requester| requester.on_request(segment.kind));
            }
        }
        self.after_proxy(flow);
    }

    /// Simulated TCP only.
    fn is_for_proxy(&mut self, packet: &Packet) -> bool {
        self.has_proxy && self.env.in_flight.segment(packet).is_some()
    }

    fn send_to_server(&mut self, packet: Packet) {
        self.enter(Port { hop: self.hops.up[0], user: 0 }, packet);
    }

    pub(super) fn proxy_timer(&mut self, flow: u32) {
        if let Some(proxy) = &mut self.flows[flow].proxy {
            proxy.on_timer(self.env.now, &mut self.relayed);
        }
        self.after_proxy(flow);
    }

    pub(super) fn after_proxy(&mut self, flow: u32) {
        let state = &mut self.flows[flow];
        if let Some(proxy) = &state.proxy {
            state.timers.keep(&mut self.env, Timer::Proxy, proxy.timer());
        }
        let progress = state.air_sender().progress();
        self.after_air_sender(flow, progress);
        let mut relayed = std::mem::take(&mut self.relayed);
        for segment in &relayed.down {
            let packet = self.launch(Site::Proxy, segment);
            self.enter_down(packet, 1);
        }
        for segment in &relayed.up {
            let packet = self.launch(Site::Proxy, segment);
            self.send_to_server(packet);
        }
        relayed.down.clear();
        relayed.up.clear();
        self.relayed = relayed;
        self.emit_send_limit(Site::Proxy, flow);
    }
}
