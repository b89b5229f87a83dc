//! The event queue: integer time, deterministic order, timers that can be cancelled.
//!
//! Each component of a simulation owns one timer. [`EventQueue`] holds the keys of all timers and
//! finds the earliest. It compares the first few timers one by one and keeps all others in a
//! tournament tree. No entry is ever duplicated or stale, and after [`EventQueue::new`] nothing is
//! allocated.
//!
//! Simultaneous events are handled in the order in which they were scheduled. That order is the [`Stamp`], the second
//! part of a [`Key`].
//!
//! A component with several pending events, such as a link with packets in flight, keeps them in a queue of
//! its own. The component draws a stamp for each event when it schedules the event, and arms its timer with
//! the earliest key.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::engine::{EventQueue, Stamps};
//! use nodeb_base::units::Time;
//!
//! let (mut queue, mut stamps) = (EventQueue::new(2), Stamps::default());
//! queue.set(0, Some(stamps.key(Time(30))));
//! queue.set(1, Some(stamps.key(Time(10))));
//! assert_eq!(queue.next().map(|(_, timer)| timer), Some(1));
//!
//! queue.set(1, None); // disarms timer 1
//! assert_eq!(queue.next().map(|(_, timer)| timer), Some(0));
//! ```

use std::cell::Cell;

use crate::units::Time;

/// Scheduling order of an event, which breaks ties between simultaneous events: first by the time at which
/// the event was decided, then by the order in which the stamps were drawn. The time of decision matters only
/// for an event that is scheduled before it is decided. Such an event keeps the position that it would have
/// had if it had been scheduled at the time of decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    decided: Time,
    number: u64,
}

/// Position of an event in the total order of events: time, then scheduling order.
pub type Key = (Time, Stamp);

#[derive(Debug, Default)]
pub struct Stamps {
    pub now: Time,
    /// Whether a result depended on the order of two simultaneous events whose stamps do not
    /// determine that order ([`Stamp::is_uncertain_beside`]).
    pub is_uncertain: bool,
    number: u64,
}

impl Stamp {
    pub const LAST: Self = Self { decided: Time(u64::MAX), number: u64::MAX };

    #[inline]
    pub fn is_just_before(self, later: Self) -> bool {
        self.number / 2 + 1 == later.number / 2
    }

    /// Both were decided at the same time, and at least one of the stamps had been drawn before that time.
    #[inline]
    pub fn is_uncertain_beside(self, other: Self) -> bool {
        self.decided == other.decided && (self.number | other.number) % 2 == 1
    }
}

impl Stamps {
    #[inline]
    pub fn key(&mut self, at: Time) -> Key {
        self.key_decided(self.now, at)
    }

    #[inline]
    pub fn key_decided(&mut self, decided: Time, at: Time) -> Key {
        self.number += 2;
        (at, Stamp { decided, number: self.number + u64::from(decided > self.now) })
    }
}

/// Smallest expiry, in ns, that means "disarmed". Timer `n` is disarmed with the expiry
/// `NEVER + n`, so that no two disarmed timers have equal expiries.
const NEVER: u64 = u64::MAX - u32::MAX as u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: u64,
    timer: u32,
}

impl Entry {
    fn never(timer: usize) -> Self {
        Self { at: NEVER + timer as u64, timer: timer as u32 }
    }
}

const FRONT: usize = 7;

const GROUP: usize = 4;

/// Timers of all components, from which the earliest can be found quickly.
///
/// Nearly every event arms one of timers 0 to 6. So they are kept in an array, in which arming is a
/// plain store, and [`Self::next`] compares them one by one. All other timers are leaves of a
/// tournament tree.
#[derive(Debug)]
pub struct EventQueue {
    /// ns; timers 0 to 6, then the earliest in the tree.
    front: [u64; FRONT + 1],
    /// Tournament tree in groups of nodes. The root holds the earliest node of group 0. Node `n`,
    /// counted over all groups, holds the earliest node of group `n + 1`. The last nodes are the
    /// leaves: one for each timer that is not in `front`, then up to four that are never armed.
    groups: Vec<[Entry; GROUP]>,
    /// Timer at the root of the tree. Its expiry is the last entry of `front`.
    first_in_tree: u32,
    stamps: Vec<Stamp>,
    /// [`Stamp::is_uncertain_beside`].
    is_uncertain: Cell<bool>,
}

