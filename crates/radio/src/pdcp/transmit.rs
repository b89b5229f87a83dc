//! Buffer of packets that RLC has not taken yet: a queue discipline and the discard timer.

use std::collections::VecDeque;

use nodeb_base::event::Cause;
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::{Duration, Time};
use nodeb_net::queue::{DropLog, Queue, QueueCounts};

use crate::Backlog;

/// Packet in the queue, with its arrival time and the TTI in which its waiting time starts.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    arrived: Time,
    /// First TTI in which the packet may be sent; its waiting time starts there.
    since: u64,
}

/// Packet that RLC takes to send its first part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The packet, which the queue may have marked (ECN).
    pub packet: Packet,
    /// First TTI in which the packet may be sent; its waiting time starts there.
    pub since: u64,
}

// Clause: TS 36.323, 5.4: discard of old packets
// Simplified: of packets that RLC has not begun
/// Packets that RLC has not taken yet, in a queue discipline and with a discard timer.
#[derive(Debug)]
pub struct Transmit {
    queue: Box<dyn Queue>,
    drops: DropLog,
    discard_timer: Option<Duration>,
    /// Packets in the queue that are neither dropped nor expired, in order of arrival.
    waiting: VecDeque<Waiting>,
    backlog: Backlog,
    /// Packets that have expired but are still in the queue, because a packet can only be removed
    /// when the queue discipline serves it.
    expired: Vec<PacketId>,
    /// Cause of the loss of the last packet that the queue did not accept.
    refused: Cause,
    /// Packets that were accepted and then lost, each with the cause, until the caller takes them.
    lost: Vec<(Packet, Cause)>,
}

impl Transmit {
    /// Creates an empty buffer with the queue discipline `queue`. Packets are discarded after
    /// `discard_timer`, or never if it is `None`.
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

    /// Accepts a packet that may be sent from TTI `since`. Returns false if the queue drops it.
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

    /// Returns the cause of the loss of the last packet that [`Self::push`] did not accept.
    pub fn refused(&self) -> Cause {
        self.refused
    }

    /// Returns the numbers of packets that the queue has dropped and marked.
    pub fn queue_counts(&self) -> QueueCounts {
        self.drops.counts
    }

    /// Removes and returns the packet that RLC sends next, or `None` if no packet waits.
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

    /// Removes a packet that has left the queue from the list of waiting packets. Returns `None` if
    /// the packet had expired and is therefore counted as lost already.
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

    /// Records as lost those packets that the queue accepted and then dropped.
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

    /// Returns the time at which the discard timer of the oldest packet expires and
    /// [`Self::on_time`] must be called. Returns `None` if no timer runs.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        Some(self.waiting.front()?.arrived + self.discard_timer?)
    }

    /// Discards the packets whose discard timer has expired by `now` (TS 36.323, 5.4).
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

    /// Returns true if [`Self::take_lost`] would return any packet.
    #[inline]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Removes and returns the packets that were accepted and then lost, each with the cause.
    pub fn take_lost(&mut self) -> std::vec::Drain<'_, (Packet, Cause)> {
        self.lost.drain(..)
    }

    /// Returns the number and bytes of the packets that wait.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns true if no packet waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the TTI since which the oldest packet has waited, or `None` if no packet waits.
    pub fn waits_since(&self) -> Option<u64> {
        self.waiting.front().map(|waiting| waiting.since)
    }
}
