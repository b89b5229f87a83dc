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
        debug_assert!(self.0 < 1 << STAMP_BITS, "out of stamps");
        (at, Stamp(self.0))
    }
}

/// Bits of an entry that hold the alarm's number, and those that hold the stamp.
const ALARM_BITS: u32 = 20;
const STAMP_BITS: u32 = u64::BITS - ALARM_BITS;

/// An alarm and its key in one number, so that a match is one comparison: the time in the upper
/// half, below it the stamp, in the lowest bits the alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    fn new((at, stamp): Key, alarm: usize) -> Self {
        Self(u128::from(at.0) << u64::BITS | u128::from(stamp.0 << ALARM_BITS | alarm as u64))
    }

    fn never(alarm: usize) -> Self {
        Self::new((Time(u64::MAX), Stamp(u64::MAX >> ALARM_BITS)), alarm)
    }

    fn alarm(self) -> usize {
        (self.0 as u64 & ((1 << ALARM_BITS) - 1)) as usize
    }

    /// The key; absent where the alarm is not set.
    fn key(self) -> Option<Key> {
        let at = (self.0 >> u64::BITS) as u64;
        (at < u64::MAX).then_some((Time(at), Stamp(self.0 as u64 >> ALARM_BITS)))
    }
}

/// The alarms of all components, and which of them rings next.
#[derive(Debug)]
pub struct Agenda {
    /// A tree of matches between four: the first is the final, the winner of each but that one
    /// holds a place in another, and the last ones hold the alarms. Place `p` is number `p % 4` of
    /// match `p / 4`, and is held by the winner of match `p + 1`.
    matches: Vec<[Entry; 4]>,
    /// The place of alarm 0.
    first_place: usize,
}

fn winner([a, b, c, d]: [Entry; 4]) -> Entry {
    a.min(b).min(c.min(d))
}

impl Agenda {
    /// An agenda of `alarms` alarms, none of them set.
    ///
    /// # Panics
    /// With more than 2^20 alarms, for whose numbers there is no room.
    pub fn new(alarms: usize) -> Self {
        assert!(alarms <= 1 << ALARM_BITS, "an entry has no room for {alarms} alarms");
        let (mut inner, mut last) = (0, 1);
        while 4 * last < alarms {
            inner += last;
            last *= 4;
        }
        let first_place = 4 * inner;
        let mut matches = vec![[Entry::never(0); 4]; inner + last];
        for place in (0..4 * matches.len()).rev() {
            matches[place / 4][place % 4] = match place.checked_sub(first_place) {
                // What has no alarm never rings either.
                Some(alarm) => Entry::never(alarm % (1 << ALARM_BITS)),
                None => winner(matches[place + 1]),
            };
        }
        Self { matches, first_place }
    }

    /// Sets an alarm to ring under `key`, or never.
    pub fn set(&mut self, alarm: usize, key: Option<Key>) {
        let mut place = self.first_place + alarm;
        let mut entry = key.map_or(Entry::never(alarm), |key| Entry::new(key, alarm));
        // Stopping where nothing changes is what makes repeated settings cheap.
        loop {
            let players = &mut self.matches[place / 4];
            if players[place % 4] == entry {
                return;
            }
            players[place % 4] = entry;
            // The final is held when somebody asks who is next.
            let Some(held) = (place / 4).checked_sub(1) else {
                return;
            };
            entry = winner(*players);
            place = held;
        }
    }

    /// Sets an alarm to ring at a time, after all that were set for the same time before.
    pub fn set_time(&mut self, alarm: usize, at: Option<Time>, stamps: &mut Stamps) {
        let key = at.map(|at| stamps.key(at));
        self.set(alarm, key);
    }

    /// Sets an alarm to ring at a time, unless it does so already.
    pub fn keep_time(&mut self, alarm: usize, at: Option<Time>, stamps: &mut Stamps) {
        if at != self.due(alarm).map(|(at, _)| at) {
            self.set_time(alarm, at, stamps);
        }
    }

    /// When an alarm rings.
    pub fn due(&self, alarm: usize) -> Option<Key> {
        let place = self.first_place + alarm;
        self.matches[place / 4][place % 4].key()
    }

    /// The alarm that rings next. It goes on ringing until it is set anew.
    pub fn next(&self) -> Option<(Key, usize)> {
        let first = winner(self.matches[0]);
        Some((first.key()?, first.alarm()))
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
        /// Whatever was set, alarms ring by (time, insertion), each as it was set last.
        #[test]
        fn the_agenda_agrees_with_a_sorted_list(
            alarms in 1usize..90,
            sets in prop::collection::vec((0usize..90, prop::option::of(0u64..50)), 0..200),
        ) {
            let (mut agenda, mut stamps) = (Agenda::new(alarms), Stamps::default());
            let mut model = vec![None; alarms];
            for (order, (alarm, at)) in sets.into_iter().enumerate() {
                let alarm = alarm % alarms;
                agenda.set_time(alarm, at.map(Time), &mut stamps);
                model[alarm] = at.map(|at| (at, order, alarm));
            }
            let mut expected: Vec<_> = model.into_iter().flatten().collect();
            expected.sort_unstable();
            let expected: Vec<_> = expected.into_iter().map(|(at, _, alarm)| (at, alarm)).collect();
            prop_assert_eq!(drain(&mut agenda), expected);
        }
    }
}
