//! The score of a user on a group is `scale * x + offset`, where `x` is the rate there if the scheduler needs
//! rates ([`View`](super::View)), else the channel quality: one multiplication, addition and comparison for
//! each user and group.

use super::{Candidate, Scheduler};

/// In a TTI, for all groups; the highest `scale * x + offset` is preferred.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    /// At least 0.
    pub scale: f32,
    pub offset: f32,
}

impl Weight {
    /// Score of minus `rank`, whatever the channel.
    pub fn by_rank(rank: u32) -> Self {
        Self { scale: 0.0, offset: -(rank as f32) }
    }

    #[inline]
    pub fn score(self, x: f32) -> f32 {
        self.scale * x + self.offset
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocationRule {
    /// To the first user if several are equal.
    #[default]
    EachToHighest,
    /// In turn from this candidate on, in about equal numbers, whatever the weights.
    InTurnFrom(usize),
}

/// The memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    order: Vec<u32>,
    ranks: Vec<u32>,
}

impl Ranks {
    /// In ascending order of `key`; candidates with equal keys keep their order.
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

/// As repeated calls of [`Scheduler::pick`] select them, each without the candidates selected before.
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
