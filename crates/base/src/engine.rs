//! The event engine: integer time, events in order of (time, time of decision, insertion), cancellable alarms.
//!
//! Every component has one alarm, and the agenda is a tournament over the alarms: setting one
//! replays the matches on its way to the top. Nothing is ever queued twice, moved or left stale,
//! a cancelled alarm is simply set to never, and after the agenda is made nothing is allocated.
//! A component that has decided on several future things (packets in flight, say) keeps them
//! itself, each under the [`Stamp`] drawn when it was decided, and shows the agenda the earliest.

use std::cell::Cell;
use std::cmp::Ordering;

use crate::units::Time;

/// Order of simultaneous events: by the time at which each was decided, then by order of insertion.
///
/// The first matters only for an event that is decided ahead of time (a packet's arrival behind the second of two
/// links, known when it enters the first): it keeps the place that it would have had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    decided: Time,
    /// Twice the number of the stamp, and one more if it was drawn ahead of the time of decision.
    number: u64,
}

/// Position of an event in the order of all events.
pub type Key = (Time, Stamp);

/// Source of stamps.
#[derive(Debug, Default)]
pub struct Stamps {
    /// The current time, at which events are decided.
    pub now: Time,
    /// Whether something depended on the order of two simultaneous events that is not known ahead of time.
    pub is_uncertain: bool,
    number: u64,
}

impl Stamp {
    /// The stamp behind all others.
    pub const LAST: Self = Self { decided: Time(u64::MAX), number: u64::MAX };

    /// Returns true if `later` is the next stamp after this one.
    #[inline]
    pub fn is_just_before(self, later: Self) -> bool {
        self.number / 2 + 1 == later.number / 2
    }

    /// Returns true if it is not known which of two simultaneous events was decided first: both were at the same time,
    /// and one of the stamps had been drawn before.
    #[inline]
    pub fn is_uncertain_beside(self, other: Self) -> bool {
        self.decided == other.decided && (self.number | other.number) % 2 == 1
    }
}

impl Stamps {
    /// Returns the key of an event decided now that is to happen `at`.
    #[inline]
    pub fn key(&mut self, at: Time) -> Key {
        self.key_decided(self.now, at)
    }

    /// Returns the key of an event that is to happen `at` and counts as decided at `decided`, now or later.
    #[inline]
    pub fn key_decided(&mut self, decided: Time, at: Time) -> Key {
        self.number += 2;
        (at, Stamp { decided, number: self.number + u64::from(decided > self.now) })
    }
}

/// Times from here on mean never; each alarm has one of its own, so that alarms that are not set never tie.
const NEVER: u64 = u64::MAX - u32::MAX as u64;

/// An alarm and when it rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: u64,
    alarm: u32,
}

impl Entry {
    fn never(alarm: usize) -> Self {
        Self { at: NEVER + alarm as u64, alarm: alarm as u32 }
    }
}

/// Alarms that stand beside the tree.
const FRONT: usize = 7;

/// The alarms of all components, and which of them rings next.
///
/// The first few are set at nearly every event, so they are only written down, and looked through when somebody asks
/// for the next one. All others meet in a tree of matches.
#[derive(Debug)]
pub struct Agenda {
    /// The times of the first alarms, and behind them that of the winner of the tree.
    front: [u64; FRONT + 1],
    /// A tree of matches between two: node 1 holds the winner of all, and each node that of its children `2 n` and
    /// `2 n + 1`; the last ones are the alarms that are not in front.
    nodes: Vec<Entry>,
    /// The stamp of each alarm that is set, which decides between alarms of the same time.
    stamps: Vec<Stamp>,
    /// Whether two alarms have met of which it is not known which one was decided first.
    is_uncertain: Cell<bool>,
}