impl EventQueue {
    pub fn new(timers: usize) -> Self {
        let groups = timers.saturating_sub(FRONT + 1).div_ceil(GROUP - 1).max(1);
        let mut queue = Self {
            front: std::array::from_fn(|timer| NEVER + timer as u64),
            groups: vec![[Entry::never(FRONT); GROUP]; groups],
            first_in_tree: FRONT as u32,
            stamps: vec![Stamp::default(); timers],
            is_uncertain: Cell::new(false),
        };
        let leaves = queue.leaf(FRONT)..GROUP * groups;
        for (node, timer) in leaves.zip(FRONT..) {
            queue.groups[node / GROUP][node % GROUP] = Entry::never(timer);
        }
        for group in (1..groups).rev() {
            let node = group - 1;
            queue.groups[node / GROUP][node % GROUP] = queue.earliest(group);
        }
        queue
    }

    #[inline]
    fn leaf(&self, timer: usize) -> usize {
        self.groups.len() - 1 + timer - FRONT
    }

    #[inline]
    fn at(&self, timer: usize) -> u64 {
        if timer < FRONT {
            return self.front[timer];
        }
        let node = self.leaf(timer);
        self.groups[node / GROUP][node % GROUP].at
    }

    #[cold]
    fn decided_first(&self, one: usize, other: usize) -> usize {
        let (first, second) = (self.stamps[one], self.stamps[other]);
        self.is_uncertain.set(self.is_uncertain.get() | first.is_uncertain_beside(second));
        if first < second { one } else { other }
    }

    #[inline]
    pub fn set(&mut self, timer: usize, key: Option<Key>) {
        let (at, stamp) = match key {
            Some((at, stamp)) if at.0 < NEVER => (at.0, stamp),
            _ => (NEVER + timer as u64, Stamp::default()),
        };
        if let Some(held) = self.front[..FRONT].get_mut(timer) {
            *held = at;
            self.stamps[timer] = stamp;
        } else if self.at(timer) != at || self.stamps[timer] != stamp {
            self.stamps[timer] = stamp;
            self.replay(Entry { at, timer: timer as u32 });
        }
    }

    /// Changes the expiry of a timer in the tree. Updates the nodes above the timer, up to the
    /// first node that is not affected by the change.
    fn replay(&mut self, changed: Entry) {
        let (mut node, mut entry) = (self.leaf(changed.timer as usize), changed);
        loop {
            let group = node / GROUP;
            let held = &mut self.groups[group][node % GROUP];
            // The earliest timer of the group below is not the changed timer, and this node holds its entry already. So
            // this node and the nodes above stay as they are. A node with the changed timer is always updated: its new
            // expiry or stamp can change which timer of the group is the earliest.
            if held.timer == entry.timer && entry.timer != changed.timer {
                return;
            }
            *held = entry;
            entry = self.earliest(group);
            if group == 0 {
                break;
            }
            node = group - 1;
        }
        self.first_in_tree = entry.timer;
        self.front[FRONT] = entry.at;
    }

    #[inline]
    fn earliest(&self, group: usize) -> Entry {
        let entries = &self.groups[group];
        // `tie` is the last expiry that equals the minimum of the expiries before it, or `u64::MAX`
        // if there is none.
        let (mut first, mut tie) = (entries[0], u64::MAX);
        for &Entry { at, timer } in &entries[1..] {
            tie = if at == first.at { at } else { tie };
            first.timer = if at < first.at { timer } else { first.timer };
            first.at = at.min(first.at);
        }
        if tie == first.at { self.first_of(tie, entries.iter().copied()) } else { first }
    }

    pub fn due(&self, timer: usize) -> Option<Key> {
        let at = self.at(timer);
        (at < NEVER).then(|| (Time(at), self.stamps[timer]))
    }

