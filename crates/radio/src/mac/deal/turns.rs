//! Groups that go to users in turn, whatever the channel.

use super::{Dealer, Offers};
use crate::mac::band::Groups;

impl Dealer {
    /// Deals the groups in `free` in turn to the open candidates with the highest offsets.
    pub(super) fn deal_in_turn(&mut self, offers: Offers, mut free: Groups) {
        self.open.sort_unstable_by(|a, b| {
            b.weight.offset.total_cmp(&a.weight.offset).then(a.candidate.cmp(&b.candidate))
        });
        self.newcomers.clear();
        while !free.is_empty() && !self.open.is_empty() {
            self.deal_round(offers, free);
            free = self.settle(offers);
        }
        for at in 0..self.newcomers.len() {
            self.list(self.newcomers[at] as usize);
        }
    }

    /// Deals groups in turn to the open candidates that can use them, and lists those that had none before as
    /// newcomers, up to the number of grants. Groups that none can use stay free.
    fn deal_round(&mut self, offers: Offers, free: Groups) {
        let Self { open, held, newcomers, grants_per_tti, .. } = self;
        let mut next = 0;
        for group in free {
            let may_begin = newcomers.len() < *grants_per_tti;
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
                next = at + 1;
            }
        }
    }
}