impl Agenda {
    /// An agenda of `alarms` alarms, none of them set.
    pub fn new(alarms: usize) -> Self {
        let leaves = alarms.saturating_sub(FRONT).next_power_of_two();
        let mut nodes: Vec<_> = (0..2 * leaves).map(|node| Entry::never(FRONT + node % leaves)).collect();
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node];
        }
        let front = std::array::from_fn(|alarm| NEVER + alarm as u64);
        Self { front, nodes, stamps: vec![Stamp::default(); alarms], is_uncertain: Cell::new(false) }
    }

    /// Returns the node of an alarm that is not in front.
    #[inline]
    fn leaf(&self, alarm: usize) -> usize {
        self.nodes.len() / 2 + alarm - FRONT
    }

    #[inline]
    fn at(&self, alarm: usize) -> u64 {
        if alarm < FRONT { self.front[alarm] } else { self.nodes[self.leaf(alarm)].at }
    }

    /// Returns the one of two alarms of the same time that was decided first.
    #[cold]
    fn decided_first(&self, one: usize, other: usize) -> usize {
        let (first, second) = (self.stamps[one], self.stamps[other]);
        self.is_uncertain.set(self.is_uncertain.get() | first.is_uncertain_beside(second));
        if first < second { one } else { other }
    }

    /// Sets an alarm to ring under `key`, or never.
    #[inline]
    pub fn set(&mut self, alarm: usize, key: Option<Key>) {
        let at = match key {
            Some((at, stamp)) if at.0 < NEVER => {
                // Stopping where nothing changes is what makes repeated settings cheap.
                if alarm >= FRONT && self.at(alarm) == at.0 && self.stamps[alarm] == stamp {
                    return;
                }
                self.stamps[alarm] = stamp;
                at.0
            }
            _ => NEVER + alarm as u64,
        };
        match self.front[..FRONT].get_mut(alarm) {
            Some(held) => *held = at,
            None => self.replay(Entry { at, alarm: alarm as u32 }),
        }
    }

    /// Gives an alarm in the tree another time, and replays its matches up to where the winner stays.
    fn replay(&mut self, changed: Entry) {
        let mut node = self.leaf(changed.alarm as usize);
        let mut entry = changed;
        self.nodes[node] = entry;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            entry = match entry.at.cmp(&other.at) {
                Ordering::Less => entry,
                Ordering::Greater => other,
                Ordering::Equal => {
                    let alarm = self.decided_first(entry.alarm as usize, other.alarm as usize);
                    Entry { at: entry.at, alarm: alarm as u32 }
                }
            };
            node /= 2;
            let held = &mut self.nodes[node];
            if *held == entry && entry.alarm != changed.alarm {
                return;
            }
            *held = entry;
        }
        self.front[FRONT] = entry.at;
    }

    /// When an alarm rings.
    pub fn due(&self, alarm: usize) -> Option<Key> {
        let at = self.at(alarm);
        (at < NEVER).then(|| (Time(at), self.stamps[alarm]))
    }

    /// The alarm that rings next. It goes on ringing until it is set anew.
    #[inline]
    pub fn next(&self) -> Option<(Key, usize)> {
        let (mut first, mut at) = (0, self.front[0]);
        for (alarm, &other) in self.front.iter().enumerate().skip(1) {
            (first, at) = if other < at { (alarm, other) } else { (first, at) };
        }
        if at >= NEVER {
            return None;
        }
        let ties = self.front.iter().map(|&other| u32::from(other == at)).sum::<u32>();
        let alarm = if ties > 1 {
            self.first_of_tie(at)
        } else if first < FRONT {
            first
        } else {
            self.nodes[1].alarm as usize
        };
        Some(((Time(at), self.stamps[alarm]), alarm))
    }

    #[cold]
    fn first_of_tie(&self, at: u64) -> usize {
        let front = (0..FRONT).filter(|&alarm| self.front[alarm] == at);
        let tree = (self.front[FRONT] == at).then_some(self.nodes[1].alarm as usize);
        front.chain(tree).reduce(|one, other| self.decided_first(one, other)).unwrap_or_default()
    }

    /// Returns true if two alarms have met of which it is not known which one was decided first.
    #[inline]
    pub fn is_uncertain(&self) -> bool {
        self.is_uncertain.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(agenda: &mut Agenda) -> Vec<(u64, usize)> {
        std::iter::from_fn(|| {
            let (key, alarm) = agenda.next()?;
            agenda.set(alarm, None);
            Some((key.0.0, alarm))
        })
        .collect()
    }

    #[test]
    fn simultaneous_events_keep_their_order() {
        let (mut agenda, mut stamps) = (Agenda::new(4), Stamps::default());
        for (alarm, at) in [(3, 5), (0, 3), (1, 5), (2, 3)] {
            agenda.set(alarm, Some(stamps.key(Time(at))));
        }
        assert_eq!(drain(&mut agenda), [(3, 0), (3, 2), (5, 3), (5, 1)]);
    }

    #[test]
    fn alarms_are_moved_and_cancelled() {
        let (mut agenda, mut stamps) = (Agenda::new(3), Stamps::default());
        for at in [10, 30, 20] {
            agenda.set(1, Some(stamps.key(Time(at))));
        }
        agenda.set(2, Some(stamps.key(Time(5))));
        agenda.set(2, None);
        assert_eq!(agenda.due(2), None);
        assert_eq!(drain(&mut agenda), [(20, 1)]);
    }

    proptest! {
        /// Whatever was set, alarms ring by (time, time of decision, insertion), each as it was set last.
        #[test]
        fn the_agenda_agrees_with_a_sorted_list(
            alarms in 1usize..90,
            sets in prop::collection::vec((0usize..90, prop::option::of(0u64..50), 0u64..3), 0..200),
        ) {
            let (mut agenda, mut stamps) = (Agenda::new(alarms), Stamps::default());
            let mut model = vec![None; alarms];
            for (order, (alarm, at, decided)) in sets.into_iter().enumerate() {
                let alarm = alarm % alarms;
                agenda.set(alarm, at.map(|at| stamps.key_decided(Time(decided), Time(at))));
                model[alarm] = at.map(|at| (at, decided, order, alarm));
                let first = model.iter().flatten().min().map(|&(at, .., alarm)| (Time(at), alarm));
                prop_assert_eq!(agenda.next().map(|((at, _), alarm)| (at, alarm)), first);
            }
            let mut expected: Vec<_> = model.into_iter().flatten().collect();
            expected.sort_unstable();
            let expected: Vec<_> = expected.into_iter().map(|(at, .., alarm)| (at, alarm)).collect();
            prop_assert_eq!(drain(&mut agenda), expected);
        }
    }
}
