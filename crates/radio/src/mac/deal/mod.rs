//! Division of a band's groups among the users of a TTI.
//!
//! [`Dealer::deal`] first assigns all groups by the scheduler's weights. Then it corrects the
//! result. A user with more groups than its data needs returns the worst ones. If there are more
//! users than the control channel can address, those with the lowest scores return all groups.
//! Returned groups are assigned again among the other users. This is repeated until no user that
//! may be served can use the groups that are left. After every repetition at least one user gets no
//! further groups, so there are at most as many repetitions as users.
//!
//! All users are compared on all groups in loops over arrays, which are vectorized. For 30 users
//! and 25 groups a repetition takes less time than maintaining sorted lists of users, as each
//! served user would move in every list. Fused multiply-add is not used, so that results are equal
//! on all machines.
//!
//! The amounts that groups carry are added up, as if each group were a block of its own. The size
//! of a common block (TS 36.213, 7.1.7) differs from this sum by the rounding of its table.

pub mod balance;
mod highest;
mod turns;

use super::band::{Groups, Row};
use super::sched::{Candidate, Deal, Scheduler, Weight};
use balance::Balance;
use highest::Contest;

/// Value in [`Offers::x`] for a group on which the user cannot be served.
pub const UNUSABLE: f32 = f32::NAN;

/// Properties of the users by which the groups of a band are divided among them in a TTI. All lists are indexed by
/// user, not by candidate.
#[derive(Clone, Copy, Debug)]
pub struct Offers<'a> {
    /// For each user and group, the quantity on which the scheduler's scores depend: the rate if
    /// its [`View`](super::sched::View) needs the rate, otherwise the channel quality. [`UNUSABLE`]
    /// where the user cannot be served.
    pub x: &'a [Row],
    /// For each user and group, the amount that the user could be sent there, in the bearer's
    /// units; may be the same list as `x`. Must be above 0 where `x` is not [`UNUSABLE`].
    pub rates: &'a [Row],
    /// For each group, its number of resource blocks.
    pub sizes: &'a Row,
    /// For each group, the factor by which the amounts in `rates` are less in this TTI, because other signals take
    /// resource elements of the group; 1 if there are none.
    pub yields: &'a Row,
    /// Amount of data that waits for each user, in the bearer's units.
    pub waiting: &'a [f32],
}

impl Offers<'_> {
    /// Returns the amount that a user could be sent on a group in this TTI.
    #[inline]
    fn amount(&self, user: usize, group: usize) -> f32 {
        self.rates[user][group] * self.yields[group]
    }
}

/// Resources of a TTI that are not assigned to any transmission yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Groups that are free and may be divided among users.
    pub groups: Groups,
    /// Largest number of users that may get groups, at least 1.
    pub grants: usize,
}

/// Part of a band that one user gets in a TTI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index of the user on the bearer.
    pub user: usize,
    /// Groups that the user gets, at least one.
    pub groups: Groups,
}

/// Candidate that may get further groups in this TTI (an open candidate).
#[derive(Clone, Copy, Debug)]
struct Bidder {
    /// Index in the list of candidates.
    candidate: u32,
    /// Index of the candidate's user on the bearer.
    user: u32,
    weight: Weight,
}

/// Groups that a candidate has got in a TTI, and what they carry. After the candidate has returned
/// groups, only `user` and `groups` are valid.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Index of the candidate's user on the bearer.
    user: usize,
    groups: Groups,
    /// Amount of data that the candidate's groups carry, in the bearer's units.
    carried: f32,
    /// Highest score of the candidate on any of its groups; minus infinity if it has no groups, or
    /// if groups are assigned in turn.
    best: f32,
}

impl Held {
    /// Creates the state of a candidate that has no groups.
    fn nothing(user: usize) -> Self {
        Self { user, groups: Groups::NONE, carried: 0.0, best: f32::NEG_INFINITY }
    }

    /// Adds a group to those of the candidate.
    #[inline]
    fn add(&mut self, group: usize, offers: Offers) {
        self.groups.insert(group);
        self.carried += offers.amount(self.user, group);
    }
}

