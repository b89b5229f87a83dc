//! A queue plug-in: if the queue is full, an arriving packet replaces the oldest one, so that senders detect the loss
//! sooner.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use nodeb_base::check::Checked;
use nodeb_base::packet::Packet;
use nodeb_base::params;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Rate, Time, positive};
use nodeb_net::queue::{DropLog, Queue, QueueParams};

params! {
    /// Parameters of the queue `head_drop`.
    pub struct HeadDrop {
        /// Largest number of packets that may wait in the queue.
        pub limit: NonZeroU32 = positive(100),
    }
}

impl Checked for HeadDrop {}

impl QueueParams for HeadDrop {
    fn build(&self, _rate: Rate, _stream: Stream) -> Box<dyn Queue> {
        Box::new(Fifo { limit: self.limit.get() as usize, packets: VecDeque::new(), bytes: 0 })
    }
}

/// State of a queue: the packets that wait, and the sum of their sizes in bytes.
#[derive(Debug)]
struct Fifo {
    limit: usize,
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl Fifo {
    fn take_first(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }
}

impl Queue for Fifo {
    fn push(&mut self, _: Time, packet: Packet, drops: &mut DropLog) -> bool {
        if self.packets.len() == self.limit
            && let Some(oldest) = self.take_first()
        {
            drops.discard_overflow(oldest);
        }
        self.bytes += u64::from(packet.size);
        self.packets.push_back(packet);
        true
    }

    fn pop(&mut self, _: Time, _: &mut DropLog) -> Option<Packet> {
        self.take_first()
    }

    fn len(&self) -> usize {
        self.packets.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn sees_every_packet(&self) -> bool {
        false
    }
}
