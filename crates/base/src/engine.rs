//! The event engine: integer time, events in order of (time, time of decision, insertion), cancellable alarms.
//!
//! Every component has one alarm, and the agenda is a tournament over the alarms: setting one
//! replays the matches on its way to the top. Nothing is ever queued twice, moved or left stale,
//! a cancelled alarm is simply set to never, and after the agenda is made nothing is allocated.
//! A component that has decided on several future things (packets in flight, say) keeps them
//! itself, each under the [`Stamp`] drawn when it was decided, and shows the agenda the earliest.

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
const NEVER: u64 = u64::MAX - MOST_ALARMS as u64;
const MOST_ALARMS: usize = 1 << 20;

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

    /// The earlier of two; of two at the same time the second.
    #[inline]
    fn earlier(self, other: Self) -> Self {
        if self.at < other.at { self } else { other }
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
    /// The stamp of each alarm that is set, which decides between alarms of the same time.
    stamps: Vec<Stamp>,
}

impl Agenda {
    /// An agenda of `alarms` alarms, none of them set.
    ///
    /// # Panics
    /// With more than 2^20 alarms.
    pub fn new(alarms: usize) -> Self {
        assert!(alarms <= MOST_ALARMS, "there is no room for {alarms} alarms");
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
                Some(alarm) => Entry::never(alarm % MOST_ALARMS),
                // All are set to never, of which the first alarm's is the earliest.
                None => matches[place + 1][0],
            };
        }
        Self { matches, first_place, stamps: vec![Stamp::default(); alarms] }
    }

    #[inline]
    fn winner(&self, number: usize) -> Entry {
        let [a, b, c, d] = self.matches[number];
        let (left, right) = (a.earlier(b), c.earlier(d));
        if (a.at == b.at) | (c.at == d.at) | (left.at == right.at) {
            return self.winner_by_stamps([a, b, c, d]);
        }
        left.earlier(right)
    }

    #[cold]
    fn winner_by_stamps(&self, [first, rest @ ..]: [Entry; 4]) -> Entry {
        let key = |entry: Entry| (entry.at, self.stamps.get(entry.alarm as usize));
        rest.into_iter().fold(first, |best, other| if key(other) < key(best) { other } else { best })
    }

    /// Sets an alarm to ring under `key`, or never.
    #[inline]
    pub fn set(&mut self, alarm: usize, key: Option<Key>) {
        let place = self.first_place + alarm;
        let held = &mut self.matches[place / 4][place % 4];
        // Stopping where nothing changes is what makes repeated settings cheap.
        match key {
            Some((at, stamp)) if at.0 < NEVER => {
                if held.at == at.0 && self.stamps[alarm] == stamp {
                    return;
                }
                held.at = at.0;
                self.stamps[alarm] = stamp;
            }
            _ if held.at >= NEVER => return,
            _ => *held = Entry::never(alarm),
        }
        self.replay(place / 4, alarm);
    }

    /// Replays the matches above an alarm that has changed, up to where another wins as before.
    fn replay(&mut self, mut number: usize, alarm: usize) {
        // The final is held when somebody asks who is next.
        while let Some(place) = number.checked_sub(1) {
            let winner = self.winner(number);
            let held = &mut self.matches[place / 4][place % 4];
            if *held == winner && winner.alarm != alarm as u32 {
                return;
            }
            *held = winner;
            number = place / 4;
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
        let place = self.first_place + alarm;
        let held = self.matches[place / 4][place % 4].at;
        let is_kept = match at {
            Some(at) if at.0 < NEVER => at.0 == held,
            _ => held >= NEVER,
        };
        if !is_kept {
            self.set_time(alarm, at, stamps);
        }
    }

    /// When an alarm rings.
    pub fn due(&self, alarm: usize) -> Option<Key> {
        let place = self.first_place + alarm;
        self.key(self.matches[place / 4][place % 4])
    }

    /// The alarm that rings next. It goes on ringing until it is set anew.
    #[inline]
    pub fn next(&self) -> Option<(Key, usize)> {
        let first = self.winner(0);
        Some((self.key(first)?, first.alarm as usize))
    }

    #[inline]
    fn key(&self, entry: Entry) -> Option<Key> {
        (entry.at < NEVER).then(|| (Time(entry.at), self.stamps[entry.alarm as usize]))
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
