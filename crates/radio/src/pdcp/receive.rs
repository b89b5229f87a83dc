//! Delivery of packets in the order of their numbers.

use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::Pdcp;
use crate::mac::reordering::ReorderingQueue;

/// Receiving end of PDCP.
#[derive(Debug)]
pub struct Receive {
    /// Number after the last one delivered.
    next: u64,
    /// Packets after a gap, with timer t-Reordering in nanoseconds; `None` if gaps are given up immediately.
    reordering: Option<ReorderingQueue<(u64, Packet)>>,
}

impl Receive {
    /// Creates a receiver that expects number 0.
    pub fn new(params: &Pdcp) -> Self {
        let queue = |timer: nodeb_base::units::Duration| {
            ReorderingQueue::new(params.sn_length.window() as u64, timer.0)
        };
        Self { next: 0, reordering: params.reordering.map(queue) }
    }

    /// Receives packet `number` from RLC, and passes the packets that can be delivered to `deliver`. A number
    /// below the last one delivered, or received before, is discarded (TS 36.323, 5.1.2.1).
    #[inline]
    pub fn receive(&mut self, now: Time, number: u64, packet: Packet, mut deliver: impl FnMut(Packet)) {
        let expected = self.next;
        let next = &mut self.next;
        let mut leave = |(number, packet)| {
            *next = number + 1;
            deliver(packet);
        };
        match &mut self.reordering {
            Some(queue) => {
                let _ = queue.receive(now.0, number, (number, packet), leave);
            }
            None if number >= expected => leave((number, packet)),
            None => {}
        }
    }

    /// Returns the number after the last one delivered.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the time at which [`Self::on_time`] must be called next, if any.
    pub fn due(&self) -> Option<Time> {
        self.reordering.as_ref()?.timer().map(Time)
    }

    /// Handles the expiry of t-Reordering by `now`: gives up the gaps before the packet for which it was
    /// started, and passes the packets after them to `deliver`.
    pub fn on_time(&mut self, now: Time, mut deliver: impl FnMut(Packet)) {
        let next = &mut self.next;
        if let Some(queue) = &mut self.reordering {
            queue.expire(now.0, |(number, packet)| {
                *next = number + 1;
                deliver(packet);
            });
        }
    }
}
