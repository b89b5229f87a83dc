//! Node Bs: MAC-hs of all served cells, with the users and their channels.

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

/// Node Bs of all served cells with their users.
#[derive(Debug)]
pub struct NodeBs {
    pub params: Hsdpa,
    pub users: Vec<User>,
    /// Cached state of all users, by which users to whom nothing can be sent are skipped.
    pub slots: Slots,
    pub sequence: JakesSequence,
    /// Rules by which blocks are decoded and sent again.
    pub rules: Rules,
}

impl NodeBs {
    /// Creates the Node Bs, with empty queues for `users`.
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

    /// Refreshes the cached state of a user. Must be called after its queue, its HARQ processes or
    /// its cell has changed.
    pub fn refresh(&mut self, user: usize) {
        self.slots.refresh(user, &self.users[user]);
    }

    /// Returns the user with the highest score among the users of a cell that can be sent something
    /// in TTI `tti`, or `None` if no user can be sent anything. Among users with equal scores, the
    /// user with the lowest `turn` wins, then the user with the lowest index. Scores must not
    /// decrease with units or quality.
    ///
    /// Most users would not have the highest score even with the best channel that they may have in
    /// the next TTIs, so they are skipped. The two best users of the last search in this cell are
    /// examined first, as an early high score allows more users to be skipped.
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

    /// Returns the limits for a user who is served alone, with all codes and the full power. The number
    /// of units is 0; [`User::grant`] replaces it by the number of units that wait for the user.
    pub fn limits(&self) -> Limits {
        Limits { codes: self.params.codes.get(), sharers: 1, units: 0 }
    }
}

/// Claim of a user to be served in a TTI. The highest score wins; among equal scores the lowest
/// `turn`, then the lowest user index wins.
#[derive(Clone, Copy, Debug)]
struct Claim {
    score: f64,
    turn: u64,
    user: usize,
}

impl Claim {
    /// Claim that loses against the claim of any user.
    const NONE: Self = Self { score: f64::NEG_INFINITY, turn: u64::MAX, user: usize::MAX };
}

/// Search for the user of a cell to be served in a TTI. It keeps the best two claims found so far.
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
    /// Returns true if `user` with this score would win against the user with the best claim so
    /// far.
    #[inline]
    fn may_win(&self, user: usize, score: f64) -> bool {
        self.comes_before(user, score, &self.best[0])
    }

    #[inline]
    fn comes_before(&self, user: usize, score: f64, other: &Claim) -> bool {
        score > other.score || score >= other.score && ((self.turn)(user), user) < (other.turn, other.user)
    }

    /// Returns an upper bound of a user's score: that of its cached blocks or, if none are cached
    /// for this TTI, that of its channel.
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

    /// Computes a user's score, and stores its claim if it is one of the best two. Skips a user if even
    /// the upper bound of its score is too low to win. The function is not inlined, so that the loop
    /// over all users remains short.
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
