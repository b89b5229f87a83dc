use nodeb_air::mac::band::Run;
use nodeb_air::mac::sched::{AllocationRule, Candidate, Weight};
use nodeb_base::context::Context;

use super::super::configured::ConfiguredGrant;
use super::super::runs::BlockSet;
use super::super::shares::EvenShares;
use super::super::ue_context::Sounding;
use super::{Planned, UplinkMac, Work, listen, process};
use crate::ofdma::standard::{Format, Standard};
use crate::ofdma::uplink::runs::smallest_uplink_grant;

impl<S: Standard> UplinkMac<S> {
    fn configured_at(&self, at: u64) -> BlockSet {
        let all = self.contexts.iter().filter_map(|context| context.configured.as_ref());
        let due = all.filter(|grant| grant.recurs(at));
        due.fold(BlockSet::NONE, |blocks, grant| blocks.with(grant.run))
    }

    // Clause: TS 36.321, 5.4.1, 5.10.2: configured grants and retransmissions
    // Simplified: a block of a configured grant for which retransmissions leave no resource blocks is left out
    /// Four TTIs after `tti`; grants of phones no longer connected end. If others use the grant's
    /// resource blocks there, as many others are granted instead, or the block is left out; a phone that
    /// retransmits sends no other block.
    pub(super) fn grant_configured(&mut self, tti: u64) {
        let at = tti + S::UP_BLOCK_AFTER_GRANT;
        for user in 0..self.contexts.len() {
            let (ue, context) = (&mut self.ues[user], &mut self.contexts[user]);
            let is_idle = self.connections.as_ref().is_some_and(|all| !all.is_connected(user, tti));
            if is_idle && context.configured.take().is_some() {
                ue.requests.unmask(tti);
            }
            let is_due = |grant: &&ConfiguredGrant| grant.recurs(at) && at < ue.ends();
            let Some(grant) = context.configured.as_ref().filter(is_due) else { continue };
            let planned = &self.planned[process::<S>(at)];
            if planned.iter().any(|other| other.user == user) {
                continue;
            }
            let free = planned.iter().fold(self.data, |free, other| free.without(other.run));
            let (own, format) = (grant.run, grant.format);
            let run = if free.contains(own) { Some(own) } else { free.find(own.blocks) };
            if let Some(run) = run.filter(|run| run.blocks == own.blocks) {
                context.grant::<S>(at, format.bits / 8);
                self.planned[process::<S>(at)].push(Planned { user, run, work: Work::Configured(format) });
            }
        }
    }

    /// Only for a requested block with room for the requested data; configured grants take at most half of a
    /// TTI's resource blocks.
    fn configure(&mut self, at: u64, user: usize, run: Run, format: Format) {
        let Some(configured) = &self.rules.configured else { return };
        let taken = self.configured_at(at);
        let context = &mut self.contexts[user];
        let fits = format.bits / 8 >= context.needed_octets::<S>()
            && 2 * (taken.len() + run.blocks) <= self.data.len()
            && taken.without(run) == taken;
        if fits && context.is_requested && context.configured.is_none() {
            context.configure(ConfiguredGrant::new(configured, at, run, format));
        }
    }

    // Clause: TS 36.321, 5.4.1: grants
    // Simplified: grants are received without errors
    /// Four TTIs after `tti`. Grants ahead of data get what the grants for data leave, and the scheduler
    /// does not learn of them, as their blocks may have only padding.
    pub(super) fn grant(&mut self, ctx: &mut Context, tti: u64) {
        let at = tti + S::UP_BLOCK_AFTER_GRANT;
        let planned = &self.planned[process::<S>(at)];
        let free = planned.iter().fold(self.data, |free, other| free.without(other.run));
        let is_busy = |user: usize| planned.iter().any(|other| other.user == user);
        let listens = |user: usize| self.drx.as_ref().is_none_or(|all| all.listens(user, tti));
        let waits = |user: &usize| {
            let has_data = self.contexts[*user].estimated_buffer() > 0;
            has_data && at < self.ues[*user].ends() && !is_busy(*user) && listens(*user)
        };
        let earlier = planned.len();
        let (ahead, reported): (Vec<usize>, Vec<usize>) =
            (0..self.contexts.len()).filter(waits).partition(|user| self.contexts[*user].is_ahead);
        let mut room = Room { free, grants: self.rules.users_per_tti };
        self.grant_by_scheduler(tti, reported, &mut room);
        self.grant_ahead(tti, ahead, &mut room);
        for granted in &self.planned[process::<S>(at)][earlier..] {
            listen(self.drx.as_ref(), ctx, granted.user, |listening| listening.granted(tti));
        }
    }

