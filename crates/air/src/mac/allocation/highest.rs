use super::{Contender, GroupAllocator, Held, Holders, Offers, Room};
use crate::mac::band::{Groups, MAX_GROUPS, Row};
use crate::mac::sched::Weight;

/// Groups in one vector instruction.
const LANES: usize = 4;

type Vector = [f32; LANES];

/// With several vectors, the CPU can start to compare the next one before it has the result of the previous
/// one.
const VECTORS: usize = 4;

const ALL_VECTORS: usize = MAX_GROUPS / LANES;

/// Without a rest for vector instructions.
const SPANS: usize = ALL_VECTORS.next_multiple_of(LANES);

/// No candidate can be served on the group.
const NOBODY: f32 = 0.0;

/// Of a user's `x` on the groups of each vector: bounds of its scores, with which most users of a large cell
/// are excluded.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    /// Minus infinity if the user cannot be served on one of the groups; NaN if it is not measured.
    lowest: [f32; SPANS],
    /// Minus infinity if the user can be served on none of the groups.
    highest: [f32; SPANS],
}

impl Spans {
    pub const UNUSABLE: Self =
        Self { lowest: [f32::NEG_INFINITY; SPANS], highest: [f32::NEG_INFINITY; SPANS] };

    /// Of a user that is not measured yet: at most `highest` on all groups.
    pub fn up_to(highest: f32) -> Self {
        Self { lowest: [f32::NAN; SPANS], highest: [highest; SPANS] }
    }

    #[inline]
    pub fn is_measured(&self) -> bool {
        !self.lowest[0].is_nan()
    }

    /// Elements beyond the band's last group only make bounds wider.
    pub fn of(row: &Row) -> Self {
        let mut spans = Self::UNUSABLE;
        let lower = |this: f32, other: f32| if this < other { this } else { other };
        let higher = |this: f32, other: f32| if this > other { this } else { other };
        for (vector, row) in row.as_chunks::<LANES>().0.iter().enumerate() {
            let [a, b, c, d] = row.map(|value| higher(value, f32::NEG_INFINITY));
            spans.lowest[vector] = lower(lower(a, b), lower(c, d));
            spans.highest[vector] = higher(higher(a, b), higher(c, d));
        }
        spans
    }

