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
//! A component with several pending events, such as a link with packets in flight, keeps them in a queue of its own. It
//! draws a stamp for each event when it schedules it, and arms its timer with the earliest key.
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
use std::cmp::Ordering;

use crate::units::Time;

/// Scheduling order of an event, which breaks ties between simultaneous events: first by the time
/// at which the event was decided, then by the order in which the stamps were drawn.
///
/// The time of decision matters only for an event that is scheduled before it is decided. An
/// example is a packet's arrival behind the second of two links: it is known when the packet enters
/// the first link, but decided when the packet enters the second. Such an event keeps the position
/// that it would have had if it had been scheduled at the time of decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    decided: Time,
    /// Twice the serial number of the stamp, plus 1 if the stamp was drawn before the time
    /// `decided`.
    number: u64,
}

/// Position of an event in the total order of events: time, then scheduling order.
pub type Key = (Time, Stamp);

/// Source of stamps that increase with each draw. There is one source per simulation run.
#[derive(Debug, Default)]
pub struct Stamps {
    /// Current simulated time, at which events are decided.
    pub now: Time,
    /// Whether a result depended on the order of two simultaneous events whose stamps do not
    /// determine that order ([`Stamp::is_uncertain_beside`]).
    pub is_uncertain: bool,
    number: u64,
}

impl Stamp {
    /// Stamp that is ordered after all stamps that can be drawn.
    pub const LAST: Self = Self { decided: Time(u64::MAX), number: u64::MAX };

    /// Returns true if `later` was drawn directly after this stamp, with no stamp between them.
    #[inline]
    pub fn is_just_before(self, later: Self) -> bool {
        self.number / 2 + 1 == later.number / 2
    }

    /// Returns true if the order of two simultaneous events is unknown: both were decided at the same time, and at least
    /// one of the stamps had been drawn before that time.
    #[inline]
    pub fn is_uncertain_beside(self, other: Self) -> bool {
        self.decided == other.decided && (self.number | other.number) % 2 == 1
    }
}

impl Stamps {
    /// Returns the key of an event that is decided now and happens at the time `at`.
    #[inline]
    pub fn key(&mut self, at: Time) -> Key {
        self.key_decided(self.now, at)
    }

    /// Returns the key of an event that happens at the time `at` and is decided at `decided`, which
    /// is now or later.
    #[inline]
    pub fn key_decided(&mut self, decided: Time, at: Time) -> Key {
        self.number += 2;
        (at, Stamp { decided, number: self.number + u64::from(decided > self.now) })
    }
}

/// Smallest expiry, in ns, that means "disarmed". Timer `n` is disarmed with the expiry
/// `NEVER + n`, so that no two disarmed timers have equal expiries.
const NEVER: u64 = u64::MAX - u32::MAX as u64;

/// Number of a timer and its expiry in ns, as kept in the tournament tree.
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

/// Number of timers that are kept in a plain array in front of the tree: timers 0 to 6.
const FRONT: usize = 7;

/// Timers of all components, from which the earliest can be found quickly.
///
/// Timers 0 to 6 are armed at nearly every event. So they are kept in an array, in which arming is
/// a plain store, and [`Self::next`] compares them one by one. All other timers are leaves of a
/// tournament tree.
#[derive(Debug)]
pub struct EventQueue {
    /// Expiries in ns of timers 0 to 6, followed by the earliest expiry in the tree.
    front: [u64; FRONT + 1],
    /// Tournament tree: node `n` holds the earlier of its children `2 n` and `2 n + 1`, so node 1
    /// holds the earliest timer in the tree. The second half of the nodes are the leaves, one for
    /// each timer that is not in `front`.
    nodes: Vec<Entry>,
    /// Stamp of each armed timer, which decides the order of timers with equal expiries.
    stamps: Vec<Stamp>,
    /// Whether two timers were compared whose order the stamps do not determine; see
    /// [`Stamp::is_uncertain_beside`].
    is_uncertain: Cell<bool>,
}

