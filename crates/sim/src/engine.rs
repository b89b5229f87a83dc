//! The event engine: integer time, events in order of (time, insertion), cancellable alarms.
//!
//! Every component has one alarm, and the agenda is a tournament over the alarms: setting one
//! replays the matches on its way to the top. Nothing is ever queued twice, moved or left stale,
//! a cancelled alarm is simply set to never, and after the agenda is made nothing is allocated.
//! A component that has decided on several future things (packets in flight, say) keeps them
//! itself, each under the [`Stamp`] drawn when it was decided, and shows the agenda the earliest.

use crate::units::Time;

/// Order of insertion: which of two simultaneous events was decided first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

/// Where an event stands in the order of all events.
pub type Key = (Time, Stamp);

/// The key of an alarm that is not set.
const NEVER: Key = (Time(u64::MAX), Stamp(u64::MAX));

/// Hands out stamps in order.
#[derive(Debug, Default)]
pub struct Stamps(u64);

impl Stamp {
    /// Whether no event can have been decided between this one and `later`.
    pub fn is_just_before(self, later: Self) -> bool {
        self.0 + 1 == later.0
    }
}

impl Stamps {
    /// The key of an event decided now that is to happen `at`.
    pub fn key(&mut self, at: Time) -> Key {
        self.0 += 1;
        (at, Stamp(self.0))
    }
}

/// An alarm and its key, as a match of the tournament is won by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: Key,
    alarm: usize,
}

/// The alarms of all components, and which of them rings next.
#[derive(Debug)]
pub struct Agenda {
    /// A binary tree: the root at 1, the children of `i` at `2 i` and `2 i + 1`, the alarms from
    /// `alarms` on. Each inner node holds the earlier of its children.
    tree: Vec<Entry>,
    alarms: usize,
    /// Source of insertion order.
    pub stamps: Stamps,
}

impl Agenda {
    /// An agenda of `alarms` alarms, none of them set.
    pub fn new(alarms: usize) -> Self {
        let alarms = alarms.next_power_of_two().max(2);
        let tree = (0..2 * alarms).map(|i| Entry { key: NEVER, alarm: i % alarms }).collect();
        Self { tree, alarms, stamps: Stamps::default() }
    }

    /// Sets an alarm to ring under `key`, or never.
    pub fn set(&mut self, alarm: usize, key: Option<Key>) {
        let mut node = self.alarms + alarm;
        let mut winner = Entry { key: key.unwrap_or(NEVER), alarm };
        // Stopping where nothing changes is what makes repeated settings cheap.
        while self.tree[node] != winner {
            self.tree[node] = winner;
            if node <= 1 {
                return;
            }
            let other = self.tree[node ^ 1];
            if other.key < winner.key {
                winner = other;
            }
            node /= 2;
        }
    }

    /// Sets an alarm to ring at a time, after all that were set for the same time before.
    pub fn set_time(&mut self, alarm: usize, at: Option<Time>) {
        let key = at.map(|at| self.stamps.key(at));
        self.set(alarm, key);
    }

    /// When an alarm rings.
    pub fn due(&self, alarm: usize) -> Option<Key> {
        Some(self.tree[self.alarms + alarm].key).filter(|key| *key != NEVER)
    }

    /// The alarm that rings next. It goes on ringing until it is set anew.
    pub fn next(&self) -> Option<(Key, usize)> {
        let Entry { key, alarm } = self.tree[1];
        (key != NEVER).then_some((key, alarm))
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
        let mut agenda = Agenda::new(4);
        for (alarm, at) in [(3, 5), (0, 3), (1, 5), (2, 3)] {
            agenda.set_time(alarm, Some(Time(at)));
        }
        assert_eq!(drain(&mut agenda), [(3, 0), (3, 2), (5, 3), (5, 1)]);
    }

    #[test]
    fn alarms_are_moved_and_cancelled() {
        let mut agenda = Agenda::new(3);
        for at in [10, 30, 20] {
            agenda.set_time(1, Some(Time(at)));
        }
        agenda.set_time(2, Some(Time(5)));
        agenda.set_time(2, None);
        assert_eq!(agenda.due(2), None);
        assert_eq!(drain(&mut agenda), [(20, 1)]);
    }

    proptest! {
        /// Whatever was set, alarms ring by (time, insertion), each as it was set last.
        #[test]
        fn the_agenda_agrees_with_a_sorted_list(
            alarms in 1usize..40,
            sets in prop::collection::vec((0usize..40, prop::option::of(0u64..50)), 0..200),
        ) {
            let mut agenda = Agenda::new(alarms);
            let mut model = vec![None; alarms];
            for (order, (alarm, at)) in sets.into_iter().enumerate() {
                let alarm = alarm % alarms;
                agenda.set_time(alarm, at.map(Time));
                model[alarm] = at.map(|at| (at, order, alarm));
            }
            let mut expected: Vec<_> = model.into_iter().flatten().collect();
            expected.sort_unstable();
            let expected: Vec<_> = expected.into_iter().map(|(at, _, alarm)| (at, alarm)).collect();
            prop_assert_eq!(drain(&mut agenda), expected);
        }
    }
}
