//! Division of a TTI's resource blocks among the users.

use nodeb_base::context::Context;

use super::user::Cell;
use super::{Columns, LteMac};
use crate::mac::band::Groups;
use crate::mac::deal::{Offers, Part, Room};
use crate::mac::sched::Candidate;

impl LteMac {
    /// Serves users in TTI `tti`: retransmissions first, then new blocks by the scheduler.
    pub(super) fn serve_users(&mut self, ctx: &mut Context, tti: u64) {
        let mut room = Room { groups: self.band.all(), grants: self.params.users_per_tti.get() as usize };
        self.retransmit(ctx, tti, &mut room);
        if room.grants == 0 || room.groups.is_empty() {
            return;
        }
        self.gather(tti);
        let Self { columns, view, dealer, scheduler, candidates, .. } = self;
        let Columns { rates, qualities, waiting, .. } = columns;
        let x = if view.quality && !view.rate { &*qualities } else { &*rates };
        let parts =
            dealer.deal(tti, scheduler.as_mut(), candidates, Offers { x, rates, waiting }, room).to_vec();
        for Part { user, groups } in parts {
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
            if self.columns.ready[user] > tti {
                continue;
            }
            self.users[user].listen(tti, &self.params);
            let Some(block) = self.users[user].processes.retransmission(tti) else { continue };
            let Some(groups) = self.lowest(block.resource_blocks, room.groups) else { continue };
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
            let has_free = self.columns.ready[user] <= tti && self.users[user].processes.has_free(tti);
            if !has_free || self.sent_in[user] == tti {
                continue;
            }
            self.measure(user, tti);
            let state = &self.users[user];
            let rate = self.columns.whole[user] as u32;
            if state.rlc.sendable() == 0 || rate == 0 {
                continue;
            }
            self.columns.waiting[user] = state.waiting();
            let deadline = if self.view.deadline { state.deadline() } else { 0 };
            self.candidates.push(Candidate { user, rate, quality: state.report.cqi, deadline });
        }
    }

    /// Brings the report of a user up to date for TTI `tti`, and the values computed from it.
    pub(super) fn measure(&mut self, user: usize, tti: u64) {
        let Self { users, columns, params, formats, band, sequence, .. } = self;
        let cell = Cell { params, formats, sequence };
        let state = &mut users[user];
        if !state.measure(tti, &cell) {
            return;
        }
        let mut whole = 0.0;
        for group in band.all() {
            let cqi = state.report.cqis[group];
            let (rate, quality) = if cqi == 0 {
                (f32::NAN, f32::NAN)
            } else {
                (state.bytes_of(cqi, &cell) * band.sizes()[group], f32::from(cqi))
            };
            columns.rates[user][group] = rate;
            columns.qualities[user][group] = quality;
            whole += if cqi == 0 { 0.0 } else { rate };
        }
        columns.whole[user] = whole;
    }
}
