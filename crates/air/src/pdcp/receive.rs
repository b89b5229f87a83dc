use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::Pdcp;
use crate::mac::reordering::ReorderingQueue;

// Clause: TS 36.323, 5.1.2.1: order of delivery
// Simplified: not part of `radio.lte`, whose RLC delivers in order
#[derive(Debug)]
pub struct Receive {
    /// Number after the last packet delivered, or 0.
    next: u64,
    /// With t-Reordering in nanoseconds; `None` if missing packets are given up at once.
    reordering: Option<ReorderingQueue<(u64, Packet)>>,
}

impl Receive {
    pub fn new(params: &Pdcp) -> Self {
        let queue = |timer: nodeb_base::units::Duration| {
            ReorderingQueue::new(params.sn_length.window() as u64, timer.0)
        };
        Self { next: 0, reordering: params.t_reordering.map(queue) }
    }

    /// Discards what was received or given up before, or precedes a packet delivered (TS 36.323, 5.1.2.1).
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

    /// Number after the last packet delivered, or 0.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn due(&self) -> Option<Time> {
        self.reordering.as_ref()?.timer().map(Time)
    }

    /// t-Reordering gives up the missing packets before the highest number received when it started.
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
