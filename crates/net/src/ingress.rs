//! What every link has in front of its transmitter: loss, then a queue.

use nodeb_base::context::Context;
use nodeb_base::event::Cause;
use nodeb_base::packet::Packet;

use super::foresight::Unhappened;
use super::loss::Loss;
use super::queue::drop_tail::Limits;
use super::queue::{DropLog, Queue};

/// What a link has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets handed to the link.
    pub packets: u64,
    /// Packets lost before the queue, by the link's loss.
    pub lost: u64,
    /// Packets dropped because the queue was full.
    pub overflowed: u64,
    /// Packets that the queue discipline dropped before the queue was full.
    pub dropped_early: u64,
    /// Packets that the queue discipline marked (RFC 3168, CE).
    pub marked: u64,
    /// Bytes sent.
    pub bytes: u64,
}

/// The way of packets to a link's transmitter.
#[derive(Debug)]
pub struct Ingress {
    loss: Loss,
    queue: Box<dyn Queue>,
    drops: DropLog,
    packets: u64,
    lost: u64,
}

impl Ingress {
    /// One that nothing has passed yet.
    pub fn new(loss: Loss, queue: Box<dyn Queue>) -> Self {
        Self { loss, queue, drops: DropLog::default(), packets: 0, lost: 0 }
    }

    /// A packet comes; `false` means that it is lost before the queue.
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

    /// Drops an admitted packet for which there is no room.
    pub fn refuse(&mut self, ctx: &mut Context, packet: &Packet) {
        self.drops.refuse_overflow();
        ctx.lose(0, *packet, Cause::Overflow);
    }

    /// Takes back what has been counted and has not happened.
    pub fn take_back(&mut self, unhappened: Unhappened) {
        let Unhappened { taken, lost, overflowed, .. } = unhappened;
        self.packets -= taken + lost + overflowed;
        self.lost -= lost;
        self.drops.counts.overflowed -= overflowed;
    }

    /// Packets and bytes that may wait, where the queue is first in, first out, and nothing else decides.
    pub fn limits(&self) -> Option<Limits> {
        self.queue.limits()
    }

    /// Lets an admitted packet wait; `false` means that the queue has dropped it.
    #[inline]
    pub fn push(&mut self, ctx: &mut Context, packet: &Packet) -> bool {
        let early = self.drops.counts.early;
        let taken = self.queue.push(ctx.now, *packet, &mut self.drops);
        if self.drops.has_discarded() {
            self.let_go(ctx);
        }
        if taken {
            ctx.take(packet);
        } else {
            let is_early = self.drops.counts.early > early;
            ctx.lose(0, *packet, if is_early { Cause::EarlyDrop } else { Cause::Overflow });
        }
        taken
    }

    /// The next packet to send; none leaves the queue empty.
    #[inline]
    pub fn pop(&mut self, ctx: &mut Context) -> Option<Packet> {
        let packet = self.queue.pop(ctx.now, &mut self.drops);
        if self.drops.has_discarded() {
            self.let_go(ctx);
        }
        packet
    }

    /// Lets go of what the queue has dropped after it had taken it.
    #[cold]
    fn let_go(&mut self, ctx: &mut Context) {
        for (packet, cause) in self.drops.take_discarded() {
            ctx.lose(0, packet, cause);
        }
    }

    /// Whether no packet waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether a packet that finds the link idle passes through the queue too.
    pub fn sees_every_packet(&self) -> bool {
        self.queue.sees_every_packet()
    }

    /// Packets that wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Bytes of these.
    pub fn waiting_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// What a link has done that has sent `bytes`.
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
