//! The event queue: integer time, deterministic order, timers that can be cancelled.
//!
//! Each component of a simulation owns one timer. [`EventQueue`] holds the keys of all timers and
//! finds the earliest. It compares the first few timers one by one and keeps all others in a
//! tournament tree. No entry is ever duplicated or stale, and after [`EventQueue::new`] nothing is
//! allocated.
//!
//! Simultaneous events have a fixed order, which does not depend on when they were scheduled: first by [`Phase`], then
//! by the place of the component on the way of a packet, then, among the same components of several users, by a hash of
//! the time, the user and the replication, so that no user is always first.
//!
//! A component with several pending events, such as a link with packets in flight, keeps them in a queue of
//! its own and arms its timer with the earliest.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::engine::{EventQueue, Instant, Order, Phase};
//! use nodeb_base::rng::Streams;
//! use nodeb_base::units::Time;
//!
//! let mut queue = EventQueue::new([Order::default(); 2], &Streams::new(1, 0));
//! queue.set(0, Some(Instant::new(Time(30), Phase::Timer)));
//! queue.set(1, Some(Instant::new(Time(30), Phase::Sent)));
//! assert_eq!(queue.next().map(|(_, timer)| timer), Some(1));
//!
//! queue.set(1, None); // disarms timer 1
//! assert_eq!(queue.next().map(|(_, timer)| timer), Some(0));
//! ```

use crate::rng::{Indexed, Streams};
use crate::units::Time;

/// What happens first of several events at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// A transmission ends: a packet that arrives at the same time finds its place in the queue free, as in ns-2.
    Sent,
    Timer,
    Arrival,
    /// A phone needs time to react, so what it receives now is too late for this TTI.
    UplinkTti,
    DownlinkTti,
    /// After all events of this time.
    End,
}

/// Time and phase of an event, in the order in which events are handled: 8 times the time in ns, plus the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// Bits of the phase.
    const PHASE: u32 = 3;

    /// Times from 73 years on count as never.
    #[inline]
    pub fn new(at: Time, phase: Phase) -> Self {
        Self((at.0.min(NEVER >> Self::PHASE) << Self::PHASE) | phase as u64)
    }

    #[inline]
    pub fn time(self) -> Time {
        Time(self.0 >> Self::PHASE)
    }

    #[inline]
    pub fn is(self, phase: Phase) -> bool {
        self.0 & ((1 << Self::PHASE) - 1) == phase as u64
    }
}

/// Place of a component among those with an event at the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// On the way of a packet.
    pub rank: u32,
    /// User of the component, among those with the same rank.
    pub user: u32,
}

impl Order {
    /// Process of [`Self::at`].
    pub fn ties(streams: &Streams) -> Indexed {
        streams.indexed("engine", 0, "ties")
    }

    /// The smaller comes first: equal components of several users take turns by chance.
    pub fn at(self, instant: Instant, ties: &Indexed) -> (u32, u64) {
        (self.rank, ties.bits(instant.0 ^ u64::from(self.user).rotate_left(40)))
    }
}

/// Smallest expiry, as the number of an [`Instant`], that means "disarmed". Timer `n` is disarmed with the expiry
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
    /// Timers 0 to 6, then the earliest in the tree.
    front: [u64; FRONT + 1],
    /// Tournament tree in groups of nodes. The root holds the earliest node of group 0. Node `n`,
    /// counted over all groups, holds the earliest node of group `n + 1`. The last nodes are the
    /// leaves: one for each timer that is not in `front`, then up to four that are never armed.
    groups: Vec<[Entry; GROUP]>,
    /// Timer at the root of the tree. Its expiry is the last entry of `front`.
    first_in_tree: u32,
    order: Vec<Order>,
    ties: Indexed,
}

