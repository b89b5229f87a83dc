//! Links whose arrivals are known when packets enter: first in, first out, without jitter, reordering or outages.
//!
//! A packet may enter before its time, as it does where another such link leads here and nothing else does. What
//! it changes counts at once; [`Foresight::settle`] says what of that is still to come when a run ends.

use std::collections::VecDeque;

use nodeb_base::engine::{Key, Stamps};
use nodeb_base::event::Cause;

use super::queue::drop_tail::Limits;

/// A packet that has begun to be sent after it entered, or that will.
#[derive(Debug)]
struct Passage {
    entry: Key,
    begin: Key,
    bytes: u32,
}

/// The packets of a link that have not begun to be sent, and the room of its queue.
#[derive(Debug)]
pub struct Foresight {
    limits: Limits,
    passages: VecDeque<Passage>,
    /// How many of the last passages had not begun when the newest packet entered: the queue as it found it.
    waiting: usize,
    waiting_bytes: u64,
    /// When packets are lost, and why.
    lost: VecDeque<(Key, Cause)>,
}

/// What a link has counted and what has not happened when a run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unhappened {
    /// Packets taken.
    pub taken: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Packets lost before the queue.
    pub lost: u64,
    /// Packets that find the queue full.
    pub overflowed: u64,
}

impl Foresight {
    /// Returns the foresight of a link that is empty and in front of which so much may wait.
    pub fn new(limits: Limits) -> Self {
        let (passages, lost) = (VecDeque::new(), VecDeque::new());
        Self { limits, passages, waiting: 0, waiting_bytes: 0, lost }
    }

    /// Moves on to the packet that enters under `entry`, and forgets what has happened by the time under `now`.
    #[inline]
    pub fn advance(&mut self, entry: Key, now: Key, stamps: &mut Stamps) {
        while self.waiting > 0 {
            let next = &self.passages[self.passages.len() - self.waiting];
            // Whether it waits still decides who finds room.
            stamps.is_uncertain |= next.begin.0 == entry.0 && next.begin.1.is_uncertain_beside(entry.1);
            if next.begin > entry {
                break;
            }
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(next.bytes);
        }
        while self.passages.front().is_some_and(|passage| passage.begin <= now) {
            self.passages.pop_front();
        }
    }

    /// Returns true if packets wait.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Returns true if there is room for a packet that must wait.
    #[inline]
    pub fn has_room(&self, bytes: u32) -> bool {
        self.limits.have_room(self.waiting, self.waiting_bytes, bytes)
    }

    /// Takes note of a packet that enters and begins to be sent under these keys, unless both are past.
    #[inline]
    pub fn pass(&mut self, entry: Key, begin: Key, bytes: u32, now: Key) {
        if begin != entry {
            self.waiting += 1;
            self.waiting_bytes += u64::from(bytes);
        }
        if begin > now {
            self.passages.push_back(Passage { entry, begin, bytes });
        }
    }

    /// Takes note of a packet that is lost when it enters, unless that is past.
    pub fn lose(&mut self, entry: Key, cause: Cause, now: Key) {
        while self.lost.front().is_some_and(|(entry, _)| *entry <= now) {
            self.lost.pop_front();
        }
        if entry > now {
            self.lost.push_back((entry, cause));
        }
    }

    /// Returns what has been counted and has not happened under `end` or before.
    pub fn settle(self, end: Key) -> Unhappened {
        let mut result = Unhappened::default();
        for Passage { entry, begin, bytes } in self.passages {
            result.taken += u64::from(entry > end);
            result.bytes += if begin > end { u64::from(bytes) } else { 0 };
        }
        for (_, cause) in self.lost.into_iter().filter(|(entry, _)| *entry > end) {
            match cause {
                Cause::LinkLoss => result.lost += 1,
                _ => result.overflowed += 1,
            }
        }
        result
    }
}
