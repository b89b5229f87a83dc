//! [`Dealer::deal`] assigns all groups by the scheduler's weights, then users with more groups than their
//! data need return the worst ones and, if there are more users than the control channel can address, those
//! with the lowest scores return all. Returned groups are assigned again, at most as often as there are
//! users. Loops over arrays are vectorized; fused multiply-add is not used, so that results are equal on all
//! machines. Amounts of groups are added up as if each were a block of its own, which differs from a common
//! block (TS 36.213, 7.1.7) by the rounding of its table.

pub mod balance;
mod highest;
mod turns;

use super::band::{Groups, Row};
use super::sched::{Candidate, Deal, Scheduler, Weight};
use balance::Balance;
use highest::Contest;

/// The user cannot be served on the group.
pub const UNUSABLE: f32 = f32::NAN;

/// Indexed by user, not by candidate.
#[derive(Clone, Copy, Debug)]
pub struct Offers<'a> {
    /// By user and group, what the scheduler's scores depend on: the rate if its [`View`](super::sched::View)
    /// needs it, else the channel quality; or [`UNUSABLE`].
    pub x: &'a [Row],
    /// By user and group, in the bearer's units; above 0 where `x` is not [`UNUSABLE`], and may be the same
    /// list.
    pub rates: &'a [Row],
    /// Resource blocks by group.
    pub sizes: &'a Row,
    /// By group, the factor on `rates` in this TTI, below 1 where other signals take resource elements.
    pub yields: &'a Row,
    /// In the bearer's units; above 0 for candidates.
    pub waiting: &'a [f32],
}

impl Offers<'_> {
    #[inline]
    fn amount(&self, user: usize, group: usize) -> f32 {
        self.rates[user][group] * self.yields[group]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub groups: Groups,
    /// Users that may get groups, at least 1.
    pub grants: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub user: usize,
    /// At least one.
    pub groups: Groups,
}

/// Candidate that may get further groups in this TTI (an open candidate).
#[derive(Clone, Copy, Debug)]
struct Bidder {
    candidate: u32,
    user: u32,
    weight: Weight,
}

/// After groups were returned, only `user` and `groups` are valid.
#[derive(Clone, Copy, Debug)]
struct Held {
    user: usize,
    groups: Groups,
    /// In the bearer's units.
    carried: f32,
    /// Highest score on any of the groups; minus infinity without groups, or if groups are assigned in turn.
    best: f32,
}

impl Held {
    fn nothing(user: usize) -> Self {
        Self { user, groups: Groups::NONE, carried: 0.0, best: f32::NEG_INFINITY }
    }

    #[inline]
    fn add(&mut self, group: usize, offers: Offers) {
        self.groups.insert(group);
        self.carried += offers.amount(self.user, group);
    }
}

// Clause: not standardized: schedulers on groups of resource blocks
/// The memory is reused from TTI to TTI.
#[derive(Debug, Default)]
pub struct Dealer {
    weights: Vec<Weight>,
    /// By candidate.
    held: Vec<Held>,
    open: Vec<Bidder>,
    /// Those that got their first groups in this round or, in turn, in this TTI.
    newcomers: Vec<u32>,
    /// In turn: resource blocks beyond even shares.
    balance: Balance,
    contest: Contest,
    parts: Vec<Part>,
}

impl Dealer {
    /// In the order in which the scheduler must be informed.
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
        self.begin(candidates);
        match deal {
            Deal::EachToHighest => self.deal_to_highest(offers, room),
            Deal::InTurnFrom(first) => self.deal_in_turn(first, offers, room),
        }
        &self.parts
    }

    fn begin(&mut self, candidates: &[Candidate]) {
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
    }

    /// The groups that are not needed.
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

    fn list(&mut self, candidate: usize) {
        let Held { user, groups, .. } = self.held[candidate];
        if !groups.is_empty() {
            self.parts.push(Part { user, groups });
        }
    }
}

/// Groups that carry at most `spare`, the lowest rate first and then the highest frequency; at least one
/// group is left.
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

#[cfg(test)]
const ALL_ONE: Row = [1.0; super::band::MAX_GROUPS];

#[cfg(test)]
mod gain;
#[cfg(test)]
mod tests;
