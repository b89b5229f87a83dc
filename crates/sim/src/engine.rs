//! The event engine: integer time, events in order of (time, insertion), cancellable alarms.
//!
//! The agenda is a binary heap of small copied entries, so that a steady state allocates
//! nothing. Two habits keep it short: a component that holds many future deliveries files only
//! its earliest, under the [`Stamp`] it drew when the delivery was decided, and a timer that is
//! moved to a later time stays filed where it is and moves on when it comes up ([`Alarm`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// Order of insertion: which of two simultaneous events was decided first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

/// Where an event stands in the agenda.
pub type Key = (Time, Stamp);

/// Hands out stamps in order.
#[derive(Debug, Default)]
pub struct Stamps(u64);

impl Stamps {
    /// The next stamp.
    pub fn draw(&mut self) -> Stamp {
        self.0 += 1;
        Stamp(self.0)
    }

    /// The key of an event decided now that is to happen `at`.
    pub fn key(&mut self, at: Time) -> Key {
        (at, self.draw())
    }
}

#[derive(Debug)]
struct Entry<E> {
    key: Key,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// The events to come.
#[derive(Debug)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    /// Source of insertion order.
    pub stamps: Stamps,
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::with_capacity(64), stamps: Stamps::default() }
    }
}

impl<E: Copy> Agenda<E> {
    /// Files an event for `at`, after all that were filed for the same time before.
    pub fn schedule(&mut self, at: Time, event: E) {
        let key = self.stamps.key(at);
        self.file(key, event);
    }

    /// Files an event under a key drawn earlier.
    pub fn file(&mut self, key: Key, event: E) {
        self.heap.push(Reverse(Entry { key, event }));
    }

    /// Takes the earliest event.
    pub fn pop(&mut self) -> Option<(Key, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.key, entry.event))
    }

    /// Events filed, stale ones included.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is filed.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

/// A wake-up that can be moved and cancelled without searching the agenda.
///
/// At most one live entry is filed per alarm: moving it later only changes `due`, and the entry
/// that comes up early is filed again under the due key. An entry that comes up and is not the
/// filed one is stale and is ignored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alarm {
    due: Option<Key>,
    filed: Option<Key>,
}

impl Alarm {
    /// When the alarm will ring.
    pub fn due(&self) -> Option<Key> {
        self.due
    }

    /// Sets the alarm to ring under `key`, or never. Setting the key it has changes nothing.
    pub fn set<E: Copy>(&mut self, key: Option<Key>, agenda: &mut Agenda<E>, event: E) {
        self.due = key;
        if let Some(key) = key
            && self.filed.is_none_or(|filed| key < filed)
        {
            agenda.file(key, event);
            self.filed = Some(key);
        }
    }

    /// Whether the entry that came up under `key` is the alarm ringing.
    pub fn rings<E: Copy>(&mut self, key: Key, agenda: &mut Agenda<E>, event: E) -> bool {
        if self.filed != Some(key) {
            return false;
        }
        self.filed = None;
        if self.due == Some(key) {
            self.due = None;
            return true;
        }
        self.set(self.due, agenda, event);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain<E: Copy>(agenda: &mut Agenda<E>) -> Vec<(Time, E)> {
        std::iter::from_fn(|| agenda.pop()).map(|((at, _), event)| (at, event)).collect()
    }

    #[test]
    fn simultaneous_events_keep_their_order() {
        let mut agenda = Agenda::default();
        for (at, name) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd')] {
            agenda.schedule(Time(at), name);
        }
        let order: String = drain(&mut agenda).into_iter().map(|(_, name)| name).collect();
        assert_eq!(order, "bdac");
    }

    #[test]
    fn a_moved_alarm_rings_once_at_its_last_time() {
        let mut agenda = Agenda::default();
        let mut alarm = Alarm::default();
        for at in [10, 30, 20, 25] {
            let key = agenda.stamps.key(Time(at));
            alarm.set(Some(key), &mut agenda, ());
        }
        let mut rung = Vec::new();
        while let Some((key, ())) = agenda.pop() {
            if alarm.rings(key, &mut agenda, ()) {
                rung.push(key.0);
            }
        }
        assert_eq!(rung, [Time(25)]);
    }

    #[test]
    fn a_cancelled_alarm_stays_silent() {
        let mut agenda = Agenda::default();
        let mut alarm = Alarm::default();
        let key = agenda.stamps.key(Time(10));
        alarm.set(Some(key), &mut agenda, ());
        alarm.set(None, &mut agenda, ());
        while let Some((key, ())) = agenda.pop() {
            assert!(!alarm.rings(key, &mut agenda, ()));
        }
    }

    proptest! {
        #[test]
        fn time_never_runs_backward(times in prop::collection::vec(0u64..100, 0..200)) {
            let mut agenda = Agenda::default();
            for (i, at) in times.iter().enumerate() {
                agenda.schedule(Time(*at), i);
            }
            let out = drain(&mut agenda);
            prop_assert!(out.windows(2).all(|w| w[0] < w[1]), "sorted by time, then insertion");
            prop_assert_eq!(out.len(), times.len());
        }

        /// An alarm set any number of times rings exactly when the last setting says.
        #[test]
        fn alarms_agree_with_a_model(sets in prop::collection::vec(prop::option::of(1u64..50), 1..40)) {
            let mut agenda = Agenda::default();
            let mut alarm = Alarm::default();
            for at in &sets {
                let key = at.map(|at| agenda.stamps.key(Time(at)));
                alarm.set(key, &mut agenda, ());
            }
            let mut rung = Vec::new();
            while let Some((key, ())) = agenda.pop() {
                if alarm.rings(key, &mut agenda, ()) {
                    rung.push(key.0.0);
                }
            }
            let expected: Vec<u64> = sets.last().copied().flatten().into_iter().collect();
            prop_assert_eq!(rung, expected);
        }
    }
}
