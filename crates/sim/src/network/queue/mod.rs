//! Queue disciplines: what a link does with packets that must wait.

pub mod drop_tail;

use crate::packet::Packet;
use crate::registry;

/// A packet queue in front of a link.
pub trait Queue: Send + std::fmt::Debug {
    /// Takes a packet that must wait; `false` means it was dropped.
    fn push(&mut self, packet: Packet) -> bool;
    /// The next packet to send.
    fn pop(&mut self) -> Option<Packet>;
    /// Packets waiting.
    fn len(&self) -> usize;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

registry! {
    /// The queue discipline of a link, as a scenario names it.
    "queue" QueueSpec {
        /// First in, first out; a packet that finds the queue full is dropped.
        "drop_tail" => DropTail(drop_tail::DropTail),
    }
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self::DropTail(drop_tail::DropTail::default())
    }
}

impl QueueSpec {
    /// An empty queue of this discipline.
    pub fn build(&self) -> Box<dyn Queue> {
        match self {
            Self::DropTail(params) => Box::new(drop_tail::Fifo::new(params)),
        }
    }
}
