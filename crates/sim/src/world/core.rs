//! The core network between gateway and Node B: a chain of links, or none.

use super::World;
use super::control::Tap;
use crate::engine::Key;
use crate::error::Result;
use crate::metrics::series::SegmentEvent;
use crate::network::Outcome;
use crate::packet::Packet;

impl<T: Tap> World<'_, T> {
    /// A packet for a phone comes to the link of position `at`, or to the Node B behind the last one.
    pub(super) fn enter_core_down(&mut self, packet: Packet, at: usize) {
        let Some(link) = self.core.get_mut(at) else {
            return self.reach_node_b(packet);
        };
        if link.down.accept(self.now, packet, &mut self.agenda) != Outcome::Taken {
            self.note_segment(packet, SegmentEvent::Drop);
        }
    }

    pub(super) fn wake_core_down(&mut self, key: Key, at: usize) {
        let packet = self.core[at].down.wake(key, &mut self.agenda);
        if self.record.segments {
            let discarded = self.core[at].down.link.take_discarded();
            self.note_drops(discarded);
        }
        if let Some(packet) = packet {
            self.enter_core_down(packet, at + 1);
        }
    }

    /// A packet of a phone has `left` links of the core network before it, or none to the gateway.
    pub(super) fn enter_core_up(&mut self, packet: Packet, left: usize) -> Result<()> {
        let Some(link) = left.checked_sub(1).and_then(|at| self.core.get_mut(at)) else {
            return self.reach_gateway_from_phone(packet);
        };
        link.up.accept(self.now, packet, &mut self.agenda);
        Ok(())
    }

    pub(super) fn wake_core_up(&mut self, key: Key, at: usize) -> Result<()> {
        let packet = self.core[at].up.wake(key, &mut self.agenda);
        packet.map_or(Ok(()), |packet| self.enter_core_up(packet, at))
    }
}