    /// The timer stays armed: the caller arms or disarms it after handling the event.
    #[inline]
    pub fn next(&self) -> Option<(Key, usize)> {
        // `tie` is the last expiry that equals the minimum of the expiries before it, or `u64::MAX`
        // if there is none.
        let (mut first, mut at, mut tie) = (0, self.front[0], u64::MAX);
        for (timer, &other) in self.front.iter().enumerate().skip(1) {
            tie = if other == at { at } else { tie };
            (first, at) = if other < at { (timer, other) } else { (first, at) };
        }
        if at >= NEVER {
            return None;
        }
        let timer = if tie == at {
            self.first_of_tie(at)
        } else if first < FRONT {
            first
        } else {
            self.first_in_tree as usize
        };
        Some(((Time(at), self.stamps[timer]), timer))
    }

    #[cold]
    fn first_of_tie(&self, at: u64) -> usize {
        let front = (0..FRONT).map(|timer| Entry { at: self.front[timer], timer: timer as u32 });
        let tree = Entry { at: self.front[FRONT], timer: self.first_in_tree };
        self.first_of(at, front.chain([tree])).timer as usize
    }

    #[cold]
    fn first_of(&self, at: u64, entries: impl Iterator<Item = Entry>) -> Entry {
        let timers = entries.filter(|entry| entry.at == at).map(|entry| entry.timer as usize);
        let first = timers.reduce(|one, other| self.decided_first(one, other));
        Entry { at, timer: first.unwrap_or_default() as u32 }
    }

    #[inline]
    pub fn is_uncertain(&self) -> bool {
        self.is_uncertain.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, usize)> {
        std::iter::from_fn(|| {
            let (key, timer) = queue.next()?;
            queue.set(timer, None);
            Some((key.0.0, timer))
        })
        .collect()
    }

    #[test]
    fn simultaneous_events_keep_scheduling_order() {
        let (mut queue, mut stamps) = (EventQueue::new(4), Stamps::default());
        for (timer, at) in [(3, 5), (0, 3), (1, 5), (2, 3)] {
            queue.set(timer, Some(stamps.key(Time(at))));
        }
        assert_eq!(drain(&mut queue), [(3, 0), (3, 2), (5, 3), (5, 1)]);
    }

    #[test]
    fn timers_can_be_moved_and_cancelled() {
        let (mut queue, mut stamps) = (EventQueue::new(3), Stamps::default());
        for at in [10, 30, 20] {
            queue.set(1, Some(stamps.key(Time(at))));
        }
        queue.set(2, Some(stamps.key(Time(5))));
        queue.set(2, None);
        assert_eq!(queue.due(2), None);
        assert_eq!(drain(&mut queue), [(20, 1)]);
    }

    proptest! {
        /// Timers expire in order of time, then time of decision, then insertion. A timer that was
        /// armed several times has only its last key.
        #[test]
        fn event_queue_matches_a_sorted_list(
            timers in 1usize..90,
            sets in prop::collection::vec((0usize..90, prop::option::of(0u64..50), 0u64..3), 0..200),
        ) {
            let (mut queue, mut stamps) = (EventQueue::new(timers), Stamps::default());
            let mut model = vec![None; timers];
            for (order, (timer, at, decided)) in sets.into_iter().enumerate() {
                let timer = timer % timers;
                queue.set(timer, at.map(|at| stamps.key_decided(Time(decided), Time(at))));
                model[timer] = at.map(|at| (at, decided, order, timer));
                let first = model.iter().flatten().min().map(|&(at, .., timer)| (Time(at), timer));
                prop_assert_eq!(queue.next().map(|((at, _), timer)| (at, timer)), first);
            }
            let mut expected: Vec<_> = model.into_iter().flatten().collect();
            expected.sort_unstable();
            let expected: Vec<_> = expected.into_iter().map(|(at, .., timer)| (at, timer)).collect();
            prop_assert_eq!(drain(&mut queue), expected);
        }
    }
}
