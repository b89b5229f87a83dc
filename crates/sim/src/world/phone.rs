//! The phones: what they ask for, what arrives, and what they acknowledge.

use super::World;
use super::control::Listener;
use super::external::Way;
use crate::error::Result;
use crate::event::Site;
use crate::packet::Packet;
use crate::transport::packet::Packet as Segment;

impl<T: Listener> World<T> {
    /// The phone asks for something, and asks again until it has been heard.
    pub(super) fn ask(&mut self, packet: Segment) -> Result<()> {
        let asked = self.flows[packet.flow as usize].requester.ask(self.env.now, packet);
        self.after_request(packet.flow, Some(asked))
    }

    pub(super) fn after_request(&mut self, flow: u32, request: Option<Segment>) -> Result<()> {
        let state = &self.flows[flow as usize];
        self.env.agenda.keep_time(state.alarms.request_timer, state.requester.timer());
        request.map_or(Ok(()), |request| self.send_up(request))
    }

    /// The phone sends a packet.
    fn send_up(&mut self, segment: Segment) -> Result<()> {
        let packet = self.launch(Site::Phone, &segment)?;
        self.flows[segment.flow as usize].uplink.accept(&mut self.env, packet);
        self.drop_lost();
        Ok(())
    }

    pub(super) fn reach_phone(&mut self, packet: Packet) -> Result<()> {
        let segment = self.land(Site::Phone, &packet)?;
        self.tell_queue(segment.flow);
        let state = &mut self.flows[segment.flow as usize];
        if state.is_external {
            self.external.arrived(self.env.now, Way::Down, segment.flow, segment.seq, &packet);
            return Ok(());
        }
        let ack = state.receiver.on_segment(self.env.now, &segment);
        if state.downloaded.is_none() && Some(state.receiver.delivered_bytes()) == state.total_bytes {
            state.downloaded = Some(self.env.now);
        }
        self.after_receiver(segment.flow, ack)
    }

    /// Sends a receiver's ACK, if there is one, and keeps its timer.
    pub(super) fn after_receiver(&mut self, flow: u32, ack: Option<Segment>) -> Result<()> {
        let state = &self.flows[flow as usize];
        self.env.agenda.keep_time(state.alarms.delayed_ack, state.receiver.timer());
        ack.map_or(Ok(()), |ack| self.send_up(ack))
    }
}
