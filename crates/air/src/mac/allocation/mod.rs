//! [`GroupAllocator::allocate`] assigns all groups by the scheduler's weights, then users with more groups than their
//! data need return the worst ones and, if there are more users than the control channel can address, those
//! with the lowest scores return all. Returned groups are assigned again, at most as often as there are
//! users. Loops over arrays are vectorized; fused multiply-add is not used, so that results are equal on all
//! machines. Amounts of groups are added up as if each were a block of its own, which differs from a common
//! block (TS 36.213, 7.1.7) by the rounding of its table.

pub mod balance;
mod highest;
mod turns;

pub use highest::Spans;

use super::band::{Groups, Row};
use super::sched::{AllocationRule, Candidate, Scheduler, Weight};
use balance::Balance;
use highest::HighestScores;

/// The user cannot be served on the group.
pub const UNUSABLE: f32 = f32::NAN;

/// Indexed by user, not by candidate.
#[derive(Clone, Copy, Debug)]
pub struct Offers<'a> {
    /// By user and group, what the scheduler's scores depend on: the rate if its [`View`](super::sched::View)
    /// needs it, else the channel quality; or [`UNUSABLE`].
    pub x: &'a [Row],
    /// By user, of `x`.
    pub spans: &'a [Spans],
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
struct Contender {
    candidate: u32,
    user: u32,
    weight: Weight,
}

/// After groups were returned, only `contender` and `groups` are valid.
#[derive(Clone, Copy, Debug)]
struct Held {
    contender: Contender,
    groups: Groups,
    /// In the bearer's units.
    carried: f32,
    /// Highest score on any of the groups; minus infinity without groups, or if groups are assigned in turn.
    best: f32,
    /// May get further groups.
    is_open: bool,
}

impl Held {
    fn nothing(contender: Contender) -> Self {
        Self { contender, groups: Groups::NONE, carried: 0.0, best: f32::NEG_INFINITY, is_open: true }
    }

    fn user(&self) -> usize {
        self.contender.user as usize
    }

    fn part(&self) -> Part {
        Part { user: self.user(), groups: self.groups }
    }

    #[inline]
    fn add(&mut self, group: usize, offers: Offers) {
        self.groups.insert(group);
        self.carried += offers.amount(self.user(), group);
    }
}

/// Of the many candidates of a large cell only few get groups.
#[derive(Debug, Default)]
struct Holders {
    all: Vec<Held>,
    /// By candidate: its place in `all` plus 1, or 0. Invalid once `all` is sorted.
    places: Vec<u32>,
}

impl Holders {
    fn begin(&mut self, candidates: usize) {
        self.all.clear();
        self.places.clear();
        self.places.resize(candidates, 0);
    }

    /// False if it replaces an older state of the candidate.
    #[inline]
    fn put(&mut self, held: Held) -> bool {
        let place = &mut self.places[held.contender.candidate as usize];
        let is_new = *place == 0;
        if is_new {
            self.all.push(held);
            *place = self.all.len() as u32;
        } else {
            self.all[*place as usize - 1] = held;
        }
        is_new
    }

    #[inline]
    fn get(&self, candidate: u32) -> Option<&Held> {
        self.all.get((self.places[candidate as usize] as usize).checked_sub(1)?)
    }

    fn get_mut(&mut self, candidate: u32) -> Option<&mut Held> {
        self.all.get_mut((self.places[candidate as usize] as usize).checked_sub(1)?)
    }

    fn has_groups(&self, candidate: u32) -> bool {
        self.get(candidate).is_some_and(|held| !held.groups.is_empty())
    }

    /// All groups.
    fn release(&mut self, candidate: u32) -> Groups {
        let Some(held) = self.get_mut(candidate) else { return Groups::NONE };
        held.is_open = false;
        std::mem::take(&mut held.groups)
    }
}

