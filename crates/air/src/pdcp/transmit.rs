use std::collections::VecDeque;

use nodeb_base::event::Cause;
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::{Duration, Time};
use nodeb_net::queue::{DropLog, Queue, QueueCounts};

use crate::Backlog;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    arrived: Time,
    /// First TTI in which the packet may be sent.
    since: u64,
}

/// RLC takes it to send its first part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The queue may have marked it (ECN).
    pub packet: Packet,
    /// First TTI in which the packet may be sent.
    pub since: u64,
}

// Clause: TS 36.323, 5.4: discard of old packets
// Simplified: of packets that RLC has not begun
#[derive(Debug)]
pub struct Transmit {
    queue: Box<dyn Queue>,
    drops: DropLog,
    discard_timer: Option<Duration>,
    /// In order of arrival, without dropped and expired packets.
    waiting: VecDeque<Waiting>,
    backlog: Backlog,
    /// Still in the queue, as a packet can only be removed when the discipline serves it.
    expired: Vec<PacketId>,
    /// Cause of the last packet not accepted.
    refused: Cause,
    /// Accepted and then lost.
    lost: Vec<(Packet, Cause)>,
}

impl Transmit {
    pub fn new(queue: Box<dyn Queue>, discard_timer: Option<Duration>) -> Self {
        Self {
            queue,
            drops: DropLog::default(),
            discard_timer,
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            expired: Vec::new(),
            refused: Cause::Overflow,
            lost: Vec::new(),
        }
    }

    /// May be sent from TTI `since`; false if the queue drops it.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        let early = self.drops.counts.early;
        let taken = self.queue.push(now, packet, &mut self.drops);
        if taken {
            self.waiting.push_back(Waiting { packet, arrived: now, since });
            self.backlog.add(&packet);
        } else {
            let is_early = self.drops.counts.early > early;
            self.refused = if is_early { Cause::EarlyDrop } else { Cause::Overflow };
        }
        self.remove_dropped();
        taken
    }

    /// Cause of the last packet that [`Self::push`] did not accept.
    pub fn refused(&self) -> Cause {
        self.refused
    }

    pub fn queue_counts(&self) -> QueueCounts {
        self.drops.counts
    }

    #[inline]
    pub fn begin(&mut self, now: Time) -> Option<Begun> {
        loop {
            let packet = self.queue.pop(now, &mut self.drops);
            self.remove_dropped();
            let packet = packet?;
            if let Some(waiting) = self.remove(packet.id) {
                return Some(Begun { packet, since: waiting.since });
            }
        }
    }

    /// `None` if the packet had expired and is therefore counted as lost already.
    #[inline]
    fn remove(&mut self, id: PacketId) -> Option<Waiting> {
        let is_first = self.waiting.front().is_some_and(|waiting| waiting.packet.id == id);
        let waiting = if is_first { self.waiting.pop_front() } else { self.remove_later(id) };
        let Some(waiting) = waiting else {
            self.expired.retain(|expired| *expired != id);
            return None;
        };
        self.backlog.remove(&waiting.packet);
        Some(waiting)
    }

    #[cold]
    fn remove_later(&mut self, id: PacketId) -> Option<Waiting> {
        let place = self.waiting.iter().position(|waiting| waiting.packet.id == id)?;
        self.waiting.remove(place)
    }

    /// Packets that the queue accepted and then dropped.
    #[inline]
    fn remove_dropped(&mut self) {
        if self.drops.has_discarded() {
            let mut drops = std::mem::take(&mut self.drops);
            for (packet, cause) in drops.take_discarded() {
                if self.remove(packet.id).is_some() {
                    self.lost.push((packet, cause));
                }
            }
            self.drops = drops;
        }
    }

    #[inline]
    pub fn due(&self) -> Option<Time> {
        Some(self.waiting.front()?.arrived + self.discard_timer?)
    }

    /// TS 36.323, 5.4.
    pub fn on_time(&mut self, now: Time) {
        while self.due().is_some_and(|at| at <= now)
            && let Some(Waiting { packet, .. }) = self.waiting.pop_front()
        {
            self.backlog.remove(&packet);
            self.lost.push((packet, Cause::RadioLoss));
            if self.queue.limits().is_some() {
                // A drop-tail queue serves packets in order of arrival, so the expired packet is
                // its first one and can be removed at once.
                let oldest = self.queue.pop(now, &mut self.drops);
                debug_assert_eq!(oldest.map(|oldest| oldest.id), Some(packet.id));
            } else {
                self.expired.push(packet.id);
            }
        }
    }

    #[inline]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Accepted and then lost.
    pub fn take_lost(&mut self) -> std::vec::Drain<'_, (Packet, Cause)> {
        self.lost.drain(..)
    }

    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn oldest(&self) -> Option<&Packet> {
        self.waiting.front().map(|waiting| &waiting.packet)
    }

    pub fn waits_since(&self) -> Option<u64> {
        self.waiting.front().map(|waiting| waiting.since)
    }
}
