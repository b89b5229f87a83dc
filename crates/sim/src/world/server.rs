use nodeb_base::event::{SendLimit, Site};
use nodeb_base::packet::Packet;
use nodeb_tcp::segment::{Kind, Segment};

use super::World;
use super::connection_timers::Timer;
use super::control::Listener;
use super::env::Contents;
use super::flow::Flow;
use crate::scenario::Direction;

impl<T: Listener> World<T> {
    pub(super) fn reach_server(&mut self, packet: &Packet) {
        let flow = self.receive(Site::Server, packet);
        let segment = match self.env.in_flight.land(packet) {
            Contents::Segment(segment) => segment,
            &Contents::External { tag, .. } => {
                return self.env.external.arrived(self.env.common.now, Direction::Up, flow, tag, packet);
            }
        };
        match segment.kind {
            Kind::Connect => {
                self.on_request(flow, Kind::Connect);
                self.accept_connection(flow);
            }
            Kind::Request => {
                self.on_request(flow, Kind::Request);
                self.start_work(flow);
            }
            Kind::Ack => {
                let state = &mut self.flows[flow];
                state.sender.on_ack(self.env.common.now, segment, &mut self.outbox);
                self.after_sender(flow);
                self.start_riding_request(flow);
            }
            Kind::Data => {
                let segment = *segment;
                self.receive_upload_data(flow, &segment);
            }
        }
    }

    #[inline]
    pub(super) fn send_down(&mut self, segment: &Segment) {
        let packet = self.launch(Site::Server, segment);
        self.enter_down(packet, 0);
    }

    /// It has reached the server.
    fn on_request(&mut self, flow: u32, kind: Kind) {
        let state = &mut self.flows[flow];
        if let Some(proxy) = &mut state.proxy {
            proxy.on_request(kind);
            state.timers.keep(&mut self.env, Timer::Proxy, proxy.timer());
        } else {
            state.requester(&mut self.env, |requester| requester.on_request(kind));
        }
    }

    /// Unless it works already or has nothing to send; without delay the answer follows at once.
    fn start_work(&mut self, flow: u32) {
        let Flow { work, demand, timers, .. } = &mut self.flows[flow];
        let Some(work) = work else {
            return self.serve(flow);
        };
        if !work.is_busy && !demand.unwritten.is_empty() {
            work.is_busy = true;
            let answers = self.env.now + work.delay;
            timers.set(&mut self.env, Timer::Server, answers);
        }
    }

    /// Sent with the ACK that ends the handshake, which has now arrived.
    #[inline]
    fn start_riding_request(&mut self, flow: u32) {
        let Flow { work: Some(work), sender, .. } = &mut self.flows[flow] else {
            return;
        };
        if work.awaits_ack && sender.send_limit() != SendLimit::Handshake {
            work.awaits_ack = false;
            self.start_work(flow);
        }
    }

    pub(super) fn answer(&mut self, flow: u32) {
        if let Some(work) = &mut self.flows[flow].work {
            work.is_busy = false;
        }
        self.serve(flow);
    }
}
