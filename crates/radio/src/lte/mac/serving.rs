//! Division of a TTI's resource blocks among the users.

use nodeb_base::context::Context;

use super::user::{Cell, HEADERS};
use super::{Columns, LteMac};
use crate::mac::band::Groups;
use crate::mac::deal::{Offers, Part, Room};
use crate::mac::sched::{Candidate, View};

impl LteMac {
    /// Serves users in TTI `tti`: retransmissions first, then new blocks by the scheduler.
    pub(super) fn serve_users(&mut self, ctx: &mut Context, tti: u64) {
        let mut room = Room { groups: self.band.all(), grants: self.params.users_per_tti.get() as usize };
        self.retransmit(ctx, tti, &mut room);
        if room.grants == 0 || room.groups.is_empty() {
            return;
        }
        self.gather(tti);
        let Self { columns, view, dealer, scheduler, candidates, parts, .. } = self;
        let Columns { rates, qualities, waiting, .. } = columns;
        let x = if compares_qualities(*view) { &*qualities } else { &*rates };
        parts.clear();
        parts.extend_from_slice(dealer.deal(
            tti,
            scheduler.as_mut(),
            candidates,
            Offers { x, rates, waiting },
            room,
        ));
        for part in 0..self.parts.len() {
            let Part { user, groups } = self.parts[part];
            let Self { users, params, formats, sequence, .. } = self;
            let cell = Cell { params, formats, sequence };
            if let Some(sent) = users[user].send_new(tti, groups, &cell) {
                let bytes = self.record(ctx, user, sent);
                self.scheduler.served(tti, user, bytes);
            }
            self.refresh(ctx, user);
        }
    }

    /// Retransmits the blocks that are due in TTI `tti`, each on as many resource blocks as its first
    /// transmission had, and takes these from `room`. The user at which the search begins changes with the TTI.
    fn retransmit(&mut self, ctx: &mut Context, tti: u64, room: &mut Room) {
        let count = self.users.len();
        let first = (tti % count.max(1) as u64) as usize;
        for user in (first..count).chain(0..first) {
            if self.columns.ready[user] > tti || self.columns.answers[user] > tti {
                continue;
            }
            let state = &mut self.users[user];
            state.listen(tti, &self.params);
            self.columns.answers[user] = state.processes.attention_at();
            let Some(resource_blocks) =
                state.processes.retransmission(tti).map(|block| block.resource_blocks)
            else {
                continue;
            };
            let Some(groups) = self.lowest(resource_blocks, room.groups) else { continue };
            if room.grants == 0 {
                continue;
            }
            room.grants -= 1;
            room.groups = room.groups.without(groups);
            let Self { users, params, formats, sequence, .. } = self;
            let cell = Cell { params, formats, sequence };
            if let Some(sent) = users[user].send_again(tti, groups, &cell) {
                let bytes = self.record(ctx, user, sent);
                self.scheduler.served(tti, user, bytes);
            }
            self.refresh(ctx, user);
            self.sent_in[user] = tti;
        }
    }

    /// Returns the lowest groups of `free` that have at least `blocks` resource blocks together, or `None` if
    /// there are too few.
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

    /// Lists the users that can be sent a new block in TTI `tti`, with the properties that the scheduler needs.
    fn gather(&mut self, tti: u64) {
        self.candidates.clear();
        for user in 0..self.users.len() {
            let has_free = self.columns.ready[user] <= tti && self.columns.free[user] <= tti;
            if !has_free || self.sent_in[user] == tti {
                continue;
            }
            if !self.columns.valid[user].contains(&tti) {
                self.measure(user, tti);
            }
            let rate = self.columns.whole[user] as u32;
            if self.columns.waiting[user] <= HEADERS || rate == 0 {
                continue;
            }
            let deadline = if self.view.deadline { self.users[user].deadline() } else { 0 };
            self.candidates.push(Candidate { user, rate, quality: self.columns.cqi[user], deadline });
        }
    }

    /// Brings the report of a user up to date for TTI `tti`, and the values computed from it.
    pub(super) fn measure(&mut self, user: usize, tti: u64) {
        let Self { users, columns, params, formats, band, sequence, view, .. } = self;
        let cell = Cell { params, formats, sequence };
        let state = &mut users[user];
        columns.valid[user] = state.report.validity(tti);
        if !state.measure(tti, &cell) {
            return;
        }
        let (mut whole, bytes) = (0.0, state.block_bytes(&cell));
        let (rates, cqis) = (&mut columns.rates[user], &state.report.cqis);
        for ((rate, cqi), size) in rates.iter_mut().zip(cqis).zip(band.sizes()).take(band.groups()) {
            *rate = bytes[usize::from(*cqi) % bytes.len()] * size;
            whole += if rate.is_nan() { 0.0 } else { *rate };
        }
        if compares_qualities(*view) {
            let quality = |cqi: u8| if cqi == 0 { f32::NAN } else { f32::from(cqi) };
            columns.qualities[user] = cqis.map(quality);
        }
        columns.whole[user] = whole;
        columns.cqi[user] = state.report.cqi;
    }
}

/// Returns true if a scheduler with this view compares the channel qualities of users instead of their rates.
fn compares_qualities(view: View) -> bool {
    view.quality && !view.rate
}
