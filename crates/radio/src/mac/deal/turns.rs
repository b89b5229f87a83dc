//! Division of groups by which users get groups in turn, whatever their channels.

use super::{Dealer, Offers, Room};
use crate::mac::band::Groups;

impl Dealer {
    /// Assigns the groups in `room` in turn to the open candidates, in descending order of offsets,
    /// and lists the parts of these users in the order of their first groups. If every candidate has a part,
    /// the list ends with the user who got the last group. The turns of the next TTI begin after this user;
    /// otherwise the same users would get the spare groups of every TTI.
    pub(super) fn deal_in_turn(&mut self, offers: Offers, room: Room) {
        let Room { groups: mut free, grants } = room;
        self.open.sort_unstable_by(|a, b| {
            b.weight.offset.total_cmp(&a.weight.offset).then(a.candidate.cmp(&b.candidate))
        });
        self.newcomers.clear();
        let mut last = None;
        while !free.is_empty() && !self.open.is_empty() {
            last = self.deal_round(offers, free, grants).or(last);
            free = self.settle(offers);
        }
        if self.newcomers.len() == self.held.len()
            && let Some(at) = self.newcomers.iter().position(|candidate| Some(*candidate) == last)
        {
            self.newcomers.rotate_left(at + 1);
        }
        for at in 0..self.newcomers.len() {
            self.list(self.newcomers[at] as usize);
        }
    }

    /// Assigns each group in `free` to the next open candidate in turn that can use it. A candidate
    /// without groups only gets its first group, and becomes a newcomer, while fewer than `grants`
    /// candidates have groups. Groups that no candidate can use are not assigned. Returns the
    /// candidate that got the last group, or `None` if no group was assigned.
    fn deal_round(&mut self, offers: Offers, free: Groups, grants: usize) -> Option<u32> {
        let Self { open, held, newcomers, .. } = self;
        let (mut next, mut last) = (0, None);
        for group in free {
            let may_begin = newcomers.len() < grants;
            let gets = |at: &usize| {
                let bidder = &open[*at];
                let may_get = may_begin || !held[bidder.candidate as usize].groups.is_empty();
                may_get && !offers.x[bidder.user as usize][group].is_nan()
            };
            if let Some(at) = (next..open.len()).chain(0..next).find(gets) {
                let held = &mut held[open[at].candidate as usize];
                if held.groups.is_empty() {
                    newcomers.push(open[at].candidate);
                }
                held.add(group, offers.rates);
                (next, last) = (at + 1, Some(open[at].candidate));
            }
        }
        last
    }
}
