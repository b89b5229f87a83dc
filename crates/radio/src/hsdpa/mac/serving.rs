//! Who is served in a TTI, and what those who are measured could have been sent.

use super::super::adaptation::Limits;
use super::super::available::Around;
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
        self.round.clear();
        if self.params.users_per_tti.get() > 1 || !self.meters.is_empty() {
            self.gather_turns(tti, cell);
            self.meter(tti, cell);
            self.serve_sharers(ctx, tti, cell);
        } else {
            self.gather(tti, cell);
            self.serve_one(ctx, tti, cell);
        }
    }

    /// Serves several users, the scheduler's first choice first.
    fn serve_sharers(&mut self, ctx: &mut Context, tti: u64, cell: usize) {
        let Self { users, schedulers, round, params, .. } = self;
        let most = params.users_per_tti.get();
        let chosen =
            round.choose(tti, schedulers[cell].as_mut(), params.codes.get(), most, |user, turn, limits| {
                users[user].limit(turn, limits)
            });
        for &(user, turn) in &chosen {
            let sent = self.send(ctx, tti, user, turn, chosen.len() as u32);
            self.schedulers[cell].served(tti, user, sent);
        }
    }

    /// Serves the scheduler's first choice who can be sent something.
    fn serve_one(&mut self, ctx: &mut Context, tti: u64, cell: usize) {
        let limits = self.limits();
        while !self.round.is_empty() {
            let at = self.schedulers[cell].pick(tti, &self.round.candidates);
            let user = self.round.candidates[at].user;
            if let Some(turn) = self.users[user].turn(tti, limits, &self.sequence) {
                let sent = self.send(ctx, tti, user, turn, 1);
                self.schedulers[cell].served(tti, user, sent);
                break;
            }
            self.round.candidates.remove(at);
        }
    }

    fn limits(&self) -> Limits {
        Limits { codes: self.params.codes.get(), sharers: 1, units: 0 }
    }

    /// Lists who can be sent something, and what.
    fn gather_turns(&mut self, tti: u64, cell: usize) {
        let limits = self.limits();
        let Self { users, slots, sequence, round, view, .. } = self;
        slots.waiting(cell, tti, |user, _| {
            let state = &mut users[user];
            state.listen(tti);
            if let Some(turn) = state.turn(tti, limits, sequence) {
                round.push(state.candidate(user, turn.units, turn.quality, *view), turn);
            }
        });
    }

    /// Lists who has something to send, as far as the scheduler looks at it; if it looks at rates, only
    /// those whom the channel lets have something.
    fn gather(&mut self, tti: u64, cell: usize) {
        let limits = self.limits();
        let Self { users, slots, sequence, round, view, learns, .. } = self;
        let (view, candidates) = (*view, &mut round.candidates);
        candidates.reserve(users.len());
        slots.waiting(cell, tti, |user, slot| {
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

    /// Accounts for the TTIs before number `tti`, in which all were idle.
    pub(super) fn pass_idle(&mut self, tti: u64) {
        let Self { users, meters, params, sequence, .. } = self;
        let mut around = Around { users, params, sequence };
        for meter in meters {
            meter.pass(tti, &mut around);
        }
    }

    /// Measures what users of a cell could be sent in TTI number `tti`.
    fn meter(&mut self, tti: u64, cell: usize) {
        let Self { users, meters, round, params, sequence, .. } = self;
        let mut around = Around { users, params, sequence };
        for meter in meters {
            if around.users[meter.user()].serving() == cell {
                meter.account(tti, round, &mut around);
            }
        }
    }
}
