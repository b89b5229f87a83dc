use nodeb_air::mac::allocation::{GroupAllocator, Offers, Part, Room, Spans};
use nodeb_air::mac::band::Groups;
use nodeb_air::mac::sched::{Candidate, Rule, View};
use nodeb_base::context::Context;
use nodeb_base::units::Time;

use super::user::{Blocks, Cell, HEADERS};
use super::{DownlinkMac, UserCache, UserCaches};
use crate::ofdma::Standard;

impl<S: Standard> DownlinkMac<S> {
    /// Retransmissions first, then new blocks by the scheduler.
    pub(super) fn serve_users(&mut self, ctx: &mut Context, tti: u64) {
        let cache = &mut self.caches.by_user;
        self.ends.pass(tti, |user| cache[user].cancel());
        if self.drx.is_some() {
            (0..self.users.len()).for_each(|user| self.wait_for_listening(user, tti));
        }
        let mut room = Room { groups: self.band.all(), grants: self.users_per_tti };
        self.retransmit(ctx, tti, &mut room);
        if room.grants == 0 || room.groups.is_empty() {
            return;
        }
        self.gather(tti);
        self.parts.clear();
        if self.has_prioritized_rates {
            self.allocate_prioritized(tti, room);
        }
        self.allocate(tti, room);
        let mut spare = self.spare(tti, room.groups);
        for part in 0..self.parts.len() {
            let Part { user, groups } = self.parts[part];
            let Self { users, rules, formats, sequence, sent, .. } = self;
            let cell = Cell { rules, formats, sequence };
            users[user].send_new(tti, groups, &mut spare, &cell, sent);
            self.record(ctx, tti, user);
            self.refresh(ctx, user);
        }
    }

    /// Data within prioritized rates, in order of priority (TS 23.203, 6.1.7.2).
    fn allocate_prioritized(&mut self, tti: u64, room: Room) {
        let (all, now) = (std::mem::take(&mut self.candidates), Time(tti * S::TTI.0));
        let mut claims: Vec<(u8, Candidate, u32)> = Vec::new();
        for candidate in &all {
            let of_user = self.users[candidate.user].bearers.claims(now);
            claims.extend(of_user.map(|(priority, octets)| (priority, *candidate, octets)));
        }
        claims.sort_by_key(|(priority, ..)| *priority);
        let claimed = vec![HEADERS; self.users.len()];
        let waiting = std::mem::replace(&mut self.caches.waiting, claimed);
        for equal in claims.chunk_by(|a, b| a.0 == b.0) {
            self.candidates.clear();
            for (_, candidate, octets) in equal {
                self.candidates.push(*candidate);
                self.caches.waiting[candidate.user] += *octets as f32;
            }
            self.candidates.dedup_by_key(|candidate| candidate.user);
            self.allocate(tti, room);
        }
        (self.candidates, self.caches.waiting) = (all, waiting);
    }

    /// What is left of `room`; users who have groups already need no further grant.
    fn allocate(&mut self, tti: u64, mut room: Room) {
        for part in &self.parts {
            room.groups = room.groups.without(part.groups);
            room.grants -= 1;
        }
        self.allocator.begin(tti, self.scheduler.as_mut(), &self.candidates, room);
        if !self.parts.is_empty() {
            let mut parts = std::mem::take(&mut self.parts);
            self.with_offers(tti, |allocator, offers| allocator.keep(&mut parts, offers));
            self.parts = parts;
        }
        while !self.with_offers(tti, GroupAllocator::proceed) {
            for at in 0..self.allocator.unmeasured().len() {
                self.measure(self.allocator.unmeasured()[at], tti);
            }
        }
        self.parts.extend_from_slice(self.allocator.parts());
    }

    #[inline]
    fn with_offers<R>(&mut self, tti: u64, act: impl FnOnce(&mut GroupAllocator, Offers) -> R) -> R {
        let Self { caches, view, allocator, formats, band, .. } = self;
        let UserCaches { rates, qualities, spans, waiting, .. } = caches;
        let x = if compares_qualities(*view) { &*qualities } else { &*rates };
        let (sizes, yields) = (band.sizes(), formats[0].yields(tti));
        act(allocator, Offers { x, spans, rates, sizes, yields, waiting })
    }

    /// Blocks with fewer resource elements can be smaller than the scheduler assumes, as sizes have steps; so
    /// in TTIs with synchronization signals or PBCH the groups that it left are spare.
    fn spare(&self, tti: u64, free: Groups) -> Groups {
        if self.formats[0].is_regular(tti) {
            return Groups::NONE;
        }
        self.parts.iter().fold(free, |free, part| free.without(part.groups))
    }

