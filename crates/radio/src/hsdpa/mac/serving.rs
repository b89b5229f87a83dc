//! Who is served in a TTI, and what those who are measured could have been sent.

use super::super::node_b::NodeB;
use super::super::node_b::slot::Slot;
use super::super::node_b::user::User;
use super::HsdpaMac;
use crate::context::Context;
use crate::mac::sched::Candidate;

impl HsdpaMac {
    /// Every cell serves users of its own in TTI number `tti`.
    pub(super) fn serve_cells(&mut self, ctx: &mut Context, tti: u64) {
        if !self.meters.is_empty() {
            // First what is past, because a channel is looked at in order of time.
            self.pass_idle(tti);
        }
        for cell in 0..self.schedulers.len() {
            self.serve_cell(ctx, tti, cell);
        }
    }

    fn serve_cell(&mut self, ctx: &mut Context, tti: u64, cell: usize) {
        self.candidates.clear();
        if self.node_b.params.users_per_tti.get() > 1 || !self.meters.is_empty() {
            self.gather_grants(tti, cell);
            self.meter(tti, cell);
            self.serve_sharers(ctx, tti, cell);
        } else {
            if !self.gather_contenders(tti, cell) {
                self.gather(tti, cell);
            }
            self.serve_one(ctx, tti, cell);
        }
    }

    /// Serves several users, the scheduler's first choice first.
    fn serve_sharers(&mut self, ctx: &mut Context, tti: u64, cell: usize) {
        let Self { node_b: NodeB { users, params, .. }, schedulers, candidates, .. } = self;
        let most = params.users_per_tti.get();
        let chosen = candidates.choose(
            tti,
            schedulers[cell].as_mut(),
            params.codes.get(),
            most,
            |user, grant, limits| users[user].limit(grant, limits),
        );
        for &(user, grant) in &chosen {
            let sent = self.send(ctx, tti, user, grant, chosen.len() as u32);
            self.schedulers[cell].served(tti, user, sent);
        }
    }

    /// Serves the scheduler's first choice who can be sent something.
    fn serve_one(&mut self, ctx: &mut Context, tti: u64, cell: usize) {
        let limits = self.node_b.limits();
        while !self.candidates.is_empty() {
            let at = self.schedulers[cell].pick(tti, &self.candidates.list);
            let user = self.candidates.list[at].user;
            if let Some(grant) = self.node_b.users[user].grant(tti, limits, &self.node_b.sequence) {
                let sent = self.send(ctx, tti, user, grant, 1);
                self.schedulers[cell].served(tti, user, sent);
                self.served_last[cell] = user;
                break;
            }
            self.candidates.list.remove(at);
        }
    }

    /// Lists who can be sent something, and what.
    fn gather_grants(&mut self, tti: u64, cell: usize) {
        let limits = self.node_b.limits();
        let Self { node_b: NodeB { users, slots, sequence, .. }, candidates, view, .. } = self;
        slots.waiting(cell, tti, |user, _, _| {
            let state = &mut users[user];
            state.listen(tti);
            if let Some(grant) = state.grant(tti, limits, sequence) {
                candidates.push(state.candidate(user, grant.units, grant.quality, *view), grant);
            }
        });
    }

    /// Lists who has something to send, as far as the scheduler looks at it; if it looks at rates, only
    /// those whom the channel lets have something.
    fn gather(&mut self, tti: u64, cell: usize) {
        let limits = self.node_b.limits();
        let Self { node_b: NodeB { users, slots, sequence, .. }, candidates, view, learns, .. } = self;
        let (view, candidates) = (*view, &mut candidates.list);
        candidates.reserve(users.len());
        slots.waiting(cell, tti, |user, slot, _| {
            let (rate, quality) = if !view.rate && !view.quality {
                if *learns {
                    users[user].listen(tti);
                }
                (0, 0.0)
            } else if let Some(known) = slot.recall(tti) {
                known
            } else {
                users[user].look(tti, limits, sequence, view.rate, slot)
            };
            #[cfg(test)]
            users[user].assert_remembered(tti, limits, sequence, view, (rate, quality));
            if rate > 0 || !view.rate {
                let deadline = if view.deadline { users[user].deadline() } else { 0 };
                candidates.push(Candidate { user, rate, quality, deadline });
            }
        });
    }

    /// Lists who may have the highest rate over the mean, where that is how the scheduler chooses. Most users
    /// would not even with the most that their channels may allow for a while, so nobody looks at these.
    fn gather_contenders(&mut self, tti: u64, cell: usize) -> bool {
        let limits = self.node_b.limits();
        let Self { node_b: NodeB { users, slots, sequence, .. }, schedulers, candidates, .. } = self;
        let Some(means) = schedulers[cell].mean_rates(tti) else {
            return false;
        };
        let ratio = |user: usize, units: u32| f64::from(units) / means[user];
        let look = |users: &mut [User], user: usize, slot: &mut Slot| {
            slot.recall(tti).unwrap_or_else(|| users[user].look(tti, limits, sequence, true, slot))
        };
        // Who was served last is mostly far ahead still.
        let last = self.served_last[cell];
        let slot = slots.if_waiting(cell, tti, last);
        let mut highest = slot.map_or(0.0, |slot| ratio(last, look(users, last, slot).0));
        slots.waiting(cell, tti, |user, slot, ceiling| {
            if ceiling.until <= tti {
                *ceiling = users[user].ceiling(tti, sequence);
            }
            #[cfg(test)]
            users[user].assert_below(ceiling.units, tti, limits, sequence);
            if ratio(user, ceiling.units) < highest {
                return;
            }
            let (rate, quality) = look(users, user, slot);
            if rate > 0 && ratio(user, rate) >= highest {
                highest = ratio(user, rate);
                candidates.list.push(Candidate { user, rate, quality, deadline: 0 });
            }
        });
        true
    }

    /// Accounts for the TTIs before number `tti`, in which all were idle.
    pub(super) fn pass_idle(&mut self, tti: u64) {
        for meter in &mut self.meters {
            meter.pass(tti, &mut self.node_b);
        }
    }

    /// Measures what users of a cell could be sent in TTI number `tti`.
    fn meter(&mut self, tti: u64, cell: usize) {
        let Self { node_b, meters, candidates, .. } = self;
        for meter in meters {
            if node_b.users[meter.user].serving == cell {
                meter.account(tti, candidates, node_b);
            }
        }
    }
}
