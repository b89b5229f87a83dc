//! The phones: what they ask for, what arrives, and what they acknowledge.

use super::World;
use super::control::{Place, Tap};
use crate::error::Result;
use crate::metrics::series::SegmentEvent;
use crate::packet::Packet;

impl<T: Tap> World<'_, T> {
    /// The phone asks for something, and asks again until it has been heard.
    pub(super) fn ask(&mut self, packet: Packet) -> Result<()> {
        let asked = self.flows[packet.flow as usize].requester.ask(self.now, packet);
        self.after_request(packet.flow, Some(asked))
    }

    pub(super) fn after_request(&mut self, flow: u32, request: Option<Packet>) -> Result<()> {
        let state = &self.flows[flow as usize];
        self.agenda.keep_time(state.alarms.request_timer, state.requester.timer());
        request.map_or(Ok(()), |request| self.send_up(request))
    }

    /// The phone sends a packet.
    fn send_up(&mut self, packet: Packet) -> Result<()> {
        self.tap.packet(self.now, Place::Phone, &packet)?;
        self.flows[packet.flow as usize].uplink.accept(self.now, packet, &mut self.agenda);
        Ok(())
    }

    pub(super) fn reach_phone(&mut self, packet: Packet) -> Result<()> {
        self.tap.packet(self.now, Place::Phone, &packet)?;
        self.note_segment(packet, SegmentEvent::Deliver);
        self.note_queue(packet.flow);
        let state = &mut self.flows[packet.flow as usize];
        let ack = state.receiver.on_segment(self.now, &packet);
        if state.downloaded.is_none() && Some(state.receiver.delivered_bytes()) == state.total_bytes {
            state.downloaded = Some(self.now);
        }
        self.after_receiver(packet.flow, ack)
    }

    /// Sends a receiver's ACK, if there is one, and keeps its timer.
    pub(super) fn after_receiver(&mut self, flow: u32, ack: Option<Packet>) -> Result<()> {
        let state = &self.flows[flow as usize];
        self.agenda.keep_time(state.alarms.delayed_ack, state.receiver.timer());
        ack.map_or(Ok(()), |ack| self.send_up(ack))
    }
}