impl EventQueue {
    /// Creates a queue of `timers` timers, numbered from 0, all of which are disarmed.
    pub fn new(timers: usize) -> Self {
        let leaves = timers.saturating_sub(FRONT).next_power_of_two();
        let mut nodes: Vec<_> = (0..2 * leaves).map(|node| Entry::never(FRONT + node % leaves)).collect();
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        let front = std::array::from_fn(|timer| NEVER + timer as u64);
        Self { front, nodes, stamps: vec![Stamp::default(); timers], is_uncertain: Cell::new(false) }
    }

    /// Returns the index in `nodes` of the leaf of a timer. The timer must be in the tree, so its
    /// number is 7 or more.
    #[inline]
    fn leaf(&self, timer: usize) -> usize {
        self.nodes.len() / 2 + timer - FRONT
    }

    #[inline]
    fn at(&self, timer: usize) -> u64 {
        if timer < FRONT { self.front[timer] } else { self.nodes[self.leaf(timer)].at }
    }

    /// Compares the stamps of two timers with the same expiry. Returns the timer that was scheduled
    /// first.
    #[cold]
    fn decided_first(&self, one: usize, other: usize) -> usize {
        let (first, second) = (self.stamps[one], self.stamps[other]);
        self.is_uncertain.set(self.is_uncertain.get() | first.is_uncertain_beside(second));
        if first < second { one } else { other }
    }

    /// Arms a timer with `key`, or disarms it if `key` is `None`.
    #[inline]
    pub fn set(&mut self, timer: usize, key: Option<Key>) {
        let at = match key {
            Some((at, stamp)) if at.0 < NEVER => {
                // The key is unchanged, so the tree needs no update.
                if timer >= FRONT && self.at(timer) == at.0 && self.stamps[timer] == stamp {
                    return;
                }
                self.stamps[timer] = stamp;
                at.0
            }
            _ => NEVER + timer as u64,
        };
        match self.front[..FRONT].get_mut(timer) {
            Some(held) => *held = at,
            None => self.replay(Entry { at, timer: timer as u32 }),
        }
    }

    /// Changes the expiry of a timer in the tree. Updates the nodes above the timer, up to the
    /// first node that is not affected by the change.
    fn replay(&mut self, changed: Entry) {
        let mut node = self.leaf(changed.timer as usize);
        let mut entry = changed;
        self.nodes[node] = entry;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            entry = match entry.at.cmp(&other.at) {
                Ordering::Less => entry,
                Ordering::Greater => other,
                Ordering::Equal => {
                    let timer = self.decided_first(entry.timer as usize, other.timer as usize);
                    Entry { at: entry.at, timer: timer as u32 }
                }
            };
            node /= 2;
            let held = &mut self.nodes[node];
            if *held == entry && entry.timer != changed.timer {
                return;
            }
            *held = entry;
        }
        self.front[FRONT] = entry.at;
    }

    /// Returns the key with which a timer is armed, or `None` if it is disarmed.
    pub fn due(&self, timer: usize) -> Option<Key> {
        let at = self.at(timer);
        (at < NEVER).then(|| (Time(at), self.stamps[timer]))
    }

    /// Returns the timer that expires first and its key, or `None` if all timers are disarmed.
    ///
    /// The timer stays armed: the caller arms or disarms it after handling the event.
    #[inline]
    pub fn next(&self) -> Option<(Key, usize)> {
        let (mut first, mut at) = (0, self.front[0]);
        for (timer, &other) in self.front.iter().enumerate().skip(1) {
            (first, at) = if other < at { (timer, other) } else { (first, at) };
        }
        if at >= NEVER {
            return None;
        }
        let ties = self.front.iter().map(|&other| u32::from(other == at)).sum::<u32>();
        let timer = if ties > 1 {
            self.first_of_tie(at)
        } else if first < FRONT {
            first
        } else {
            self.nodes[1].timer as usize
        };
        Some(((Time(at), self.stamps[timer]), timer))
    }

    #[cold]
    fn first_of_tie(&self, at: u64) -> usize {
        let front = (0..FRONT).filter(|&timer| self.front[timer] == at);
        let tree = (self.front[FRONT] == at).then_some(self.nodes[1].timer as usize);
        front.chain(tree).reduce(|one, other| self.decided_first(one, other)).unwrap_or_default()
    }

    /// Returns true if two timers were compared whose order is unknown; see
    /// [`Stamp::is_uncertain_beside`].
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
