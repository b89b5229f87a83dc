use super::{Contender, GroupAllocator, Held, Offers, Room};
use crate::mac::band::Groups;

/// Of a user, in resource blocks beyond even shares.
const LARGEST_BALANCE: f32 = 32.0;

impl GroupAllocator {
    /// Who has got the least so far gets the larger part, as otherwise the same users could get them in every TTI.
    pub(super) fn allocate_in_turn(&mut self, first: usize, offers: Offers, room: Room) {
        let mut free = room.groups;
        self.newcomers.clear();
        self.newcomers.extend(self.holders.all.iter().map(|held| held.contender.candidate));
        let holders = self.newcomers.len();
        let grants = room.grants + holders;
        let before = self.open.partition_point(|contender| (contender.candidate as usize) < first);
        self.open.rotate_left(before);
        // Not more users can be served.
        let open_holders = self.holders.all.iter().filter(|held| held.is_open).count();
        let served = (room.grants + open_holders).min(free.len()).min(self.open.len());
        let balance = |user: u32| self.balance.of(user as usize);
        self.open[..served].sort_by(|a, b| balance(a.user).total_cmp(&balance(b.user)));
        while !free.is_empty() && !self.open.is_empty() {
            self.deal_round(offers, free, grants);
            free = self.return_surplus(offers);
            self.remove_closed();
        }
        // Holders have no turn.
        self.newcomers[holders..]
            .sort_unstable_by_key(|candidate| ((*candidate as usize) < first, *candidate));
        let of_newcomers = self.newcomers.iter().filter_map(|candidate| self.holders.get(*candidate));
        let served = of_newcomers.filter(|held| !held.groups.is_empty());
        self.parts.extend(served.map(Held::part));
        let held = self.open.iter().filter_map(|contender| self.holders.get(contender.candidate));
        let elements = |groups: Groups| {
            groups.into_iter().map(|group| offers.sizes[group] * offers.yields[group]).sum::<f32>()
        };
        let is_dealt = |held: &&Held| {
            !held.groups.is_empty()
                && (holders == 0 || !self.newcomers[..holders].contains(&held.contender.candidate))
        };
        let shares = held.filter(is_dealt).map(|held| (held.user(), elements(held.groups)));
        self.balance.record(shares, LARGEST_BALANCE);
    }

    /// Once `grants` candidates have groups, no other can get any.
    fn deal_round(&mut self, offers: Offers, free: Groups, grants: usize) {
        let Self { open, holders, newcomers, .. } = self;
        let mut next = 0;
        for group in free {
            let usable = |at: &usize| !offers.x[open[*at].user as usize][group].is_nan();
            let Some(at) = (next..open.len()).chain(0..next).find(usable) else { continue };
            let before = holders.get(open[at].candidate).copied();
            let mut held = before.unwrap_or(Held::nothing(open[at]));
            held.add(group, offers);
            let begins = holders.put(held);
            next = at + 1;
            if begins {
                newcomers.push(open[at].candidate);
            }
            if begins && newcomers.len() == grants {
                let holds = |contender: &Contender| holders.has_groups(contender.candidate);
                next = open[..next].iter().filter(|contender| holds(contender)).count();
                open.retain(holds);
            }
        }
    }
}