// Clause: not standardized: schedulers on groups of resource blocks
/// The memory is reused from TTI to TTI.
#[derive(Debug, Default)]
pub struct GroupAllocator {
    weights: Vec<Weight>,
    holders: Holders,
    open: Vec<Contender>,
    /// Those that got their first groups in this round or, in turn, in this TTI.
    newcomers: Vec<u32>,
    /// In turn: resource blocks beyond even shares.
    balance: Balance,
    scores: HighestScores,
    rule: AllocationRule,
    /// Not assigned yet.
    room: Room,
    /// Users that must be measured before the round continues.
    unmeasured: Vec<usize>,
    parts: Vec<Part>,
}

impl GroupAllocator {
    /// In the order in which the scheduler must be informed; all candidates are measured.
    pub fn allocate(
        &mut self,
        tti: u64,
        scheduler: &mut dyn Scheduler,
        candidates: &[Candidate],
        offers: Offers,
        room: Room,
    ) -> &[Part] {
        self.begin(tti, scheduler, candidates, room);
        self.proceed(offers);
        &self.parts
    }

    /// Unmeasured candidates are allowed if the scheduler's rule is a [`Rule::Ratio`](super::sched::Rule::Ratio).
    pub fn begin(&mut self, tti: u64, scheduler: &mut dyn Scheduler, candidates: &[Candidate], room: Room) {
        self.room = room;
        self.parts.clear();
        self.unmeasured.clear();
        self.weights.resize(candidates.len(), Weight::default());
        if !candidates.is_empty() {
            self.rule = scheduler.weigh(tti, candidates, &mut self.weights);
        }
        self.open(candidates);
    }

    /// Takes the parts of candidates, who need no further grant, from `parts`; before the first call of
    /// [`Self::proceed`].
    pub fn keep(&mut self, parts: &mut Vec<Part>, offers: Offers) {
        parts.retain(|part| {
            let place = self.open.binary_search_by_key(&(part.user as u32), |contender| contender.user);
            let Ok(place) = place else { return true };
            let mut held = Held::nothing(self.open[place]);
            part.groups.into_iter().for_each(|group| held.add(group, offers));
            held.is_open = held.carried < offers.waiting[part.user];
            self.holders.put(held);
            false
        });
        if self.room.grants == 0 {
            self.keep_holders();
        } else {
            self.remove_closed();
        }
    }

    /// False if the users of [`Self::unmeasured`] may get groups: they must be measured before the next call.
    pub fn proceed(&mut self, offers: Offers) -> bool {
        match self.rule {
            AllocationRule::EachToHighest => self.allocate_to_highest(offers),
            AllocationRule::InTurnFrom(first) => {
                self.allocate_in_turn(first, offers, self.room);
                true
            }
        }
    }

    pub fn unmeasured(&self) -> &[usize] {
        &self.unmeasured
    }

    /// In the order in which the scheduler must be informed.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn open(&mut self, candidates: &[Candidate]) {
        let Self { holders, open, weights, .. } = self;
        holders.begin(candidates.len());
        open.clear();
        let contender = |((candidate, one), weight): ((u32, &Candidate), &mut Weight)| Contender {
            candidate,
            user: one.user as u32,
            weight: *weight,
        };
        open.extend((0..).zip(candidates).zip(weights).map(contender));
    }

    /// The groups that are not needed.
    fn return_surplus(&mut self, offers: Offers) -> Groups {
        let mut returned = Groups::NONE;
        for held in self.holders.all.iter_mut().filter(|held| held.is_open) {
            let spare = held.carried - offers.waiting[held.user()];
            if spare >= 0.0 {
                let surplus = surplus(offers, held.user(), held.groups, spare);
                returned = returned.union(surplus);
                held.groups = held.groups.without(surplus);
                held.is_open = false;
            }
        }
        returned
    }

    fn remove_closed(&mut self) {
        let Self { open, holders, .. } = self;
        open.retain(|contender| holders.get(contender.candidate).is_none_or(|held| held.is_open));
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
fn spans_of(rows: &[Row]) -> Vec<Spans> {
    rows.iter().map(Spans::of).collect()
}

#[cfg(test)]
mod gain;
#[cfg(test)]
mod tests;
