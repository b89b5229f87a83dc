//! Look-ahead for links with a drop-tail queue and without jitter, reordering or outages: the
//! arrival time of a packet is computed when the packet enters the link.
//!
//! If the link's only input is another link with look-ahead, a packet can even be entered before the
//! simulation has reached the time of its entry. Counters are updated at once, so
//! [`LookAhead::settle`] returns the amounts that were counted too early when a run ends.

use std::collections::VecDeque;

use nodeb_base::context::Common;
use nodeb_base::event::Cause;
use nodeb_base::units::Time;

use super::queue::drop_tail::Limits;

#[derive(Debug)]
struct Passage {
    entry: Time,
    begin: Time,
    bytes: u32,
}

#[derive(Debug)]
pub struct LookAhead {
    limits: Limits,
    /// Packets whose transmission has not started, in the order of time. Before them are earlier
    /// packets that [`Self::forget`] has not discarded yet.
    passages: VecDeque<Passage>,
    waiting: usize,
    waiting_bytes: u64,
    lost: VecDeque<(Time, Cause)>,
}

/// Counted in advance for events that did not happen before the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overcount {
    /// That had not entered the link.
    pub taken: u64,
    /// Whose transmission had not begun.
    pub bytes: u64,
    pub lost: u64,
    pub overflowed: u64,
}

impl LookAhead {
    pub fn new(limits: Limits) -> Self {
        let (passages, lost) = (VecDeque::new(), VecDeque::new());
        Self { limits, passages, waiting: 0, waiting_bytes: 0, lost }
    }

    /// A transmission at the same time has started: transmissions end before packets arrive ([`Phase`]).
    ///
    /// [`Phase`]: nodeb_base::engine::Phase
    #[inline]
    pub fn advance(&mut self, entry: Time) {
        while self.waiting > 0 {
            let next = &self.passages[self.passages.len() - self.waiting];
            if next.begin > entry {
                break;
            }
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(next.bytes);
        }
    }

    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    #[inline]
    pub fn has_room(&self, bytes: u32) -> bool {
        self.limits.have_room(self.waiting, self.waiting_bytes, bytes)
    }

    #[inline]
    pub fn wait(&mut self, bytes: u32) {
        self.waiting += 1;
        self.waiting_bytes += u64::from(bytes);
    }

    #[inline]
    pub fn record(&mut self, entry: Time, begin: Time, bytes: u32, common: &Common) {
        if self.passages.len() == self.passages.capacity() {
            self.forget(common.now);
        }
        self.passages.push_back(Passage { entry, begin, bytes });
    }

    /// Discards the records of transmissions that started at or before `now`. It is called only
    /// when the memory for records is used up, since discarding many records at once takes less
    /// time than looking at the oldest record with each packet.
    #[cold]
    fn forget(&mut self, now: Time) {
        let started = self.passages.partition_point(|passage| passage.begin <= now);
        self.passages.drain(..started);
    }

    /// Stored for [`Self::settle`] only if `entry` is after `now`, because an earlier loss is never
    /// subtracted.
    pub fn lose(&mut self, entry: Time, cause: Cause, now: Time) {
        while self.lost.front().is_some_and(|(entry, _)| *entry <= now) {
            self.lost.pop_front();
        }
        if entry > now {
            self.lost.push_back((entry, cause));
        }
    }

    pub fn settle(self, end: Time) -> Overcount {
        let mut result = Overcount::default();
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
