use nodeb_base::event::Site;
use nodeb_base::packet::Packet;
use nodeb_tcp::segment::{Kind, Segment};

use super::World;
use super::control::Listener;
use super::env::Contents;
use super::hop::Port;
use crate::scenario::Direction;

impl<T: Listener> World<T> {
    /// Repeated by the requester until it has reached the server or the proxy.
    pub(super) fn send_request(&mut self, packet: Segment) {
        let now = self.env.now;
        let request =
            self.flows[packet.flow].requester(&mut self.env, |requester| requester.start(now, packet));
        self.send_up(&request);
    }

    pub(super) fn repeat_request(&mut self, flow: u32) {
        let now = self.env.now;
        if let Some(request) = self.flows[flow].requester(&mut self.env, |requester| requester.on_timer(now))
        {
            self.send_up(&request);
        }
    }

    #[inline]
    pub(super) fn send_up(&mut self, segment: &Segment) {
        let packet = self.launch(Site::Phone, segment);
        self.enter_uplink(segment.flow, packet);
    }

    pub(super) fn enter_uplink(&mut self, flow: u32, mut packet: Packet) {
        if self.phones_sleep {
            let Port { hop, user } = self.phone_of(flow).down;
            self.with_hop(hop, |bearer, ctx| bearer.on_uplink(ctx, user));
        }
        self.set_bearer(flow, &mut packet);
        self.enter(self.phone_of(flow).up, packet);
    }

    pub(super) fn reach_phone(&mut self, packet: &Packet) {
        let flow = self.receive(Site::Phone, packet);
        self.emit_queue(flow);
        let segment = match self.env.in_flight.land(packet) {
            Contents::Segment(segment) => segment,
            &Contents::External { tag, .. } => {
                return self.env.external.arrived(self.env.common.now, Direction::Down, flow, tag, packet);
            }
        };
        let state = &mut self.flows[flow];
        if segment.kind == Kind::Ack {
            let ack = *segment;
            return self.receive_upload_ack(flow, &ack);
        }
        let ack = state.on_data(&mut self.env.common, flow, segment);
        let first_request = state.first_request.take();
        self.after_receiver(flow, ack);
        if let Some(bytes) = first_request {
            let request = self.flows[flow].receiver.request(self.env.now, bytes);
            self.send_request(request);
        }
    }

    // Not inlined, so that a packet of a download costs only one additional comparison.
    #[inline(never)]
    fn receive_upload_ack(&mut self, flow: u32, ack: &Segment) {
        self.flows[flow].sender.on_ack(self.env.common.now, ack, &mut self.outbox);
        self.after_sender(flow);
    }
}
