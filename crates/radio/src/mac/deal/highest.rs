use super::{Bidder, Dealer, Offers, Part, Room};
use crate::mac::band::{Groups, MAX_GROUPS, Row};

/// Groups in one vector instruction.
const LANES: usize = 4;

type Vector = [f32; LANES];

/// With several vectors, the CPU can start to compare the next one before it has the result of the previous
/// one.
const VECTORS: usize = 4;

const ALL_VECTORS: usize = MAX_GROUPS / LANES;

/// No candidate can be served on the group.
const NOBODY: f32 = 0.0;

#[derive(Clone, Debug, Default)]
pub(super) struct Contest {
    /// Minus infinity if no candidate can be served there.
    scores: [Vector; ALL_VECTORS],
    /// Candidate with the highest score, plus 1, or [`NOBODY`]: floats, as their maximum takes one CPU
    /// instruction and a selection three; with [`NOBODY`] 0, a claim takes one, too.
    owners: [Vector; ALL_VECTORS],
}

impl Contest {
    /// On the groups `free`, and those in the same vectors; if scores are equal, the first candidate wins.
    fn hold(&mut self, open: &[Bidder], x: &[Row], free: Groups) {
        let mut places = [0; ALL_VECTORS];
        let mut count = 0;
        for vector in 0..ALL_VECTORS {
            places[count] = vector;
            count += usize::from(free.bits() >> (vector * LANES) & ((1 << LANES) - 1) != 0);
        }
        for places in places[..count].chunks(VECTORS) {
            match places.len() {
                4 => self.hold_on::<4>(places, open, x),
                3 => self.hold_on::<3>(places, open, x),
                2 => self.hold_on::<2>(places, open, x),
                _ => self.hold_on::<1>(places, open, x),
            }
        }
    }

    /// `places` has the indices of the `N` vectors.
    fn hold_on<const N: usize>(&mut self, places: &[usize], open: &[Bidder], x: &[Row]) {
        let places: [usize; N] = std::array::from_fn(|at| places[at] % ALL_VECTORS);
        let (mut scores, mut owners) = ([[f32::NEG_INFINITY; LANES]; N], [[NOBODY; LANES]; N]);
        for bidder in open {
            let row = x[bidder.user as usize].as_chunks::<LANES>().0;
            compare(bidder, places.map(|place| row[place]), &mut scores, &mut owners);
        }
        for (at, place) in places.into_iter().enumerate() {
            (self.scores[place], self.owners[place]) = (scores[at], owners[at]);
        }
    }

    #[inline]
    fn winner(&self, group: usize) -> Option<(usize, f32)> {
        let (vector, lane) = (group / LANES, group % LANES);
        let owner = self.owners[vector][lane];
        (owner > NOBODY).then(|| (owner as usize - 1, self.scores[vector][lane]))
    }
}

/// All owners so far precede the candidate in the list, so they keep a group if scores are equal.
#[inline]
fn compare<const N: usize>(
    bidder: &Bidder,
    row: [Vector; N],
    scores: &mut [Vector; N],
    owners: &mut [Vector; N],
) {
    let candidate = (bidder.candidate + 1) as f32;
    for vector in 0..N {
        for lane in 0..LANES {
            let score = bidder.weight.score(row[vector][lane]);
            let highest = scores[vector][lane];
            // The comparison is false for a score that is NaN, so unusable groups are not claimed.
            let claim = if score > highest { candidate } else { NOBODY };
            scores[vector][lane] = if score > highest { score } else { highest };
            let owner = owners[vector][lane];
            owners[vector][lane] = if claim > owner { claim } else { owner };
        }
    }
}

impl Dealer {
    /// Then lists the parts of all candidates that have groups, in the order of candidates.
    pub(super) fn deal_to_highest(&mut self, offers: Offers, room: Room) {
        let Room { groups: mut free, mut grants } = room;
        while !free.is_empty() && !self.open.is_empty() {
            self.contest.hold(&self.open, offers.x, free);
            self.newcomers.clear();
            for group in free {
                if let Some((winner, score)) = self.contest.winner(group) {
                    let held = &mut self.held[winner];
                    if held.groups.is_empty() {
                        self.newcomers.push(winner as u32);
                    }
                    held.best = if score > held.best { score } else { held.best };
                    held.add(group, offers);
                }
            }
            free = self.limit_newcomers(grants);
            grants = grants.saturating_sub(self.newcomers.len());
            free = free.union(self.settle(offers));
        }
        let served = self.held.iter().filter(|held| !held.groups.is_empty());
        self.parts.extend(served.map(|held| Part { user: held.user, groups: held.groups }));
    }

    /// `grants` candidates may still get their first groups: keeps the newcomers of this round with the
    /// highest scores, and then removes all candidates without groups from `open`. Returned are the groups of
    /// the others.
    fn limit_newcomers(&mut self, grants: usize) -> Groups {
        let Self { newcomers, held, open, .. } = self;
        let mut returned = Groups::NONE;
        if newcomers.len() < grants {
            return returned;
        }
        let best = |i: u32| held[i as usize].best;
        newcomers.sort_unstable_by(|a, b| best(*b).total_cmp(&best(*a)).then(a.cmp(b)));
        for last in newcomers.drain(grants..) {
            returned = returned.union(std::mem::take(&mut held[last as usize].groups));
        }
        open.retain(|bidder| !held[bidder.candidate as usize].groups.is_empty());
        returned
    }
}