    fn grant_by_scheduler(&mut self, tti: u64, users: Vec<usize>, room: &mut Room) {
        if users.is_empty() || room.is_used_up() {
            return;
        }
        let at = tti + S::UP_BLOCK_AFTER_GRANT;
        let mut bids: Vec<Bid> = users.into_iter().filter_map(|user| self.bid(at, user)).collect();
        let rule = self.order(tti, &mut bids);
        let reserved = self.reserve(at, &mut bids, room);
        match rule {
            AllocationRule::EachToHighest => self.serve_highest(at, &mut bids, reserved, room),
            AllocationRule::InTurnFrom(_) => self.share_evenly(at, &mut bids, reserved, room),
        }
        for bid in bids.iter().filter(|bid| bid.octets > 0) {
            self.scheduler.served(tti, bid.candidate.user, bid.octets);
        }
    }

    /// Resource blocks for data within prioritized rates, in order of priority (TS 23.203, 6.1.7.2).
    fn reserve(&mut self, at: u64, bids: &mut [Bid], room: &Room) -> Reserved {
        let mut claims: Vec<(u8, usize, u32)> = Vec::new();
        for (place, bid) in bids.iter().enumerate() {
            let of_phone = self.contexts[bid.candidate.user].claims::<S>(at);
            claims.extend(of_phone.map(|(priority, octets)| (priority, place, octets)));
        }
        claims.sort_by_key(|(priority, ..)| *priority);
        let mut reserved = Reserved { blocks: 0, grants: 0 };
        for (_, place, octets) in claims {
            let bid = &mut bids[place];
            reserved.remove(bid);
            let free = room.free.len() - reserved.blocks;
            bid.claimed += octets;
            let blocks = ((bid.claimed + bid.overhead) as f32 / bid.octets_per_block).ceil() as u16;
            let blocks = smallest_uplink_grant(blocks.min(bid.needed)).min(free);
            bid.reserved = if blocks >= bid.least && reserved.grants < room.grants { blocks } else { 0 };
            reserved.add(bid);
        }
        reserved
    }

    /// Each gets what it needs of what is not reserved for the others.
    fn serve_highest(&mut self, at: u64, bids: &mut [Bid], mut reserved: Reserved, room: &mut Room) {
        for bid in bids {
            reserved.remove(bid);
            let most = room.free.len().saturating_sub(reserved.blocks);
            if room.grants > reserved.grants && most >= bid.least {
                self.serve_bid(at, bid, most, room);
            }
        }
    }

    /// Phones with reserved resource blocks come first. Of the phones whose turn it is, the one that has got the least
    /// so far comes first, so that shares are equal in the long run.
    fn share_evenly(&mut self, at: u64, bids: &mut [Bid], mut reserved: Reserved, room: &mut Room) {
        bids.sort_by_key(|bid| bid.reserved == 0);
        let mut left = room.free.len();
        let fits = |bid: &&Bid| {
            let is_left = bid.least <= left;
            left = left.saturating_sub(bid.least);
            is_left
        };
        let turns = bids.iter().take(room.grants as usize).take_while(fits).count();
        let mut order: Vec<usize> = (0..bids.len()).collect();
        let balance = |at: &usize| self.balance.of(bids[*at].candidate.user);
        let is_plain = |at: &usize| bids[*at].reserved == 0;
        order[..turns].sort_by(|a, b| is_plain(a).cmp(&is_plain(b)).then(balance(a).total_cmp(&balance(b))));
        let mut shares = EvenShares::new(bids[..turns].iter().map(|bid| bid.needed), room.free.len());
        for place in order {
            let bid = &mut bids[place];
            reserved.remove(bid);
            let left = room.free.len().saturating_sub(reserved.blocks);
            self.serve_bid(at, bid, shares.most(bid.needed).max(bid.reserved).min(left), room);
            shares.take(bid.needed, bid.blocks);
        }
        let limited = bids[..turns].iter().filter(|bid| shares.limits(bid.needed));
        self.balance.record(
            limited.map(|bid| (bid.candidate.user, f32::from(bid.blocks))),
            f32::from(self.data.len()),
        );
    }

    /// On at most `most` resource blocks if they have room for data.
    fn serve_bid(&mut self, at: u64, bid: &mut Bid, most: u16, room: &mut Room) {
        if room.is_used_up() {
            return;
        }
        let Some((run, format)) = self.allot(bid, room.free, most) else { return };
        room.take(run);
        let (user, octets) = (bid.candidate.user, format.bits / 8);
        (bid.octets, bid.blocks) = (octets, run.blocks);
        self.configure(at, user, run, format);
        self.contexts[user].grant::<S>(at, octets);
        self.planned[process::<S>(at)].push(Planned { user, run, work: Work::New(format) });
    }

    /// First to the phones for which they have been due the longest.
    fn grant_ahead(&mut self, tti: u64, mut users: Vec<usize>, room: &mut Room) {
        let at = tti + S::UP_BLOCK_AFTER_GRANT;
        users.sort_by_key(|user| self.contexts[*user].estimate_since);
        for user in users {
            if room.is_used_up() {
                break;
            }
            if let Some(mut bid) = self.bid(at, user) {
                self.serve_bid(at, &mut bid, room.free.len(), room);
            }
        }
    }

