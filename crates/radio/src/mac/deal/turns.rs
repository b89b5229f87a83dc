use super::{Bidder, Dealer, Offers, Room};
use crate::mac::band::{Groups, MAX_GROUPS};

impl Dealer {
    /// Who has got the least so far gets the larger part, as otherwise the same users could get them in every TTI.
    pub(super) fn deal_in_turn(&mut self, first: usize, offers: Offers, room: Room) {
        let Room { groups: mut free, grants } = room;
        let before = self.open.partition_point(|bidder| (bidder.candidate as usize) < first);
        self.open.rotate_left(before);
        // Not more users can be served.
        let served = grants.min(free.len()).min(self.open.len());
        let balance = |user: u32| self.balance.of(user as usize);
        self.open[..served].sort_by(|a, b| balance(a.user).total_cmp(&balance(b.user)));
        self.newcomers.clear();
        while !free.is_empty() && !self.open.is_empty() {
            self.deal_round(offers, free, grants);
            free = self.settle(offers);
        }
        self.newcomers.sort_unstable_by_key(|candidate| ((*candidate as usize) < first, *candidate));
        for at in 0..self.newcomers.len() {
            self.list(self.newcomers[at] as usize);
        }
        let held = self.open.iter().map(|bidder| &self.held[bidder.candidate as usize]);
        let elements = |groups: Groups| {
            groups.into_iter().map(|group| offers.sizes[group] * offers.yields[group]).sum::<f32>()
        };
        let shares =
            held.filter(|held| !held.groups.is_empty()).map(|held| (held.user, elements(held.groups)));
        self.balance.record(shares, MAX_GROUPS as f32);
    }

    /// Once `grants` candidates have groups, no other can get any.
    fn deal_round(&mut self, offers: Offers, free: Groups, grants: usize) {
        let Self { open, held, newcomers, .. } = self;
        let mut next = 0;
        for group in free {
            let usable = |at: &usize| !offers.x[open[*at].user as usize][group].is_nan();
            let Some(at) = (next..open.len()).chain(0..next).find(usable) else { continue };
            let candidate = open[at].candidate;
            let begins = held[candidate as usize].groups.is_empty();
            held[candidate as usize].add(group, offers);
            next = at + 1;
            if begins {
                newcomers.push(candidate);
            }
            if begins && newcomers.len() == grants {
                let holds = |bidder: &Bidder| !held[bidder.candidate as usize].groups.is_empty();
                next = open[..next].iter().filter(|bidder| holds(bidder)).count();
                open.retain(holds);
            }
        }
    }
}
