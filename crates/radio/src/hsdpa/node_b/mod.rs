pub mod candidates;
pub mod grant;
pub mod selection;
pub mod transmission;
pub mod user;

use super::Hsdpa;
use super::adaptation::Limits;
use super::iub::Endpoints;
#[cfg(test)]
use grant::Grant;
use nodeb_air::UserRadio;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::mac::harq::block::Rules;
use nodeb_air::mac::user_set::WORD;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;
use selection::{CachedBlocks, QualityBound, ScoreBound, SelectionCache};
use user::User;

#[derive(Debug)]
pub struct NodeBs {
    pub params: Hsdpa,
    pub users: Vec<User>,
    /// Users to whom nothing can be sent are skipped by it.
    pub selection: SelectionCache,
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
        let selection = SelectionCache::new(&users, params.served());
        Self { params: params.clone(), selection, users, sequence, rules: params.harq_rules() }
    }

    /// Must be called after its queue, its HARQ processes or its cell has changed.
    pub fn refresh(&mut self, user: usize) {
        self.selection.refresh(user, &self.users[user]);
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
        let Self { users, selection, sequence, .. } = self;
        let SelectionCache { waiting, last_best, score_bounds, quality_bounds, cached, .. } = selection;
        let best = [Score::NONE; 2];
        let mut search =
            BestUserSearch { tti, limits, users, quality_bounds, cached, sequence, score, turn, best };
        let waiting = &waiting[cell];
        for user in last_best[cell].into_iter().filter(|user| waiting.contains(*user)) {
            search.visit(user, &mut score_bounds[user]);
        }
        let groups = waiting.words().iter().zip(score_bounds.chunks_mut(WORD)).zip((0..).step_by(WORD));
        for ((word, score_bounds), first) in groups.filter(|((word, _), _)| **word != 0) {
            for (at, bound) in score_bounds.iter_mut().enumerate() {
                // The bound excludes most users, so it is checked before the user's bit in `waiting`.
                let may_win = bound.until <= tti || bound.score >= search.best[0].value;
                if may_win && word >> at & 1 != 0 {
                    search.visit(first + at, bound);
                }
            }
        }
        let [first, second] = search.best.map(|score| score.user);
        if first < usize::MAX {
            last_best[cell] = [first, second.min(first)];
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
struct Score {
    value: f64,
    turn: u64,
    user: usize,
}

impl Score {
    const NONE: Self = Self { value: f64::NEG_INFINITY, turn: u64::MAX, user: usize::MAX };
}

struct BestUserSearch<'a, S, T> {
    tti: u64,
    limits: Limits,
    users: &'a mut [User],
    quality_bounds: &'a mut [QualityBound],
    cached: &'a mut [CachedBlocks],
    sequence: &'a JakesSequence,
    score: S,
    turn: T,
    best: [Score; 2],
}

impl<S: Fn(usize, (u32, f32)) -> f64, T: Fn(usize) -> u64> BestUserSearch<'_, S, T> {
    #[inline]
    fn may_win(&self, user: usize, value: f64) -> bool {
        self.comes_before(user, value, &self.best[0])
    }

    #[inline]
    fn comes_before(&self, user: usize, value: f64, other: &Score) -> bool {
        value > other.value || value >= other.value && ((self.turn)(user), user) < (other.turn, other.user)
    }

    /// Bound by the cached blocks or, if none are cached for this TTI, by the channel.
    fn bound(&mut self, user: usize) -> ScoreBound {
        let QualityBound { units, quality, until } = if self.cached[user].until > self.tti {
            self.cached[user].bound()
        } else {
            let bound = &mut self.quality_bounds[user];
            if bound.until <= self.tti {
                *bound = self.users[user].quality_bound(self.tti, self.limits, self.sequence);
            }
            *bound
        };
        ScoreBound { score: (self.score)(user, (units, quality)), until }
    }

    /// The function is not inlined, so that the loop over all users remains short.
    #[inline(never)]
    fn visit(&mut self, user: usize, bound: &mut ScoreBound) {
        let (tti, limits) = (self.tti, self.limits);
        if bound.until <= tti {
            *bound = self.bound(user);
        }
        #[cfg(test)]
        if let Some(Grant { units, quality, .. }) = self.users[user].grant(tti, limits, self.sequence) {
            assert!((self.score)(user, (units, quality)) <= bound.score, "above the bound in TTI {tti}");
        }
        if !self.may_win(user, bound.score) {
            return;
        }
        let found = if let Some(found) = self.cached[user].recall(tti) {
            found
        } else {
            let found = self.users[user].compute(tti, limits, self.sequence, &mut self.cached[user]);
            *bound = self.bound(user);
            found
        };
        #[cfg(test)]
        self.users[user].assert_cached(tti, limits, self.sequence, found);
        let score = Score { value: (self.score)(user, found), turn: (self.turn)(user), user };
        if found.0 == 0 || user == self.best[0].user {
            return;
        }
        if self.may_win(user, score.value) {
            self.best = [score, self.best[0]];
        } else if self.comes_before(user, score.value, &self.best[1]) {
            self.best[1] = score;
        }
    }
}

impl Endpoints for NodeBs {
    fn take(&mut self, now: Time, user: usize, most: u64) -> u64 {
        self.users[user].packets.take(now, most)
    }

    fn put(&mut self, user: usize, units: u64) {
        self.users[user].enqueue(units);
        self.selection.refresh_queue(user, &self.users[user]);
    }
}
