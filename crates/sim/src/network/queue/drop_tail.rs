//! Drop-tail: first in, first out, with a limit in packets.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Queue;
use crate::check::{Check, Checked};
use crate::packet::Packet;

/// Parameters of a drop-tail queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DropTail {
    /// Packets the queue can be filled to. As in ns-2 the packet in service does not count, and
    /// an arrival is dropped when it would be the `limit`-th to wait.
    pub limit: NonZeroU32,
}

impl Default for DropTail {
    fn default() -> Self {
        Self { limit: const { NonZeroU32::new(1000).unwrap() } }
    }
}

impl Checked for DropTail {
    fn check(&self, _: &mut Check) {}
}

/// A drop-tail queue.
#[derive(Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
    limit: usize,
}

impl Fifo {
    /// An empty queue.
    pub fn new(params: &DropTail) -> Self {
        Self { packets: VecDeque::new(), bytes: 0, limit: params.limit.get() as usize }
    }
}

impl Queue for Fifo {
    fn push(&mut self, packet: Packet) -> bool {
        if self.packets.len() + 1 >= self.limit {
            return false;
        }
        self.bytes += u64::from(packet.size);
        self.packets.push_back(packet);
        true
    }

    fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    fn len(&self) -> usize {
        self.packets.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