    /// As many resource blocks as the data need, at most `most` and within the power, but more if the block
    /// had no room for data beside its headers.
    fn allot(&self, bid: &Bid, free: BlockSet, most: u16) -> Option<(Run, Format)> {
        let context = &self.contexts[bid.candidate.user];
        let (needed, most) = (context.needed_octets::<S>(), most.min(bid.sounding.blocks));
        let (mut best, mut next) = (None, free.find(bid.needed.min(most).max(1)));
        while let Some(run) = next {
            let Some(format) = context.select(run, &bid.sounding.row, &self.formats) else { break };
            let (octets, longer) = (format.bits / 8, smallest_uplink_grant(run.blocks + 1));
            if octets > bid.overhead {
                best = Some((run, format));
                if octets >= needed || longer > most {
                    break;
                }
            }
            next = free.find(longer).filter(|next| next.blocks > run.blocks);
        }
        best
    }

    /// The rate is the size of a block on the lowest resource blocks, as many as the phone's power allows;
    /// `None` if even the smallest is too large for the category.
    fn bid(&mut self, at: u64, user: usize) -> Option<Bid> {
        let Self { ues, contexts, formats, sequence, data, .. } = self;
        let context = &contexts[user];
        let received = ues[user].received(at - S::UP_BLOCK_AFTER_GRANT, S::LEAST_BLOCKS, sequence);
        let sounding = context.sounding::<S>(received);
        let all = data.find(sounding.blocks)?;
        let rate = context.select(all, &sounding.row, formats)?.bits / 8;
        let (groups, sizes) = formats[0].band().groups_of(all);
        let sum: f32 = groups.into_iter().map(|group| sounding.row[group] * sizes[group]).sum();
        let quality = 10.0 * libm::log10f(sum / f32::from(all.blocks));
        let deadline = context.deadline();
        let candidate = Candidate { user, rate, quality, deadline };
        let octets_per_block = rate as f32 / f32::from(all.blocks);
        let needed = (context.needed_octets::<S>() as f32 / octets_per_block).ceil() as u16;
        let needed = smallest_uplink_grant(needed.min(all.blocks));
        let overhead = context.overhead::<S>();
        let least = ((overhead + 1) as f32 / octets_per_block).ceil() as u16;
        Some(Bid {
            candidate,
            sounding,
            octets_per_block,
            overhead,
            needed,
            least,
            claimed: 0,
            reserved: 0,
            score: 0.0,
            octets: 0,
            blocks: 0,
        })
    }

    fn order(&mut self, tti: u64, bids: &mut [Bid]) -> AllocationRule {
        let candidates: Vec<Candidate> = bids.iter().map(|bid| bid.candidate).collect();
        if candidates.is_empty() {
            return AllocationRule::EachToHighest;
        }
        let mut weights = vec![Weight::default(); candidates.len()];
        let rule = self.scheduler.weigh(tti, &candidates, &mut weights);
        if let AllocationRule::InTurnFrom(first) = rule {
            bids.rotate_left(first);
            return rule;
        }
        let view = self.scheduler.view();
        let uses_quality = view.quality && !view.rate;
        for (bid, weight) in bids.iter_mut().zip(weights) {
            let Candidate { rate, quality, .. } = bid.candidate;
            bid.score = weight.score(if uses_quality { quality } else { rate as f32 });
        }
        bids.sort_by(|a, b| b.score.total_cmp(&a.score));
        rule
    }
}

#[derive(Clone, Copy, Debug)]
struct Room {
    free: BlockSet,
    /// Phones that may still be granted a new block.
    grants: u32,
}

impl Room {
    fn is_used_up(&self) -> bool {
        self.grants == 0 || self.free.is_empty()
    }

    fn take(&mut self, run: Run) {
        self.free = self.free.without(run);
        self.grants -= 1;
    }
}

/// For bids that are not served yet.
#[derive(Debug)]
struct Reserved {
    blocks: u16,
    grants: u32,
}

impl Reserved {
    fn add(&mut self, bid: &Bid) {
        self.blocks += bid.reserved;
        self.grants += u32::from(bid.reserved > 0);
    }

    fn remove(&mut self, bid: &Bid) {
        self.blocks -= bid.reserved;
        self.grants -= u32::from(bid.reserved > 0);
    }
}

#[derive(Debug)]
struct Bid {
    candidate: Candidate,
    sounding: Sounding,
    octets_per_block: f32,
    /// Octets of a block that are not for data.
    overhead: u32,
    /// As far as the phone's power allows.
    needed: u16,
    /// For a block with room for data.
    least: u16,
    /// Octets within prioritized rates.
    claimed: u32,
    /// Resource blocks for them.
    reserved: u16,
    /// The highest one is served first.
    score: f32,
    /// 0 if none are granted.
    octets: u32,
    /// 0 if none are granted.
    blocks: u16,
}