impl EventQueue {
    /// With a timer for each component.
    pub fn new(order: impl Into<Vec<Order>>, streams: &Streams) -> Self {
        let order = order.into();
        let timers = order.len();
        let groups = timers.saturating_sub(FRONT + 1).div_ceil(GROUP - 1).max(1);
        let mut queue = Self {
            front: std::array::from_fn(|timer| NEVER + timer as u64),
            groups: vec![[Entry::never(FRONT); GROUP]; groups],
            first_in_tree: FRONT as u32,
            order,
            ties: Order::ties(streams),
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

    #[inline]
    pub fn set(&mut self, timer: usize, instant: Option<Instant>) {
        let at = instant.map_or(NEVER, |instant| instant.0);
        let at = if at < NEVER { at } else { NEVER + timer as u64 };
        if let Some(held) = self.front[..FRONT].get_mut(timer) {
            *held = at;
        } else if self.at(timer) != at {
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
            // expiry can change which timer of the group is the earliest.
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

    /// Place of a user among those with an event at `instant`.
    pub fn turn(&self, instant: Instant, user: u32) -> u64 {
        Order { rank: 0, user }.at(instant, &self.ties).1
    }

    /// The timer stays armed: the caller arms or disarms it after handling the event.
    #[inline]
    pub fn next(&self) -> Option<(Instant, usize)> {
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
        Some((Instant(at), timer))
    }

    #[cold]
    fn first_of_tie(&self, at: u64) -> usize {
        let front = (0..FRONT).map(|timer| Entry { at: self.front[timer], timer: timer as u32 });
        let tree = Entry { at: self.front[FRONT], timer: self.first_in_tree };
        self.first_of(at, front.chain([tree])).timer as usize
    }

    #[cold]
    fn first_of(&self, at: u64, entries: impl Iterator<Item = Entry>) -> Entry {
        let tied = entries.filter(|entry| entry.at == at);
        let first = tied
            .min_by_key(|entry| (self.order[entry.timer as usize].at(Instant(at), &self.ties), entry.timer));
        first.unwrap_or(Entry { at, timer: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(queue: &mut EventQueue) -> Vec<(Instant, usize)> {
        std::iter::from_fn(|| {
            let (instant, timer) = queue.next()?;
            queue.set(timer, None);
            Some((instant, timer))
        })
        .collect()
    }

    #[test]
    fn simultaneous_events_are_ordered_by_phase_then_by_place() {
        let order = [2, 0, 1].map(|rank| Order { rank, user: 0 });
        let mut queue = EventQueue::new(order, &Streams::new(1, 0));
        for (timer, phase) in [(0, Phase::Arrival), (1, Phase::Arrival), (2, Phase::DownlinkTti)] {
            queue.set(timer, Some(Instant::new(Time(5), phase)));
        }
        let timers: Vec<_> = drain(&mut queue).into_iter().map(|(_, timer)| timer).collect();
        assert_eq!(timers, [1, 0, 2]);
    }

    #[test]
    fn no_user_is_always_first() {
        let users: Vec<_> = (0..8).map(|user| Order { rank: 0, user }).collect();
        let mut sums = [0.0; 8];
        for at in 0..4_000 {
            let mut queue = EventQueue::new(users.clone(), &Streams::new(1, 0));
            (0..8)
                .for_each(|timer| queue.set(timer, Some(Instant::new(Time(at * 1_000_000), Phase::Arrival))));
            for (place, (_, timer)) in drain(&mut queue).into_iter().enumerate() {
                sums[timer] += place as f64 / 4_000.0;
            }
        }
        // The place of a user is uniform on 0 to 7: deviation sqrt(5.25 / 4000) = 0.036 of its mean.
        assert!(sums.iter().all(|mean| (mean - 3.5).abs() < 0.15), "{sums:?}");
    }

    #[test]
    fn timers_can_be_moved_and_cancelled() {
        let mut queue = EventQueue::new([Order::default(); 3], &Streams::new(1, 0));
        let timer = |at| Some(Instant::new(Time(at), Phase::Timer));
        for at in [10, 30, 20] {
            queue.set(1, timer(at));
        }
        queue.set(2, timer(5));
        queue.set(2, None);
        assert_eq!(drain(&mut queue), [(Instant::new(Time(20), Phase::Timer), 1)]);
    }

    proptest! {
        /// Timers expire in order of time, phase and rank. A timer that was armed several times has only its last
        /// expiry.
        #[test]
        fn event_queue_matches_a_sorted_list(
            ranks in prop::collection::vec(0u32..4, 1..90),
            sets in prop::collection::vec((0usize..90, prop::option::of((0u64..50, any::<bool>()))), 0..200),
        ) {
            let order: Vec<_> = (0..).zip(&ranks).map(|(user, rank)| Order { rank: *rank, user }).collect();
            let streams = Streams::new(1, 0);
            let ties = Order::ties(&streams);
            let mut queue = EventQueue::new(order.clone(), &streams);
            let mut model = vec![None; ranks.len()];
            for (timer, at) in sets {
                let timer = timer % ranks.len();
                let instant = at.map(|(at, sent)| Instant::new(Time(at), if sent { Phase::Sent } else { Phase::Arrival }));
                queue.set(timer, instant);
                model[timer] = instant.map(|instant| (instant, order[timer].at(instant, &ties), timer));
                let first = model.iter().flatten().min().map(|(instant, _, timer)| (*instant, *timer));
                prop_assert_eq!(queue.next(), first);
            }
            let mut expected: Vec<_> = model.into_iter().flatten().collect();
            expected.sort_unstable();
            let expected: Vec<_> = expected.into_iter().map(|(instant, _, timer)| (instant, timer)).collect();
            prop_assert_eq!(drain(&mut queue), expected);
        }
    }
}
