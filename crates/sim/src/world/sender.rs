//! At the server in a download, at the phone in an upload.

use nodeb_base::event::Event;
use nodeb_tcp::{Opener, Progress};

use super::World;
use super::connection_timers::Timer;
use super::control::Listener;
use crate::scenario::Direction;
use crate::traffic::After;
use crate::traffic::demand::Outstanding;

impl<T: Listener> World<T> {
    /// The first transfer opens the connection, a later one is requested; without request it is written at
    /// once or, before the connection is accepted, by [`Self::accept_connection`].
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

    /// Writes the transfers that have begun, unless the server waits for a request or takes time; nothing if
    /// open already.
    pub(super) fn accept_connection(&mut self, flow: u32) {
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

    /// If no more follow, closes the sender and sets the total number of bytes at the proxy.
    pub(super) fn serve(&mut self, flow: u32) {
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

    pub(super) fn after_sender(&mut self, flow: u32) {
        let state = &mut self.flows[flow];
        let (progress, direction) = (state.sender.progress(), state.direction);
        state.timers.keep(&mut self.env, Timer::Retransmission, progress.timer);
        if state.proxy.is_none() {
            self.after_air_sender(flow, progress);
        }
        if !self.outbox.is_empty() {
            self.send_outbox(direction);
        }
        self.emit_send_limit(direction.sender(), flow);
    }

    #[inline]
    fn send_outbox(&mut self, direction: Direction) {
        let mut outbox = std::mem::take(&mut self.outbox);
        for segment in &outbox {
            match direction {
                Direction::Down => self.send_down(segment),
                Direction::Up => self.send_up(segment),
            }
        }
        outbox.clear();
        self.outbox = outbox;
    }

    /// Also completes the transfers that the receiver has acknowledged.
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