    /// False if scores reach none of the `floors`.
    #[inline]
    fn reach(&self, weight: Weight, floors: &[f32; SPANS]) -> bool {
        let mut reach = false;
        for (highest, floor) in self.highest.iter().zip(floors) {
            reach |= weight.score(*highest) >= *floor;
        }
        reach
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct HighestScores {
    /// Candidates that may have the highest score of a group.
    contenders: Vec<Held>,
    /// Minus infinity if no candidate can be served there.
    scores: [Vector; ALL_VECTORS],
    /// Contender with the highest score, plus 1, or [`NOBODY`]: floats, as their maximum takes one CPU
    /// instruction and a selection three; with [`NOBODY`] 0, a claim takes one, too.
    owners: [Vector; ALL_VECTORS],
}

impl HighestScores {
    /// Finds the contenders for the groups `free`; those that are not measured are added to `unmeasured`.
    fn contend(
        &mut self,
        open: &[Contender],
        holders: &Holders,
        spans: &[Spans],
        free: Groups,
        unmeasured: &mut Vec<usize>,
    ) {
        let mut floors = floors(open, spans);
        for (vector, floor) in floors.iter_mut().enumerate() {
            *floor = if has_free(free, vector) { *floor } else { f32::INFINITY };
        }
        self.contenders.clear();
        for contender in open {
            let spans = &spans[contender.user as usize];
            if spans.reach(contender.weight, &floors) {
                self.contenders
                    .push(holders.get(contender.candidate).map_or(Held::nothing(*contender), |held| *held));
                if !spans.is_measured() {
                    unmeasured.push(contender.user as usize);
                }
            }
        }
    }

    /// On the groups `free`, and those in the same vectors; if scores are equal, the first candidate wins.
    fn hold(&mut self, offers: Offers, free: Groups) {
        let mut places = [0; SPANS];
        let mut count = 0;
        for vector in 0..SPANS {
            places[count] = vector;
            count += usize::from(has_free(free, vector));
        }
        for places in places[..count].chunks(VECTORS) {
            match places.len() {
                4 => self.hold_on::<4>(places, offers.x),
                3 => self.hold_on::<3>(places, offers.x),
                2 => self.hold_on::<2>(places, offers.x),
                _ => self.hold_on::<1>(places, offers.x),
            }
        }
    }

    /// `places` has the indices of the `N` vectors.
    fn hold_on<const N: usize>(&mut self, places: &[usize], x: &[Row]) {
        let places: [usize; N] = std::array::from_fn(|at| places[at] % ALL_VECTORS);
        let (mut scores, mut owners) = ([[f32::NEG_INFINITY; LANES]; N], [[NOBODY; LANES]; N]);
        let mut number = NOBODY;
        for Held { contender, .. } in &self.contenders {
            number += 1.0;
            let row = x[contender.user as usize].as_chunks::<LANES>().0;
            compare(number, contender.weight, places.map(|place| row[place]), &mut scores, &mut owners);
        }
        for (at, place) in places.into_iter().enumerate() {
            (self.scores[place], self.owners[place]) = (scores[at], owners[at]);
        }
    }

    /// Gives the groups `free` to the contenders with the highest scores, and returns these contenders.
    #[inline]
    fn decide(&mut self, offers: Offers, free: Groups) -> impl Iterator<Item = &Held> {
        for group in free {
            let [scores, owners] = [&self.scores, &self.owners].map(|vectors| vectors.as_flattened());
            let Some((number, score)) = owners.get(group).zip(scores.get(group)) else { continue };
            let Some(held) = contender(*number).and_then(|at| self.contenders.get_mut(at)) else { continue };
            held.best = if *score > held.best { *score } else { held.best };
            held.add(group, offers);
        }
        self.contenders.iter().filter(|held| !held.groups.is_empty())
    }
}

/// Index of the contender with this number, which is a whole one below 2^23: a conversion to an integer
/// would take five times as long.
#[inline]
fn contender(number: f32) -> Option<usize> {
    const ONE_STEP: f32 = (1u32 << (f32::MANTISSA_DIGITS - 1)) as f32;
    ((number + ONE_STEP).to_bits() - ONE_STEP.to_bits()).checked_sub(1).map(|at| at as usize)
}

#[inline]
fn has_free(free: Groups, vector: usize) -> bool {
    free.bits() >> (vector * LANES) & ((1 << LANES) - 1) != 0
}

/// Of each vector, a score that the winner of any of its groups reaches.
fn floors(open: &[Contender], spans: &[Spans]) -> [f32; SPANS] {
    let mut floors = [f32::NEG_INFINITY; SPANS];
    for contender in open {
        for (floor, lowest) in floors.iter_mut().zip(&spans[contender.user as usize].lowest) {
            let score = contender.weight.score(*lowest);
            *floor = if score > *floor { score } else { *floor };
        }
    }
    floors
}

/// All owners so far precede `contender` in the list, so they keep a group if scores are equal.
#[inline]
fn compare<const N: usize>(
    contender: f32,
    weight: Weight,
    row: [Vector; N],
    scores: &mut [Vector; N],
    owners: &mut [Vector; N],
) {
    for vector in 0..N {
        for lane in 0..LANES {
            let score = weight.score(row[vector][lane]);
            let highest = scores[vector][lane];
            // The comparison is false for a score that is NaN, so unusable groups are not claimed.
            let claim = if score > highest { contender } else { NOBODY };
            scores[vector][lane] = if score > highest { score } else { highest };
            let owner = owners[vector][lane];
            owners[vector][lane] = if claim > owner { claim } else { owner };
        }
    }
}

impl GroupAllocator {
    /// Then lists the parts of all candidates that have groups, in the order of candidates; false if some
    /// must be measured before.
    pub(super) fn allocate_to_highest(&mut self, offers: Offers) -> bool {
        while !self.open.is_empty() {
            let Room { groups: free, grants } = self.room;
            let Self { scores, open, holders, unmeasured, .. } = self;
            if unmeasured.is_empty() {
                scores.contend(open, holders, offers.spans, free, unmeasured);
                if !unmeasured.is_empty() {
                    return false;
                }
            }
            unmeasured.clear();
            scores.hold(offers, free);
            self.newcomers.clear();
            for held in self.scores.decide(offers, free) {
                if self.holders.put(*held) {
                    self.newcomers.push(held.contender.candidate);
                }
            }
            let returned = self.limit_newcomers(grants);
            self.room.grants = grants - self.newcomers.len();
            self.room.groups = returned.union(self.return_surplus(offers));
            if self.room.groups.is_empty() {
                break;
            }
            if self.room.grants > 0 {
                self.remove_closed();
            } else {
                self.keep_holders();
            }
        }
        self.holders.all.sort_unstable_by_key(|held| held.contender.candidate);
        let served = self.holders.all.iter().filter(|held| !held.groups.is_empty());
        self.parts.extend(served.map(Held::part));
        true
    }

    /// `grants` candidates may still get their first groups: keeps the newcomers of this round with the
    /// highest scores. Returned are the groups of the others.
    fn limit_newcomers(&mut self, grants: usize) -> Groups {
        let Self { newcomers, holders, .. } = self;
        let mut returned = Groups::NONE;
        if newcomers.len() > grants {
            let best = |candidate: &u32| holders.get(*candidate).map_or(f32::NEG_INFINITY, |held| held.best);
            newcomers.sort_unstable_by(|a, b| best(b).total_cmp(&best(a)).then(a.cmp(b)));
            for last in newcomers.drain(grants..) {
                returned = returned.union(holders.release(last));
            }
        }
        returned
    }

    /// No other candidate may get groups.
    pub(super) fn keep_holders(&mut self) {
        let Self { open, holders, .. } = self;
        open.clear();
        open.extend(holders.all.iter().filter(|held| held.is_open).map(|held| held.contender));
        open.sort_unstable_by_key(|contender| contender.candidate);
    }
}
