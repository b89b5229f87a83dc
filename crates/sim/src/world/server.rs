//! The servers: transfers that begin, connections accepted, segments sent and ACKs taken.

use super::World;
use super::control::{Place, Tap};
use crate::engine::Key;
use crate::error::Result;
use crate::metrics::series::{SegmentEvent, TransferRow};
use crate::network::Outcome;
use crate::packet::{Kind, Packet};
use crate::traffic::After;
use crate::traffic::demand::Outstanding;
use crate::transport::Opener;

impl<T: Tap> World<'_, T> {
    /// A transfer begins: the first opens the connection, a later one is asked for by the phone or
    /// offered by the server.
    pub(super) fn begin_transfer(&mut self, flow: u32) -> Result<()> {
        let state = &mut self.flows[flow as usize];
        let is_first = state.demand.bytes == 0;
        let Some(transfer) = state.demand.begin(self.now) else {
            return Ok(());
        };
        if let Some(at) = state.demand.next_beginning(self.now, After::Beginning) {
            self.agenda.set_time(state.alarms.traffic, Some(at));
        }
        match (is_first, state.opener, transfer.request_bytes) {
            (true, Opener::Server, _) => self.accept_connection(flow),
            (true, Opener::Phone, _) => {
                let syn = state.receiver.connect(self.now);
                self.ask(syn)
            }
            (false, _, Some(bytes)) => {
                let request = state.receiver.request(self.now, bytes);
                self.ask(request)
            }
            (false, _, None) if state.accepted.is_some() => self.serve(flow),
            (false, _, None) => Ok(()),
        }
    }

    pub(super) fn wake_wired_up(&mut self, key: Key) -> Result<()> {
        let packet = self.wired.up.wake(key, &mut self.agenda);
        packet.map_or(Ok(()), |packet| self.reach_server(packet))
    }

    fn reach_server(&mut self, packet: Packet) -> Result<()> {
        self.tap.packet(self.now, Place::Server, &packet)?;
        match packet.kind {
            Kind::Connect => {
                self.hear(packet.flow);
                self.accept_connection(packet.flow)
            }
            Kind::Request => {
                self.hear(packet.flow);
                self.serve(packet.flow)
            }
            Kind::Segment | Kind::Ack => {
                let state = &mut self.flows[packet.flow as usize];
                state.sender.on_ack(self.now, &packet, &mut self.outbox);
                if state.proxy.is_none() {
                    self.note_segment(packet, SegmentEvent::Ack);
                }
                self.after_sender(packet.flow)
            }
        }
    }

    /// The server has heard what was asked.
    fn hear(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        if let Some(proxy) = &mut state.proxy {
            proxy.agent.hear();
            self.agenda.keep_time(proxy.alarm, proxy.agent.timer());
        } else {
            state.requester.hear();
            self.agenda.set(state.alarms.request_timer, None);
        }
    }

    fn accept_connection(&mut self, flow: u32) -> Result<()> {
        let state = &mut self.flows[flow as usize];
        if state.accepted.replace(self.now).is_some() {
            return Ok(());
        }
        state.sender.open(self.now, &mut self.outbox);
        self.serve(flow)
    }

    /// The server learns of what has been asked for and sends it.
    fn serve(&mut self, flow: u32) -> Result<()> {
        let state = &mut self.flows[flow as usize];
        while let Some(bytes) = state.demand.requested.pop_front() {
            state.sender.write(self.now, bytes, &mut self.outbox);
        }
        if state.demand.is_all_asked() {
            state.sender.close();
            if let Some(proxy) = &mut state.proxy {
                proxy.agent.expect(state.demand.bytes);
            }
        }
        self.after_sender(flow)
    }

    /// Sends what a server's sender has put out, keeps its timer, and notes what changed.
    pub(super) fn after_sender(&mut self, flow: u32) -> Result<()> {
        let state = &self.flows[flow as usize];
        let is_air_sender = state.proxy.is_none();
        self.agenda.keep_time(state.alarms.retransmission_timer, state.sender.timer());
        if is_air_sender {
            self.after_air_sender(flow);
        }
        let mut outbox = std::mem::take(&mut self.outbox);
        for packet in outbox.drain(..) {
            self.tap.packet(self.now, Place::Server, &packet)?;
            if is_air_sender {
                self.note_segment(packet, SegmentEvent::Send);
            }
            let outcome = self.wired.down.accept(self.now, packet, &mut self.agenda);
            if outcome != Outcome::Taken && is_air_sender {
                self.note_segment(packet, SegmentEvent::Drop);
            }
        }
        self.outbox = outbox;
        Ok(())
    }

    /// The sender that faces a phone has heard from it: transfers may be over.
    pub(super) fn after_air_sender(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        let acked = state.air_sender().acked_bytes();
        while let Some(transfer) = state.demand.complete(self.now, acked) {
            if self.record.transfers {
                let Outstanding { begun, bytes, .. } = transfer;
                let row = TransferRow { user: u64::from(flow), begun, end: self.now, bytes };
                self.series.transfers.push(row);
            }
            if let Some(at) = state.demand.next_beginning(self.now, After::End) {
                self.agenda.set_time(state.alarms.traffic, Some(at));
            }
        }
        if state.finished.is_none() && state.air_sender().is_done() {
            state.finished = Some(self.now);
            self.unfinished -= 1;
        }
        self.note_sender(flow);
    }
}
