//! The Node B: bearers towards the phones, and a Snoop agent where there is one.

use super::World;
use super::control::Tap;
use crate::engine::Key;
use crate::error::Result;
use crate::metrics::series::SegmentEvent;
use crate::packet::Packet;

impl<T: Tap> World<'_, T> {
    /// A packet for a phone has come to the Node B, or to the RNC before it.
    pub(super) fn reach_node_b(&mut self, packet: Packet) {
        let bearer = self.flows[packet.flow as usize].bearer;
        let taken = self.send_over_air(packet);
        // What an RNC has no room for never comes to the agent; what a Node B has none for, does.
        if !taken && self.bearers[bearer as usize].bearer.waits_at_rnc() {
            return;
        }
        if let Some(snoop) = &mut self.flows[packet.flow as usize].snoop {
            snoop.agent.on_segment(self.now, &packet);
            self.agenda.keep_time(snoop.alarm, snoop.agent.timer());
        }
    }

    fn send_over_air(&mut self, packet: Packet) -> bool {
        let flow = &self.flows[packet.flow as usize];
        let (index, position) = (flow.bearer, flow.position);
        let air = &mut self.bearers[index as usize];
        let taken = air.bearer.accept(self.now, position, packet, &mut self.agenda.stamps);
        self.agenda.set(air.alarm, air.bearer.next_wake());
        if taken {
            self.note_queue(packet.flow);
        } else {
            self.note_segment(packet, SegmentEvent::Drop);
        }
        taken
    }

    pub(super) fn wake_bearer(&mut self, key: Key, index: u32) -> Result<()> {
        let air = &mut self.bearers[index as usize];
        air.bearer.wake(key, &mut self.agenda.stamps, &mut self.delivered);
        self.agenda.set(air.alarm, air.bearer.next_wake());
        for user in air.bearer.take_handovers() {
            // The agent stands in the Node B that the phone has left.
            if let Some(snoop) = &mut self.flows[air.flows[user] as usize].snoop {
                snoop.agent.forget();
                self.agenda.keep_time(snoop.alarm, snoop.agent.timer());
            }
        }
        if self.record.segments {
            let discarded = air.bearer.take_discarded();
            self.note_drops(discarded);
        }
        let mut delivered = std::mem::take(&mut self.delivered);
        for delivery in delivered.drain(..) {
            self.reach_phone(delivery.packet)?;
        }
        self.delivered = delivered;
        Ok(())
    }

    pub(super) fn wake_uplink(&mut self, key: Key, flow: u32) -> Result<()> {
        let state = &mut self.flows[flow as usize];
        let Some(packet) = state.uplink.wake(key, &mut self.agenda) else {
            return Ok(());
        };
        if let Some(snoop) = &mut state.snoop {
            let goes_on = snoop.agent.on_ack(self.now, &packet, &mut self.again);
            self.after_snoop(flow);
            if !goes_on {
                return Ok(());
            }
        }
        self.enter_core_up(packet, self.core.len())
    }

    pub(super) fn snoop_timer(&mut self, flow: u32) {
        if let Some(snoop) = &mut self.flows[flow as usize].snoop {
            snoop.agent.on_timer(self.now, &mut self.again);
        }
        self.after_snoop(flow);
    }

    /// Sends what a Snoop agent sends again and keeps its timer.
    fn after_snoop(&mut self, flow: u32) {
        if let Some(snoop) = &self.flows[flow as usize].snoop {
            self.agenda.keep_time(snoop.alarm, snoop.agent.timer());
            let mut again = std::mem::take(&mut self.again);
            for packet in again.drain(..) {
                self.note_segment(packet, SegmentEvent::Resend);
                self.send_over_air(packet);
            }
            self.again = again;
        }
    }
}
