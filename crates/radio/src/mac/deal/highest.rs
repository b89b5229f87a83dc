//! Groups that go to the user with the highest score.

use super::{Bidder, Dealer, Offers};
use crate::mac::band::{Groups, MAX_GROUPS, Row};

/// Number of groups in a vector.
const LANES: usize = 4;

/// Values of some groups.
type Vector = [f32; LANES];

/// Number of vectors that are compared at once, so that none waits for the result of another.
const VECTORS: usize = 4;

/// Owner of a group on which no candidate can be served.
const NOBODY: f32 = -1.0;

/// Highest scores of a comparison of all open candidates, and their owners.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    /// Highest score on each group.
    scores: [Vector; MAX_GROUPS / LANES],
    /// Index of the candidate with this score, or [`NOBODY`]; a number like the scores, as a maximum takes one
    /// instruction and a selection three.
    owners: [Vector; MAX_GROUPS / LANES],
    /// Number of vectors in use.
    vectors: usize,
}

impl Contest {
    /// Creates a contest for a number of groups.
    pub(super) fn new(groups: usize) -> Self {
        let (scores, owners) = Default::default();
        Self { scores, owners, vectors: groups.div_ceil(LANES) }
    }

    /// Compares candidates, which are in order, on all groups; of equal scores the first one counts.
    fn hold(&mut self, open: &[Bidder], x: &[Row]) {
        for first in (0..self.vectors).step_by(VECTORS) {
            let (mut scores, mut owners) =
                ([[f32::NEG_INFINITY; LANES]; VECTORS], [[NOBODY; LANES]; VECTORS]);
            for bidder in open {
                let row = &x[bidder.user as usize].as_chunks::<LANES>().0[first..][..VECTORS];
                compare(bidder, row, &mut scores, &mut owners);
            }
            self.scores[first..][..VECTORS].copy_from_slice(&scores);
            self.owners[first..][..VECTORS].copy_from_slice(&owners);
        }
    }

    /// Returns the candidate with the highest score on a group, if there is one, and the score.
    fn winner(&self, group: usize) -> Option<(usize, f32)> {
        let (vector, lane) = (group / LANES, group % LANES);
        let owner = self.owners[vector][lane];
        (owner >= 0.0).then_some((owner as usize, self.scores[vector][lane]))
    }
}

/// Compares a candidate with the owners of some groups, all of which precede it.
#[inline]
fn compare(bidder: &Bidder, row: &[Vector], scores: &mut [Vector; VECTORS], owners: &mut [Vector; VECTORS]) {
    let candidate = bidder.candidate as f32;
    for vector in 0..VECTORS {
        for lane in 0..LANES {
            let score = bidder.weight.score(row[vector][lane]);
            let highest = scores[vector][lane];
            // A score that is no number is not higher.
            let claim = if score > highest { candidate } else { NOBODY };
            scores[vector][lane] = if score > highest { score } else { highest };
            let owner = owners[vector][lane];
            owners[vector][lane] = if claim > owner { claim } else { owner };
        }
    }
}

impl Dealer {
    /// Deals the groups in `free`, each to the open candidate with the highest score.
    pub(super) fn deal_to_highest(&mut self, offers: Offers, mut free: Groups) {
        let mut grants = self.grants_per_tti;
        while !free.is_empty() && !self.open.is_empty() {
            self.contest.hold(&self.open, offers.x);
            self.newcomers.clear();
            for group in free {
                if let Some((winner, score)) = self.contest.winner(group) {
                    let held = &mut self.held[winner];
                    if held.groups.is_empty() {
                        self.newcomers.push(winner as u32);
                    }
                    held.best = if score > held.best { score } else { held.best };
                    held.add(group, offers.rates);
                }
            }
            free = self.limit_newcomers(grants);
            grants = grants.saturating_sub(self.newcomers.len());
            free = free.union(self.settle(offers));
        }
        for candidate in 0..self.held.len() {
            self.list(candidate);
        }
    }

    /// If the newcomers of this round use up all `grants`, closes all candidates without groups and the
    /// newcomers with the lowest scores beyond the grants. Returns the groups of the latter.
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