// Clause: not standardized: schedulers on groups of resource blocks
/// Division of a band among users in each TTI. The memory is reused from TTI to TTI.
#[derive(Debug, Default)]
pub struct Dealer {
    weights: Vec<Weight>,
    /// Groups of each candidate, in the order of candidates.
    held: Vec<Held>,
    /// Candidates that may get further groups in this TTI.
    open: Vec<Bidder>,
    /// Indices of the candidates that have got their first groups in this round or, if groups are
    /// assigned in turn, in this TTI.
    newcomers: Vec<u32>,
    /// If groups are assigned in turn, indices of the candidates in the order of their turns.
    turns: Vec<u32>,
    /// Resource blocks that users have got beyond even shares, if groups are assigned in turn.
    balance: Balance,
    contest: Contest,
    parts: Vec<Part>,
}

impl Dealer {
    /// Divides the groups in `room` among `candidates` in TTI `tti`. Returns the parts of the users
    /// that are served, in the order in which the scheduler must be informed of them.
    pub fn deal(
        &mut self,
        tti: u64,
        scheduler: &mut dyn Scheduler,
        candidates: &[Candidate],
        offers: Offers,
        room: Room,
    ) -> &[Part] {
        self.parts.clear();
        if candidates.is_empty() {
            return &self.parts;
        }
        self.weights.resize(candidates.len(), Weight::default());
        let deal = scheduler.weigh(tti, candidates, &mut self.weights);
        self.begin(candidates, offers);
        match deal {
            Deal::EachToHighest => self.deal_to_highest(offers, room),
            Deal::FirstShareEvenly => self.deal_in_turn(offers, room),
        }
        &self.parts
    }

    /// Resets the state for a new TTI. Opens all candidates with waiting data, so that they may get
    /// groups.
    fn begin(&mut self, candidates: &[Candidate], offers: Offers) {
        let Self { held, open, weights, .. } = self;
        held.clear();
        held.extend(candidates.iter().map(|candidate| Held::nothing(candidate.user)));
        open.clear();
        let bidder = |((candidate, one), weight): ((u32, &Candidate), &mut Weight)| Bidder {
            candidate,
            user: one.user as u32,
            weight: *weight,
        };
        open.extend((0..).zip(candidates).zip(weights).map(bidder));
        if candidates.iter().any(|candidate| offers.waiting[candidate.user] <= 0.0) {
            open.retain(|bidder| offers.waiting[bidder.user as usize] > 0.0);
        }
    }

    /// Removes from `open` the candidates whose groups carry all their data. Returns the groups that
    /// these candidates do not need.
    fn settle(&mut self, offers: Offers) -> Groups {
        let Self { open, held, .. } = self;
        let mut returned = Groups::NONE;
        open.retain(|bidder| {
            let (held, user) = (&mut held[bidder.candidate as usize], bidder.user as usize);
            let spare = held.carried - offers.waiting[user];
            if spare >= 0.0 {
                let surplus = surplus(offers, user, held.groups, spare);
                returned = returned.union(surplus);
                held.groups = held.groups.without(surplus);
            }
            spare < 0.0
        });
        returned
    }

    /// Adds the part of a candidate to the list of parts, if it has groups.
    fn list(&mut self, candidate: usize) {
        let Held { user, groups, .. } = self.held[candidate];
        if !groups.is_empty() {
            self.parts.push(Part { user, groups });
        }
    }
}

/// Returns the groups that a user does not need, which together carry at most `spare`. Selects the
/// group with the lowest rate first and, among equal rates, the group with the highest frequency.
/// At least one group is left to the user.
fn surplus(offers: Offers, user: usize, mut held: Groups, mut spare: f32) -> Groups {
    let all = held;
    let amount = |group: usize| offers.amount(user, group);
    while held.len() > 1 {
        let worst = held.into_iter().reduce(|a, b| if amount(b) <= amount(a) { b } else { a });
        let Some(worst) = worst.filter(|worst| amount(*worst) <= spare) else { break };
        spare -= amount(worst);
        held.remove(worst);
    }
    all.without(held)
}

/// Sizes or yields of groups that are all 1.
#[cfg(test)]
const ALL_ONE: Row = [1.0; super::band::MAX_GROUPS];

#[cfg(test)]
mod gain;
#[cfg(test)]
mod tests;
