//! Who is served in a TTI, and what those who are measured could have been sent.

use super::super::adaptation::Limits;
use super::super::available::Around;
use super::super::user::User;
use super::HsdpaBearer;
use crate::context::Context;

/// The users of a cell who may have something to send in TTI number `tti`.
fn of_cell<'a>(
    users: &'a mut [User],
    ready: &'a [u64],
    cell: usize,
    tti: u64,
) -> impl Iterator<Item = (usize, &'a mut User)> {
    let all = users.iter_mut().enumerate().filter(move |(user, _)| ready[*user] <= tti);
    all.filter(move |(_, state)| state.serving() == cell)
}

impl HsdpaBearer {
    /// Every cell serves users of its own in TTI number `tti`.
    pub(super) fn serve(&mut self, ctx: &mut Context, tti: u64) {
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
        if self.view.rate || self.params.users_per_tti.get() > 1 || !self.meters.is_empty() {
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
        let mut codes = self.params.codes.get();
        let sharers = self.params.users_per_tti.get().min(self.round.candidates.len() as u32);
        if sharers > 1 {
            self.limit(Limits { codes, sharers, units: 0 });
        }
        for left in (0..sharers).rev() {
            if self.round.is_empty() {
                break;
            }
            let at = self.schedulers[cell].pick(tti, &self.round.candidates);
            let (user, turn) = (self.round.candidates[at].user, self.round.turns[at]);
            let sent = self.send(ctx, tti, user, turn, sharers);
            self.schedulers[cell].served(tti, user, sent);
            if left > 0 {
                self.round.remove(at);
                codes -= turn.codes;
                self.limit(Limits { codes, sharers, units: 0 });
            }
        }
    }

    /// Serves the scheduler's first choice who can be sent something.
    fn serve_one(&mut self, ctx: &mut Context, tti: u64, cell: usize) {
        let limits = self.limits();
        while !self.round.is_empty() {
            let at = self.schedulers[cell].pick(tti, &self.round.candidates);
            let user = self.round.candidates.remove(at).user;
            if let Some(turn) = self.users[user].turn(tti, limits, &self.sequence) {
                let sent = self.send(ctx, tti, user, turn, 1);
                self.schedulers[cell].served(tti, user, sent);
                break;
            }
        }
    }

    fn limits(&self) -> Limits {
        Limits { codes: self.params.codes.get(), sharers: 1, units: 0 }
    }

    /// Lists who can be sent something, and what.
    fn gather_turns(&mut self, tti: u64, cell: usize) {
        let limits = self.limits();
        let Self { users, ready, sequence, round, view, .. } = self;
        for (user, state) in of_cell(users, ready, cell, tti) {
            state.listen(tti);
            if let Some(turn) = state.turn(tti, limits, sequence) {
                round.push(state.candidate(user, turn.units, turn.quality, *view), turn);
            }
        }
    }

    /// Lists who has something to send, whether the channel lets it pass or not.
    fn gather(&mut self, tti: u64, cell: usize) {
        let Self { users, ready, sequence, round, view, .. } = self;
        for (user, state) in of_cell(users, ready, cell, tti) {
            state.listen(tti);
            let quality = if view.quality { state.quality(tti, sequence) } else { 0.0 };
            round.candidates.push(state.candidate(user, 0, quality, *view));
        }
    }

    /// What the others can still be sent within the limits.
    fn limit(&mut self, limits: Limits) {
        let Self { users, round, .. } = self;
        round.limit(|user, turn| users[user].limit(turn, limits));
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
