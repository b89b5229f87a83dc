pub mod candidates;
pub mod slot;
pub mod transmission;
pub mod turn;
pub mod user;

use super::Hsdpa;
use super::adaptation::Limits;
use super::iub::Endpoints;
use crate::UserRadio;
use crate::cell::doppler::JakesSequence;
use crate::mac::harq::block::Rules;
use crate::mac::user_set::WORD;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;
use slot::{Ceiling, Peak, Slot, Slots};
#[cfg(test)]
use turn::Grant;
use user::User;

#[derive(Debug)]
pub struct NodeBs {
    pub params: Hsdpa,
    pub users: Vec<User>,
    /// Users to whom nothing can be sent are skipped by it.
    pub slots: Slots,
    pub sequence: JakesSequence,
    pub rules: Rules,
}

impl NodeBs {
    pub fn new(params: &Hsdpa, users: &[UserRadio], streams: Streams) -> Self {
        let sequence = if users.iter().any(|user| user.ue.channel.facts().fades) {
            JakesSequence::new(&mut streams.stream("cell", 0, "fading"))
        } else {
            JakesSequence::silent()
        };
        let mut tables = Vec::new();
        let users: Vec<_> = users.iter().map(|user| User::new(params, user, streams, &mut tables)).collect();
        let slots = Slots::new(&users, params.served());
        Self { params: params.clone(), slots, users, sequence, rules: params.harq_rules() }
    }

    /// Must be called after its queue, its HARQ processes or its cell has changed.
    pub fn refresh(&mut self, user: usize) {
        self.slots.refresh(user, &self.users[user]);
    }

    /// Highest score, then lowest `turn`, then lowest index; scores must not decrease with units or quality.
    /// Users who would not win even with the best channel of the next TTIs are skipped, so the two best users
    /// of the last search are examined first.
    pub fn find_best(
        &mut self,
        tti: u64,
        cell: usize,
        score: impl Fn(usize, (u32, f32)) -> f64,
        turn: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let limits = self.limits();
        let Self { users, slots: Slots { waiting, leading, ceilings, peaks, kept, .. }, sequence, .. } = self;
        let best = [Claim::NONE; 2];
        let mut contest = Contest { tti, limits, users, peaks, kept, sequence, score, turn, best };
        let waiting = &waiting[cell];
        for user in leading[cell].into_iter().filter(|user| waiting.contains(*user)) {
            contest.visit(user, &mut ceilings[user]);
        }
        let groups = waiting.words().iter().zip(ceilings.chunks_mut(WORD)).zip((0..).step_by(WORD));
        for ((word, ceilings), first) in groups.filter(|((word, _), _)| **word != 0) {
            for (at, ceiling) in ceilings.iter_mut().enumerate() {
                // The bound excludes most users, so it is checked before the user's bit in `waiting`.
                let may_win = ceiling.until <= tti || ceiling.score >= contest.best[0].score;
                if may_win && word >> at & 1 != 0 {
                    contest.visit(first + at, ceiling);
                }
            }
        }
        let [first, second] = contest.best.map(|claim| claim.user);
        if first < usize::MAX {
            leading[cell] = [first, second.min(first)];
        }
        (first < usize::MAX).then_some(first)
    }

    /// Alone, with all codes and the full power; [`User::grant`] sets the units.
    pub fn limits(&self) -> Limits {
        Limits { codes: self.params.codes.get(), sharers: 1, units: 0 }
    }
}

/// The highest score wins; among equal scores the lowest `turn`, then the lowest user index wins.
#[derive(Clone, Copy, Debug)]
struct Claim {
    score: f64,
    turn: u64,
    user: usize,
}

impl Claim {
    const NONE: Self = Self { score: f64::NEG_INFINITY, turn: u64::MAX, user: usize::MAX };
}

struct Contest<'a, S, T> {
    tti: u64,
    limits: Limits,
    users: &'a mut [User],
    peaks: &'a mut [Peak],
    kept: &'a mut [Slot],
    sequence: &'a JakesSequence,
    score: S,
    turn: T,
    best: [Claim; 2],
}

impl<S: Fn(usize, (u32, f32)) -> f64, T: Fn(usize) -> u64> Contest<'_, S, T> {
    #[inline]
    fn may_win(&self, user: usize, score: f64) -> bool {
        self.comes_before(user, score, &self.best[0])
    }

    #[inline]
    fn comes_before(&self, user: usize, score: f64, other: &Claim) -> bool {
        score > other.score || score >= other.score && ((self.turn)(user), user) < (other.turn, other.user)
    }

    /// Bound by the cached blocks or, if none are cached for this TTI, by the channel.
    fn ceiling(&mut self, user: usize) -> Ceiling {
        let Peak { units, quality, until } = if self.kept[user].until > self.tti {
            self.kept[user].peak()
        } else {
            let peak = &mut self.peaks[user];
            if peak.until <= self.tti {
                *peak = self.users[user].peak(self.tti, self.limits, self.sequence);
            }
            *peak
        };
        Ceiling { score: (self.score)(user, (units, quality)), until }
    }

    /// The function is not inlined, so that the loop over all users remains short.
    #[inline(never)]
    fn visit(&mut self, user: usize, ceiling: &mut Ceiling) {
        let (tti, limits) = (self.tti, self.limits);
        if ceiling.until <= tti {
            *ceiling = self.ceiling(user);
        }
        #[cfg(test)]
        if let Some(Grant { units, quality, .. }) = self.users[user].grant(tti, limits, self.sequence) {
            assert!((self.score)(user, (units, quality)) <= ceiling.score, "above the ceiling in TTI {tti}");
        }
        if !self.may_win(user, ceiling.score) {
            return;
        }
        let found = if let Some(found) = self.kept[user].recall(tti) {
            found
        } else {
            let found = self.users[user].compute(tti, limits, self.sequence, &mut self.kept[user]);
            *ceiling = self.ceiling(user);
            found
        };
        #[cfg(test)]
        self.users[user].assert_cached(tti, limits, self.sequence, found);
        let claim = Claim { score: (self.score)(user, found), turn: (self.turn)(user), user };
        if found.0 == 0 || user == self.best[0].user {
            return;
        }
        if self.may_win(user, claim.score) {
            self.best = [claim, self.best[0]];
        } else if self.comes_before(user, claim.score, &self.best[1]) {
            self.best[1] = claim;
        }
    }
}

impl Endpoints for NodeBs {
    fn take(&mut self, now: Time, user: usize, most: u64) -> u64 {
        self.users[user].packets.take(now, most)
    }

    fn put(&mut self, user: usize, units: u64) {
        self.users[user].enqueue(units);
        self.slots.refresh_queue(user, &self.users[user]);
    }
}
