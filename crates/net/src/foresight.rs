//! Links whose arrivals are known when packets enter: first in, first out, without jitter, reordering or outages.
//!
//! A packet may enter before its time, as it does where another such link leads here and nothing else does. What
//! it changes counts at once; [`Foresight::settle`] says what of that is still to come when a run ends.

use std::collections::VecDeque;

use crate::engine::Key;
use crate::event::Cause;

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
    limit: usize,
    limit_bytes: u64,
    passages: VecDeque<Passage>,
    /// How many of the last passages had not begun when the newest packet entered: the queue as it found it.
    waiting: usize,
    waiting_bytes: u64,
    /// When packets are lost, and why.
    lost: VecDeque<(Key, Cause)>,
    /// Whether something depended on the order of two simultaneous events that is not known.
    is_uncertain: bool,
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

/// Returns true if it is not known which of two events comes first.
fn is_uncertain(one: Key, other: Key) -> bool {
    one.0 == other.0 && one.1.is_uncertain_beside(other.1)
}

impl Foresight {
    /// Returns the foresight of a link that is empty and in front of which fewer than `limit` packets and
    /// `limit_bytes` bytes may wait.
    pub fn new(limit: usize, limit_bytes: u64) -> Self {
        let (passages, lost) = (VecDeque::new(), VecDeque::new());
        Self { limit, limit_bytes, passages, waiting: 0, waiting_bytes: 0, lost, is_uncertain: false }
    }

    /// Moves on to the packet that enters under `entry`, and forgets what has happened by the time under `now`.
    #[inline]
    pub fn advance(&mut self, entry: Key, now: Key) {
        while self.waiting > 0 {
            let next = &self.passages[self.passages.len() - self.waiting];
            self.is_uncertain |= is_uncertain(next.begin, entry);
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
        self.waiting + 1 < self.limit && self.waiting_bytes + u64::from(bytes) <= self.limit_bytes
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

    /// Returns true if something depended on the order of two simultaneous events that is not known.
    #[inline]
    pub fn is_uncertain(&self) -> bool {
        self.is_uncertain
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
