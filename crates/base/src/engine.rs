//! The event engine: integer time, events in order of (time, time of decision, insertion), cancellable alarms.
//!
//! Every component has one alarm, and the agenda is a tournament over the alarms: setting one
//! replays the matches on its way to the top. Nothing is ever queued twice, moved or left stale,
//! a cancelled alarm is simply set to never, and after the agenda is made nothing is allocated.
//! A component that has decided on several future things (packets in flight, say) keeps them
//! itself, each under the [`Stamp`] drawn when it was decided, and shows the agenda the earliest.

use std::cmp::Ordering;

use crate::units::Time;

/// Order of simultaneous events: by the time at which each was decided, then by order of insertion.
///
/// The first matters only for an event that is decided ahead of time (a packet's arrival behind the second of two
/// links, known when it enters the first): it keeps the place that it would have had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    decided: Time,
    number: u64,
}

/// Position of an event in the order of all events.
pub type Key = (Time, Stamp);

/// Source of stamps.
#[derive(Debug, Default)]
pub struct Stamps {
    /// The current time, at which events are decided.
    pub now: Time,
    number: u64,
}

impl Stamp {
    /// The stamp behind all others.
    pub const LAST: Self = Self { decided: Time(u64::MAX), number: u64::MAX };

    /// Returns true if `later` is the next stamp after this one.
    #[inline]
    pub fn is_just_before(self, later: Self) -> bool {
        self.number + 1 == later.number
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
        self.number += 1;
        (at, Stamp { decided, number: self.number })
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

/// Nodes of the top of the tree, which holds one alarm fewer than half of them.
const TOP: usize = 16;

/// The alarms of all components, and which of them rings next. The first ones are near the top, so those that are set
/// most often had better come first.
#[derive(Debug)]
pub struct Agenda {
    /// A tree of matches between two: node 1 holds the winner of all, and each node the winner of its children.
    /// The top is a tree of nodes 1 to `TOP - 1`, whose children are `2 n` and `2 n + 1`. Of its leaves all but the last
    /// are the first alarms; the last is the winner of the tree of all others, which stands behind it.
    nodes: Vec<Entry>,
    /// From the number of an alarm that is not in the top to its node.
    offset: usize,
    /// The stamp of each alarm that is set, which decides between alarms of the same time.
    stamps: Vec<Stamp>,
}

/// Returns the node that holds the winner of a node and its sibling.
#[inline]
fn above(node: usize) -> usize {
    match node {
        0..TOP => node / 2,
        // The root of the second tree, whose sibling is not used.
        TOP | 17 => TOP - 1,
        _ => TOP + (node - TOP) / 2,
    }
}

impl Agenda {
    /// An agenda of `alarms` alarms, none of them set.
    pub fn new(alarms: usize) -> Self {
        let in_top = TOP / 2 - 1;
        let others = alarms.saturating_sub(in_top).next_power_of_two();
        let offset = TOP + others - in_top;
        let unused = Entry::never(alarms);
        let mut nodes = vec![unused; TOP + 2 * others];
        for alarm in 0..alarms {
            nodes[if alarm < in_top { TOP / 2 + alarm } else { offset + alarm }] = Entry::never(alarm);
        }
        let mut agenda = Self { nodes, offset, stamps: vec![Stamp::default(); alarms] };
        for node in (2..agenda.nodes.len()).rev() {
            let entry = agenda.nodes[node];
            if entry.at < agenda.nodes[above(node)].at {
                agenda.nodes[above(node)] = entry;
            }
        }
        agenda
    }

    #[inline]
    fn node(&self, alarm: usize) -> usize {
        if alarm < TOP / 2 - 1 { TOP / 2 + alarm } else { self.offset + alarm }
    }

    #[cold]
    fn decided_first(&self, one: Entry, other: Entry) -> Entry {
        let stamp = |entry: Entry| self.stamps.get(entry.alarm as usize);
        if stamp(one) < stamp(other) { one } else { other }
    }

    /// Sets an alarm to ring under `key`, or never.
    #[inline]
    pub fn set(&mut self, alarm: usize, key: Option<Key>) {
        let node = self.node(alarm);
        let held = &mut self.nodes[node];
        match key {
            Some((at, stamp)) if at.0 < NEVER => {
                // Stopping where nothing changes is what makes repeated settings cheap.
                if held.at == at.0 && self.stamps[alarm] == stamp {
                    return;
                }
                self.stamps[alarm] = stamp;
                held.at = at.0;
            }
            _ if held.at >= NEVER => return,
            _ => *held = Entry::never(alarm),
        }
        let entry = *held;
        let winner = self.nodes[above(node)];
        if entry.at <= winner.at || winner.alarm == entry.alarm {
            self.replay(node, entry);
        }
    }

    /// Replays the matches above a node that has changed, up to where the winner stays.
    #[inline(never)]
    fn replay(&mut self, mut node: usize, changed: Entry) {
        let mut entry = changed;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            entry = match entry.at.cmp(&other.at) {
                Ordering::Less => entry,
                Ordering::Greater => other,
                Ordering::Equal => self.decided_first(entry, other),
            };
            node = above(node);
            let held = &mut self.nodes[node];
            if *held == entry && entry.alarm != changed.alarm {
                return;
            }
            *held = entry;
        }
    }

    /// Sets an alarm to ring at a time, after all that were set for the same time before.
    #[inline]
    pub fn set_time(&mut self, alarm: usize, at: Option<Time>, stamps: &mut Stamps) {
        let key = at.map(|at| stamps.key(at));
        self.set(alarm, key);
    }

    /// Sets an alarm to ring at a time, unless it does so already.
    #[inline]
    pub fn keep_time(&mut self, alarm: usize, at: Option<Time>, stamps: &mut Stamps) {
        let held = self.nodes[self.node(alarm)].at;
        let wanted = at.map_or(NEVER, |at| at.0);
        if held != wanted && (held < NEVER || wanted < NEVER) {
            self.set_time(alarm, at, stamps);
        }
    }

    /// When an alarm rings.
    pub fn due(&self, alarm: usize) -> Option<Key> {
        let at = self.nodes[self.node(alarm)].at;
        (at < NEVER).then(|| (Time(at), self.stamps[alarm]))
    }

    /// The alarm that rings next. It goes on ringing until it is set anew.
    #[inline]
    pub fn next(&self) -> Option<(Key, usize)> {
        let Entry { at, alarm } = self.nodes[1];
        (at < NEVER).then(|| ((Time(at), self.stamps[alarm as usize]), alarm as usize))
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
            agenda.set_time(alarm, Some(Time(at)), &mut stamps);
        }
        assert_eq!(drain(&mut agenda), [(3, 0), (3, 2), (5, 3), (5, 1)]);
    }

    #[test]
    fn alarms_are_moved_and_cancelled() {
        let (mut agenda, mut stamps) = (Agenda::new(3), Stamps::default());
        for at in [10, 30, 20] {
            agenda.set_time(1, Some(Time(at)), &mut stamps);
        }
        agenda.set_time(2, Some(Time(5)), &mut stamps);
        agenda.set_time(2, None, &mut stamps);
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
