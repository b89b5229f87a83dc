//! The servers: they begin transfers, accept connections, answer requests, send segments and handle ACKs.

use nodeb_base::event::{Event, SendLimit, Site};
use nodeb_base::packet::Packet;
use nodeb_tcp::segment::Kind;
use nodeb_tcp::{Opener, Progress};

use super::World;
use super::connection_timers::Timer;
use super::control::Listener;
use super::env::Contents;
use super::external::Direction;
use super::flow::Flow;
use crate::traffic::After;
use crate::traffic::demand::Outstanding;

impl<T: Listener> World<T> {
    /// Begins the upcoming transfer of a flow. The first transfer opens the connection. A later transfer is requested
    /// by the phone, or written by the server if it needs no request: at once if the connection is accepted.
    pub(super) fn begin_transfer(&mut self, flow: u32) {
        let state = &mut self.flows[flow];
        let is_first = state.demand.bytes == 0;
        let Some(transfer) = state.demand.begin(self.env.now) else {
            return;
        };
        self.env.emit(Event::Began { flow, bytes: transfer.bytes });
        state.metrics.on_beginning(self.env.now, state.demand.bytes, transfer.is_last);
        if let Some(at) = state.demand.next_beginning(self.env.now, After::Beginning) {
            state.timers.set(&mut self.env, Timer::Traffic, at);
        }
        match (is_first, state.opener, transfer.request_bytes) {
            (true, Opener::Server, _) => self.accept_connection(flow),
            (true, Opener::Phone, _) => {
                let syn = state.receiver.connect(self.env.now);
                self.send_request(syn);
            }
            (false, _, Some(bytes)) => {
                let request = state.receiver.request(self.env.now, bytes);
                self.send_request(request);
            }
            (false, _, None) if state.accepted.is_some() => self.serve(flow),
            (false, _, None) => {}
        }
    }

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
            Kind::Data | Kind::Ack => {
                let state = &mut self.flows[flow];
                state.sender.on_ack(self.env.common.now, segment, &mut self.outbox);
                self.after_sender(flow);
                self.start_riding_request(flow);
            }
        }
    }

    /// Stops the repetition of the SYN or request of type `kind`, which has reached the server.
    fn on_request(&mut self, flow: u32, kind: Kind) {
        let state = &mut self.flows[flow];
        if let Some(proxy) = &mut state.proxy {
            proxy.on_request(kind);
            state.timers.keep(&mut self.env, Timer::Proxy, proxy.timer());
        } else {
            state.requester(&mut self.env, |requester| requester.on_request(kind));
        }
    }

    fn accept_connection(&mut self, flow: u32) {
        let state = &mut self.flows[flow];
        if state.accepted.replace(self.env.now).is_some() {
            return;
        }
        state.sender.open(self.env.now, &mut self.outbox);
        if state.first_request.is_some() || state.work.is_some() {
            return self.after_sender(flow);
        }
        self.serve(flow);
    }

    /// Starts the server's work on a request, unless the server is working already. A server without delay answers at
    /// once.
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

    /// Starts the server's work on a request that was sent with the ACK that ends the handshake, if this ACK has arrived.
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

    /// Ends the server's work on a request and sends the answer.
    pub(super) fn answer(&mut self, flow: u32) {
        if let Some(work) = &mut self.flows[flow].work {
            work.is_busy = false;
        }
        self.serve(flow);
    }

    /// Writes the transfers that have begun to the server's TCP sender. Closes the sender if no more transfers follow.
    fn serve(&mut self, flow: u32) {
        let state = &mut self.flows[flow];
        while let Some(bytes) = state.demand.unwritten.pop_front() {
            state.sender.write(self.env.now, bytes, &mut self.outbox);
        }
        if state.demand.is_all_written() {
            state.sender.close();
            if let Some(proxy) = &mut state.proxy {
                proxy.set_total(state.demand.bytes);
            }
        }
        self.after_sender(flow);
    }

    /// Transmits the segments in the outbox of a server's TCP sender, arms the sender's timer, and records its
    /// progress.
    pub(super) fn after_sender(&mut self, flow: u32) {
        let state = &mut self.flows[flow];
        let progress = state.sender.progress();
        state.timers.keep(&mut self.env, Timer::Retransmission, progress.timer);
        if state.proxy.is_none() {
            self.after_air_sender(flow, progress);
        }
        if !self.outbox.is_empty() {
            self.send_outbox();
        }
        self.emit_send_limit(Site::Server, flow);
    }

    #[inline]
    fn send_outbox(&mut self) {
        let mut outbox = std::mem::take(&mut self.outbox);
        for segment in &outbox {
            let packet = self.launch(Site::Server, segment);
            self.enter_down(packet, 0);
        }
        outbox.clear();
        self.outbox = outbox;
    }

    /// Records the progress of the TCP sender that faces a phone, and completes the transfers that the phone has
    /// acknowledged.
    pub(super) fn after_air_sender(&mut self, flow: u32, progress: Progress) {
        let Progress { acked_bytes, recovery, is_done, .. } = progress;
        let state = &mut self.flows[flow];
        state.metrics.on_recovery(self.env.now, recovery);
        while let Some(transfer) = state.demand.complete(self.env.now, acked_bytes) {
            let Outstanding { begun, arrived, bytes, .. } = transfer;
            self.env.emit(Event::Transfer { flow, begun, arrived, bytes });
            if let Some(at) = state.demand.next_beginning(self.env.now, After::End) {
                state.timers.set(&mut self.env, Timer::Traffic, at);
            }
        }
        if is_done && state.finished.is_none() {
            state.finished = Some(self.env.now);
            self.unfinished -= 1;
        }
        self.emit_sender(flow);
    }
}
