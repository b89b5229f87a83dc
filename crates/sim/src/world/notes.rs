//! What is written down on the way, where the scenario asks for it.

use super::World;
use super::control::Tap;
use crate::metrics::series::{CwndRow, QueueRow, RttRow, SegmentEvent, SegmentRow};
use crate::packet::Packet;

impl<T: Tap> World<'_, T> {
    pub(super) fn note_segment(&mut self, packet: Packet, event: SegmentEvent) {
        if self.record.segments {
            let Packet { flow, seq, retransmission, .. } = packet;
            let user = u64::from(flow);
            self.series.segments.push(SegmentRow { user, at: self.now, event, seq, retransmission });
        }
    }

    /// Packets that a queue had taken and has dropped since.
    pub(super) fn note_drops(&mut self, discarded: Vec<Packet>) {
        for packet in discarded {
            self.note_segment(packet, SegmentEvent::Drop);
        }
    }

    pub(super) fn note_queue(&mut self, flow: u32) {
        if self.record.queue {
            let state = &self.flows[flow as usize];
            let (packets, bytes) = self.bearers[state.bearer as usize].bearer.backlog(state.position);
            let user = u64::from(flow);
            self.series.queue.push(QueueRow { user, at: self.now, packets: packets as u64, bytes });
        }
    }

    pub(super) fn note_sender(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        let user = u64::from(flow);
        if self.record.rtt
            && let Some(rtt) = state.air_sender_mut().take_rtt_sample()
        {
            self.series.rtt.push(RttRow { user, at: self.now, rtt });
        }
        if self.record.cwnd {
            let window = state.air_sender().window();
            if state.noted.replace(window) != Some(window) {
                self.series.cwnd.push(CwndRow { user, at: self.now, window });
            }
        }
    }
}
