//! First-in, first-out queue that stores the arrival time of each packet.

use std::collections::VecDeque;

use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

#[derive(Debug, Default)]
pub struct TimedFifo {
    packets: VecDeque<(Time, Packet)>,
    bytes: u64,
}

impl TimedFifo {
    pub fn push(&mut self, now: Time, packet: Packet) {
        self.bytes += u64::from(packet.size);
        self.packets.push_back((now, packet));
    }

    pub fn pop(&mut self) -> Option<(Time, Packet)> {
        let (came, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some((came, packet))
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}