    /// On whole groups with at least as many resource blocks as at first; what does not fit remains due. The
    /// user considered first changes from TTI to TTI.
    fn retransmit(&mut self, ctx: &mut Context, tti: u64, room: &mut Room) {
        let first = (tti % self.users.len().max(1) as u64) as usize;
        self.due.clear();
        self.due.extend(self.caches.answering.turn_from(first));
        for at in 0..self.due.len() {
            let (user, UserCaches { by_user, answering, .. }) = (self.due[at], &mut self.caches);
            if by_user[user].answers == u64::MAX {
                answering.remove(user);
            }
            if by_user[user].answers > tti || by_user[user].ready > tti {
                continue;
            }
            let state = &mut self.users[user];
            state.listen(tti);
            self.caches.by_user[user].answers = state.processes.attention_at();
            let Some(resource_blocks) = state.processes.retransmission(tti).map(Blocks::resource_blocks)
            else {
                continue;
            };
            let Some(groups) = self.lowest(resource_blocks, room.groups) else { continue };
            if room.grants == 0 {
                continue;
            }
            room.grants -= 1;
            room.groups = room.groups.without(groups);
            if self.layers > 1 {
                self.measure(user, tti);
            } else if !self.caches.spans[user].is_measured() {
                self.measure(user, self.caches.by_user[user].valid_until - 1);
            }
            let Self { users, rules, formats, sequence, sent, .. } = self;
            let cell = Cell { rules, formats, sequence };
            users[user].send_again(tti, groups, &cell, sent);
            self.record(ctx, tti, user);
            self.refresh(ctx, user);
            // The user gets no further grant in this TTI.
            let cache = &mut self.caches.by_user[user];
            cache.fresh = cache.fresh.max(tti + 1);
        }
    }

    /// With at least `blocks` resource blocks together.
    fn lowest(&self, blocks: u16, free: Groups) -> Option<Groups> {
        let band = &self.band;
        let mut groups = Groups::NONE;
        for group in free {
            if band.blocks_in(groups) >= blocks {
                break;
            }
            groups.insert(group);
        }
        (band.blocks_in(groups) >= blocks).then_some(groups)
    }

    fn gather(&mut self, tti: u64) {
        let compares_ratios = matches!(self.scheduler.rule(tti), Rule::Ratio(_));
        let is_expired = |cache: &UserCache| cache.fresh <= tti && cache.valid_until <= tti;
        let mut user = 0;
        while let Some(others) = self.caches.by_user[user..].iter().position(is_expired) {
            user += others;
            if !(compares_ratios && self.expect(user, tti)) {
                self.measure(user, tti);
            }
            user += 1;
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for (user, cache) in self.caches.by_user.iter().enumerate() {
            if cache.fresh <= tti && cache.rate > 0 {
                let deadline = if self.view.deadline { self.users[user].bearers.deadline() } else { 0 };
                candidates.push(Candidate { user, rate: cache.rate, quality: cache.cqi, deadline });
            }
        }
        if !candidates.iter().any(|candidate| self.caches.spans[candidate.user].is_measured()) {
            candidates.retain(|candidate| {
                self.measure(candidate.user, tti);
                self.caches.by_user[candidate.user].rate > 0
            });
        }
        self.candidates = candidates;
    }

    /// Replaces the report by upper bounds, as most users of a large cell cannot get a group with them; false if
    /// they take as long as the report.
    fn expect(&mut self, user: usize, tti: u64) -> bool {
        let Self { users, caches, rules, formats, band, sequence, .. } = self;
        let state = &mut users[user];
        let Some(snr) = state.report.peak(tti, &mut state.channel, sequence) else { return false };
        let cell = Cell { rules, formats, sequence };
        let cqi = state.cqi_at(snr, &cell);
        // The number of bytes at CQI 0 is NaN.
        let bytes = state.block_bytes(&cell)[usize::from(cqi)].max(0.0);
        let cache = &mut caches.by_user[user];
        cache.valid_until = state.report.validity(tti).end;
        (cache.rate, cache.cqi) = ((bytes * f32::from(band.blocks())) as u32, f32::from(cqi));
        caches.spans[user] = Spans::up_to(bytes * band.sizes()[0]);
        true
    }

    pub(super) fn measure(&mut self, user: usize, tti: u64) {
        let Self { users, caches, rules, formats, band, sequence, view, .. } = self;
        let cell = Cell { rules, formats, sequence };
        let state = &mut users[user];
        let cache = &mut caches.by_user[user];
        cache.valid_until = state.report.validity(tti).end;
        if !state.measure(tti, &cell) {
            return;
        }
        let (bytes, groups, cqis) = (state.block_bytes(&cell), band.groups(), &state.report.cqis);
        let (rates, layers) = (&mut caches.rates[user], f32::from(state.report.layers));
        let of_block = bytes.map(|bytes| layers * bytes);
        for ((rate, cqi), size) in rates.iter_mut().zip(cqis).zip(band.sizes()) {
            *rate = of_block[usize::from(*cqi) % of_block.len()] * size;
        }
        if let Some(bits) = state.recorded_bits(tti) {
            let bytes = if bits > 0 { bits as f32 / 8.0 } else { f32::NAN };
            let blocks = f32::from(band.blocks_in(band.all()));
            rates[..groups]
                .iter_mut()
                .zip(band.sizes())
                .for_each(|(rate, size)| *rate = bytes * size / blocks);
        }
        // The rate of CQI 0 is NaN and does not count; beyond the last group there are no resource blocks.
        let mut whole = 0.0;
        for rate in rates.iter() {
            whole += if *rate > 0.0 { *rate } else { 0.0 };
        }
        // Else they would widen the span of the last group.
        let of_last = rates[groups - 1];
        rates[groups..].fill(of_last);
        (cache.rate, cache.cqi) = (whole as u32, state.report.cqi);
        caches.spans[user] = if compares_qualities(*view) {
            let quality = |cqi: u8| if cqi == 0 { f32::NAN } else { f32::from(cqi) };
            caches.qualities[user] = cqis.map(quality);
            Spans::of(&caches.qualities[user])
        } else {
            Spans::of(rates)
        };
    }
}

fn compares_qualities(view: View) -> bool {
    view.quality && !view.rate
}
