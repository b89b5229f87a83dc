//! Receiving end of PDCP, which delivers packets in the order of their numbers.

use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::Pdcp;
use crate::mac::reordering::ReorderingQueue;

// Clause: TS 36.323, 5.1.2.1: order of delivery
// Simplified: not part of `radio.lte`, whose RLC delivers in order
/// Receiving end of PDCP of one user.
#[derive(Debug)]
pub struct Receive {
    /// Number after that of the last packet delivered; 0 before the first delivery.
    next: u64,
    /// Packets that wait for missing ones, with the timer t-Reordering in nanoseconds; `None` if
    /// the receiver gives up missing packets at once.
    reordering: Option<ReorderingQueue<(u64, Packet)>>,
}

impl Receive {
    /// Creates a receiver whose first packet has number 0.
    pub fn new(params: &Pdcp) -> Self {
        let queue = |timer: nodeb_base::units::Duration| {
            ReorderingQueue::new(params.sn_length.window() as u64, timer.0)
        };
        Self { next: 0, reordering: params.t_reordering.map(queue) }
    }

    /// Receives packet `number` from RLC, and passes to `deliver` the packets that can be
    /// delivered. Discards the packet if it was received or given up before, or if a packet with a
    /// higher number was delivered (TS 36.323, 5.1.2.1).
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

    /// Returns the number after that of the last packet delivered, 0 before the first delivery.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the time at which [`Self::on_time`] must be called next, or `None` if t-Reordering
    /// does not run.
    pub fn due(&self) -> Option<Time> {
        self.reordering.as_ref()?.timer().map(Time)
    }

    /// Handles the expiry of t-Reordering if it is due by `now`. Gives up the missing packets
    /// before the highest number received when the timer started, and passes to `deliver` the
    /// packets that can then be delivered.
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
