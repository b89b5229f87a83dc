use super::{Dealer, Offers, Room};
use crate::mac::band::{Groups, MAX_GROUPS};

impl Dealer {
    /// In descending order of offsets; who has got the least so far gets the larger part, as otherwise the
    /// same users could get them in every TTI.
    pub(super) fn deal_in_turn(&mut self, offers: Offers, room: Room) {
        let Room { groups: mut free, grants } = room;
        self.open.sort_unstable_by(|a, b| {
            b.weight.offset.total_cmp(&a.weight.offset).then(a.candidate.cmp(&b.candidate))
        });
        self.turns.clear();
        self.turns.extend(self.open.iter().map(|bidder| bidder.candidate));
        // Not more users can be served.
        let served = grants.min(free.len()).min(self.open.len());
        let balance = |user: u32| self.balance.of(user as usize);
        self.open[..served].sort_by(|a, b| balance(a.user).total_cmp(&balance(b.user)));
        self.newcomers.clear();
        while !free.is_empty() && !self.open.is_empty() {
            self.deal_round(offers, free, grants);
            free = self.settle(offers);
        }
        for at in 0..self.turns.len() {
            self.list(self.turns[at] as usize);
        }
        let held = self.open.iter().map(|bidder| &self.held[bidder.candidate as usize]);
        let elements = |groups: Groups| {
            groups.into_iter().map(|group| offers.sizes[group] * offers.yields[group]).sum::<f32>()
        };
        let shares =
            held.filter(|held| !held.groups.is_empty()).map(|held| (held.user, elements(held.groups)));
        self.balance.record(shares, MAX_GROUPS as f32);
    }

    /// A candidate without groups only gets its first one while fewer than `grants` candidates have groups.
    fn deal_round(&mut self, offers: Offers, free: Groups, grants: usize) {
        let Self { open, held, newcomers, .. } = self;
        let mut next = 0;
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
                held.add(group, offers);
                next = at + 1;
            }
        }
    }
}
