//! First in, first out, with the time at which each packet came.

use std::collections::VecDeque;

use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

/// The packets that a discipline lets wait, each with its time of arrival.
#[derive(Debug, Default)]
pub struct TimedFifo {
    packets: VecDeque<(Time, Packet)>,
    bytes: u64,
}

impl TimedFifo {
    /// Appends a packet that comes at `now`.
    pub fn push(&mut self, now: Time, packet: Packet) {
        self.bytes += u64::from(packet.size);
        self.packets.push_back((now, packet));
    }

    /// Takes the packet that has waited longest, and when it came.
    pub fn pop(&mut self) -> Option<(Time, Packet)> {
        let (came, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some((came, packet))
    }

    /// Packets waiting.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Bytes waiting.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}
