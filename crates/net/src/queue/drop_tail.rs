//! Drop-tail: first in, first out, with a limit in packets, in bytes or both.

use nodeb_base::params;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Rate, Size, Time};

use super::{DropLog, Queue, QueueParams};

params! {
    /// Parameters of a drop-tail queue, which drops arriving packets when it is full.
    pub struct DropTail {
        /// Limit in packets. As in ns-2, the packet being transmitted does not count, and an arriving packet
        /// is dropped if it would be the `limit`-th to wait.
        pub limit: NonZeroU32 = const { NonZeroU32::new(1000).unwrap() },
        /// Limit in bytes, if any: an arriving packet is dropped if the waiting packets would exceed it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub limit_bytes: Option<Size>,
    }
}

impl Checked for DropTail {}

impl QueueParams for DropTail {
    fn build(&self, _rate: Rate, _stream: Stream) -> Box<dyn Queue> {
        Box::new(Fifo::new(self))
    }

    fn limit(&self) -> Option<NonZeroU32> {
        Some(self.limit)
    }

    fn check_waiting(&self, check: &mut Check) {
        check.require(self.limit.get() > 1, "limit", || {
            "with limit 1 no packet may wait, but each waits for a delivery opportunity; expected at \
             least 2, which is one packet"
                .to_owned()
        });
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    packets: usize,
    bytes: u64,
}

impl Limits {
    #[inline]
    pub fn have_room(self, packets: usize, bytes: u64, size: u32) -> bool {
        packets + 1 < self.packets && bytes + u64::from(size) <= self.bytes
    }
}

#[derive(Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
    limits: Limits,
}

impl Fifo {
    pub fn new(params: &DropTail) -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
            limits: Limits {
                packets: params.limit.get() as usize,
                bytes: params.limit_bytes.map_or(u64::MAX, |limit| limit.0),
            },
        }
    }
}

impl Queue for Fifo {
    fn push(&mut self, _: Time, packet: Packet, drops: &mut DropLog) -> bool {
        if !self.limits.have_room(self.packets.len(), self.bytes, packet.size) {
            drops.refuse_overflow();
            return false;
        }
        self.bytes += u64::from(packet.size);
        self.packets.push_back(packet);
        true
    }

    fn pop(&mut self, _: Time, _: &mut DropLog) -> Option<Packet> {
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

    fn sees_every_packet(&self) -> bool {
        false
    }

    fn limits(&self) -> Option<Limits> {
        Some(self.limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(params: &DropTail, sizes: &[u32]) -> (Vec<bool>, DropLog) {
        let (mut queue, mut drops) = (Fifo::new(params), DropLog::default());
        let packet = |size| Packet::new(0, size);
        let taken = sizes.iter().map(|&size| queue.push(Time::ZERO, packet(size), &mut drops)).collect();
        (taken, drops)
    }

    #[test]
    fn the_limit_in_packets_admits_one_less_as_in_ns_2() {
        let (taken, drops) = fill(&DropTail { limit: 3.try_into().unwrap(), limit_bytes: None }, &[1500; 4]);
        assert_eq!(taken, [true, true, false, false]);
        assert_eq!(drops.counts.overflowed, 2);
    }

    #[test]
    fn the_limit_in_bytes_includes_the_arriving_packet() {
        let params = DropTail { limit_bytes: Some(Size(3_000)), ..DropTail::default() };
        assert_eq!(fill(&params, &[1500, 1501, 1500, 1]).0, [true, false, true, false]);
    }
}
