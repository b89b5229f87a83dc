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

/// Times from here on mean never; each place has one of its own, so that alarms that are not set never tie.
const NEVER: u64 = u64::MAX - u32::MAX as u64;

/// Alarms, or winners of other matches, that meet in a match.
const PLAYERS: usize = 8;

/// The alarms of all components, and which of them rings next.
#[derive(Debug)]
pub struct Agenda {
    /// The times of a tree of matches: the first is the final, the winner of each but that one holds a place in
    /// another, and the last ones hold the alarms. Place `p` is number `p % PLAYERS` of match `p / PLAYERS`, and
    /// is held by the winner of match `p + 1`.
    matches: Vec<[u64; PLAYERS]>,
    /// Which place has won each match.
    winners: Vec<u8>,
    /// The place of alarm 0.
    first_place: usize,
    /// The stamp of each alarm that is set, which decides between alarms of the same time.
    stamps: Vec<Stamp>,
}

impl Agenda {
    /// An agenda of `alarms` alarms, none of them set.
    pub fn new(alarms: usize) -> Self {
        let (mut inner, mut last) = (0, 1);
        while PLAYERS * last < alarms {
            inner += last;
            last *= PLAYERS;
        }
        let mut matches = vec![[0; PLAYERS]; inner + last];
        let first_place = PLAYERS * inner;
        for place in (0..PLAYERS * matches.len()).rev() {
            let never = NEVER + place as u64;
            let at = if place < first_place { matches[place + 1][0] } else { never };
            matches[place / PLAYERS][place % PLAYERS] = at;
        }
        let winners = vec![0; matches.len()];
        Self { matches, winners, first_place, stamps: vec![Stamp::default(); alarms] }
    }

    /// Returns the time in a place.
    #[inline]
    fn at(&self, place: usize) -> u64 {
        self.matches[place / PLAYERS][place % PLAYERS]
    }

    /// Returns the alarm that holds a place, by its own or as a winner.
    #[inline]
    fn alarm(&self, mut place: usize) -> usize {
        while place < self.first_place {
            place = PLAYERS * (place + 1) + usize::from(self.winners[place + 1]);
        }
        place - self.first_place
    }

    /// Returns who wins a match: the earliest, and of several the one that was decided first.
    #[inline]
    fn winner(&self, number: usize) -> usize {
        let times = &self.matches[number];
        let (mut best, mut at) = (0, times[0]);
        for (player, &other) in times.iter().enumerate().skip(1) {
            (best, at) = if other < at { (player, other) } else { (best, at) };
        }
        if times[best + 1..].contains(&at) { self.winner_of_tie(number, at) } else { best }
    }

    #[cold]
    fn winner_of_tie(&self, number: usize, at: u64) -> usize {
        let players = (0..PLAYERS).filter(|&player| self.matches[number][player] == at);
        players.min_by_key(|player| self.stamps[self.alarm(PLAYERS * number + player)]).unwrap_or_default()
    }

    /// Sets an alarm to ring under `key`, or never.
    #[inline]
    pub fn set(&mut self, alarm: usize, key: Option<Key>) {
        let place = self.first_place + alarm;
        let held = &mut self.matches[place / PLAYERS][place % PLAYERS];
        let at = match key {
            Some((at, stamp)) if at.0 < NEVER => {
                // Stopping where nothing changes is what makes repeated settings cheap.
                if *held == at.0 && self.stamps[alarm] == stamp {
                    return;
                }
                self.stamps[alarm] = stamp;
                at.0
            }
            _ if *held >= NEVER => return,
            _ => NEVER + place as u64,
        };
        *held = at;
        let (number, player) = (place / PLAYERS, place % PLAYERS);
        let winner = usize::from(self.winners[number]);
        // Most settings are of alarms that neither ring next in their match nor will.
        if winner == player || at <= self.matches[number][winner] {
            self.replay(place, at);
        }
    }

    /// Replays the matches above a place whose time has become `at`, up to where the winner stays.
    #[inline(never)]
    fn replay(&mut self, mut place: usize, mut at: u64) {
        loop {
            let (number, player) = (place / PLAYERS, place % PLAYERS);
            let winner = usize::from(self.winners[number]);
            let is_winner = winner == player;
            let to_beat = if number > 0 { self.at(number - 1) } else { self.matches[0][winner] };
            if !is_winner && at > to_beat {
                return;
            }
            let best = if at < to_beat { player } else { self.winner(number) };
            self.winners[number] = best as u8;
            if best == winner && !is_winner {
                return;
            }
            let Some(above) = number.checked_sub(1) else {
                return;
            };
            at = self.matches[number][best];
            self.matches[above / PLAYERS][above % PLAYERS] = at;
            place = above;
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
        let held = self.at(self.first_place + alarm);
        let wanted = at.map_or(NEVER, |at| at.0);
        if held != wanted && (held < NEVER || wanted < NEVER) {
            self.set_time(alarm, at, stamps);
        }
    }

    /// Returns true if an alarm will ring.
    #[inline]
    pub fn is_set(&self, alarm: usize) -> bool {
        self.at(self.first_place + alarm) < NEVER
    }

    /// When an alarm rings.
    pub fn due(&self, alarm: usize) -> Option<Key> {
        let at = self.at(self.first_place + alarm);
        (at < NEVER).then(|| (Time(at), self.stamps[alarm]))
    }

    /// The alarm that rings next. It goes on ringing until it is set anew.
    #[inline]
    pub fn next(&self) -> Option<(Key, usize)> {
        let first = usize::from(self.winners[0]);
        let at = self.matches[0][first];
        if at >= NEVER {
            return None;
        }
        let alarm = self.alarm(first);
        Some(((Time(at), self.stamps[alarm]), alarm))
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
