//! The core network between gateway and Node B: a chain of links, or none.

use super::World;
use super::control::Listener;
use crate::engine::Key;
use crate::packet::Packet;

impl<T: Listener> World<T> {
    /// A packet for a phone comes to the link of position `at`, or to the Node B behind the last one.
    pub(super) fn enter_core_down(&mut self, packet: Packet, at: usize) {
        let Some(link) = self.core.get_mut(at) else {
            return self.reach_node_b(packet);
        };
        link.down.accept(&mut self.env, packet);
        self.drop_lost();
    }

    pub(super) fn wake_core_down(&mut self, key: Key, at: usize) {
        let packet = self.core[at].down.wake(&mut self.env, key);
        self.drop_lost();
        if let Some(packet) = packet {
            self.enter_core_down(packet, at + 1);
        }
    }

    /// A packet of a phone has `left` links of the core network before it, or none to the gateway.
    pub(super) fn enter_core_up(&mut self, packet: Packet, left: usize) {
        let Some(link) = left.checked_sub(1).and_then(|at| self.core.get_mut(at)) else {
            return self.reach_gateway_from_phone(packet);
        };
        link.up.accept(&mut self.env, packet);
        self.drop_lost();
    }

    pub(super) fn wake_core_up(&mut self, key: Key, at: usize) {
        let packet = self.core[at].up.wake(&mut self.env, key);
        self.drop_lost();
        if let Some(packet) = packet {
            self.enter_core_up(packet, at);
        }
    }
}
