//! Schedulers on a grid of groups: weights of users, from which the scores on all groups of a band
//! are computed.
//!
//! The score of a user on a group is `scale * x + offset`. Here `x` is the user's rate on this
//! group if the scheduler needs rates ([`View`](super::View)), else the user's channel quality on
//! this group. All built-in schedulers have scores of this form, so a TTI takes one multiplication,
//! addition and comparison for each user and group, and no calls of functions.

use super::{Candidate, Scheduler};

/// Weight of a user in a TTI, which is the same for all groups. A user with a higher score `scale *
/// x + offset` is preferred.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    /// Factor of the user's rate or quality on a group.
    pub scale: f32,
    /// Part of the score that is equal on all groups.
    pub offset: f32,
}

impl Weight {
    /// Creates the weight of a user that is served after `rank` other users, whatever their
    /// channels: its score is minus `rank` on all groups.
    pub fn by_rank(rank: u32) -> Self {
        Self { scale: 0.0, offset: -(rank as f32) }
    }

    /// Returns the score of the user on a group where its rate or quality is `x`.
    #[inline]
    pub fn score(self, x: f32) -> f32 {
        self.scale * x + self.offset
    }
}

/// Method by which groups are divided among users, given their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deal {
    /// Each group goes to the user with the highest score on it, or to the first such user if
    /// several are equal.
    EachToHighest,
    /// Groups go in turn to the users with the highest offsets, so that these users get about equal
    /// numbers of groups.
    FirstShareEvenly,
}

/// Ranks of candidates in the order of a key. Their memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    order: Vec<u32>,
    ranks: Vec<u32>,
}

impl Ranks {
    /// Returns the rank of each candidate: the number of candidates that precede it in ascending
    /// order of `key`. Candidates with equal keys keep their order.
    pub fn of<K: Ord>(&mut self, candidates: &[Candidate], key: impl Fn(&Candidate) -> K) -> &[u32] {
        self.order.clear();
        self.order.extend(0..candidates.len() as u32);
        self.order.sort_unstable_by_key(|i| (key(&candidates[*i as usize]), *i));
        self.ranks.resize(candidates.len(), 0);
        for (rank, i) in (0..).zip(&self.order) {
            self.ranks[*i as usize] = rank;
        }
        &self.ranks
    }
}

/// Sets the weights so that candidates are ranked in the order in which repeated calls of
/// [`Scheduler::pick`] select them, each call without the candidates selected before.
pub fn rank_by_picks<S: Scheduler + ?Sized>(
    scheduler: &mut S,
    tti: u64,
    candidates: &[Candidate],
    weights: &mut [Weight],
) {
    let mut left = candidates.to_vec();
    let mut places: Vec<usize> = (0..candidates.len()).collect();
    for rank in 0..candidates.len() as u32 {
        let at = scheduler.pick(tti, &left);
        left.remove(at);
        weights[places.remove(at)] = Weight::by_rank(rank);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_are_ranked_in_order_of_users() {
        let candidates = [5, 2, 5, 1, 2].map(|rate| Candidate::at_rate(0, rate));
        let mut ranks = Ranks::default();
        assert_eq!(ranks.of(&candidates, |candidate| candidate.rate), [3, 1, 4, 0, 2]);
        assert_eq!(ranks.of(&candidates[..2], |candidate| candidate.rate), [1, 0]);
    }
}
