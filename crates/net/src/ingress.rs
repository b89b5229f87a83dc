//! Part of a link in front of its transmitter: a loss model, then a queue.

use nodeb_base::context::Context;
use nodeb_base::event::Cause;
use nodeb_base::packet::Packet;

use super::loss::Loss;
use super::queue::drop_tail::Limits;
use super::queue::{DropLog, Queue};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Including those that were lost or dropped.
    pub packets: u64,
    pub lost: u64,
    pub overflowed: u64,
    /// As in active queue management.
    pub dropped_early: u64,
    /// Congestion Experienced (RFC 3168).
    pub marked: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Ingress {
    loss: Loss,
    queue: Box<dyn Queue>,
    drops: DropLog,
    packets: u64,
    lost: u64,
}

impl Ingress {
    /// `queue` must be empty.
    pub fn new(loss: Loss, queue: Box<dyn Queue>) -> Self {
        Self { loss, queue, drops: DropLog::default(), packets: 0, lost: 0 }
    }

    #[inline]
    pub fn admit(&mut self, ctx: &mut Context, packet: &Packet) -> bool {
        let position = self.packets;
        self.packets += 1;
        let is_lost = self.loss.loses(position, packet.payload);
        if is_lost {
            self.lost += 1;
            ctx.lose(0, *packet, Cause::LinkLoss);
        }
        !is_lost
    }

    /// If the queue is drop-tail, which only its limits describe.
    pub fn plain(&mut self) -> Option<(Loss, Limits)> {
        let limits = self.queue.limits()?;
        Some((std::mem::replace(&mut self.loss, Loss::Never), limits))
    }

    #[inline]
    pub fn push(&mut self, ctx: &mut Context, packet: &Packet) -> bool {
        let early = self.drops.counts.early;
        let taken = self.queue.push(ctx.now, *packet, &mut self.drops);
        if self.drops.has_discarded() {
            self.report_discarded(ctx);
        }
        if taken {
            ctx.take(0, packet);
        } else {
            let is_early = self.drops.counts.early > early;
            ctx.lose(0, *packet, if is_early { Cause::EarlyDrop } else { Cause::Overflow });
        }
        taken
    }

    /// The discipline may drop packets in front of the one that it returns.
    #[inline]
    pub fn pop(&mut self, ctx: &mut Context) -> Option<Packet> {
        let packet = self.queue.pop(ctx.now, &mut self.drops);
        if self.drops.has_discarded() {
            self.report_discarded(ctx);
        }
        packet
    }

    #[cold]
    fn report_discarded(&mut self, ctx: &mut Context) {
        for (packet, cause) in self.drops.take_discarded() {
            ctx.lose(0, packet, cause);
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Even those that find the link idle.
    pub fn sees_every_packet(&self) -> bool {
        self.queue.sees_every_packet()
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub fn waiting_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// `bytes` are those transmitted, which the transmitter counts.
    pub fn counts(&self, bytes: u64) -> LinkCounts {
        let queue = self.drops.counts;
        LinkCounts {
            packets: self.packets,
            lost: self.lost,
            overflowed: queue.overflowed,
            dropped_early: queue.early,
            marked: queue.marked,
            bytes,
        }
    }
}
