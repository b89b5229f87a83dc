//! Who is served in a TTI, and what those who are measured could have been sent.

use super::super::adaptation::Limits;
use super::super::available::Around;
use super::HsdpaBearer;

impl HsdpaBearer {
    /// Serves users in TTI number `tti`.
    pub(super) fn serve(&mut self, tti: u64) {
        self.round.clear();
        if self.view.rate || self.params.users_per_tti.get() > 1 || !self.meters.is_empty() {
            // First what is past, because a channel is looked at in order of time.
            self.pass_idle(tti);
            self.gather_turns(tti);
            self.meter(tti);
            self.serve_sharers(tti);
        } else {
            self.gather(tti);
            self.serve_one(tti);
        }
    }

    /// Serves several users, the scheduler's first choice first.
    fn serve_sharers(&mut self, tti: u64) {
        let mut codes = self.params.codes.get();
        let sharers = self.params.users_per_tti.get().min(self.round.candidates.len() as u32);
        if sharers > 1 {
            self.limit(Limits { codes, sharers, units: 0 });
        }
        for left in (0..sharers).rev() {
            if self.round.is_empty() {
                break;
            }
            let at = self.scheduler.pick(tti, &self.round.candidates);
            let (user, turn) = (self.round.candidates[at].user, self.round.turns[at]);
            let sent = self.send(tti, user, turn, sharers);
            self.scheduler.served(tti, user, sent);
            if left > 0 {
                self.round.remove(at);
                codes -= turn.codes;
                self.limit(Limits { codes, sharers, units: 0 });
            }
        }
    }

    /// Serves the scheduler's first choice who can be sent something.
    fn serve_one(&mut self, tti: u64) {
        let limits = self.limits();
        while !self.round.is_empty() {
            let at = self.scheduler.pick(tti, &self.round.candidates);
            let user = self.round.candidates.remove(at).user;
            if let Some(turn) = self.users[user].turn(tti, limits, &self.sequence) {
                let sent = self.send(tti, user, turn, 1);
                self.scheduler.served(tti, user, sent);
                break;
            }
        }
    }

    fn limits(&self) -> Limits {
        Limits { codes: self.params.codes.get(), sharers: 1, units: 0 }
    }

    /// Lists who can be sent something, and what.
    fn gather_turns(&mut self, tti: u64) {
        let limits = self.limits();
        let Self { users, ready, sequence, round, view, .. } = self;
        for (user, state) in users.iter_mut().enumerate().filter(|(user, _)| ready[*user] <= tti) {
            state.listen(tti);
            if let Some(turn) = state.turn(tti, limits, sequence) {
                round.push(state.candidate(user, turn.units, turn.quality, *view), turn);
            }
        }
    }

    /// Lists who has something to send, whether the channel lets it pass or not.
    fn gather(&mut self, tti: u64) {
        let Self { users, ready, sequence, round, view, .. } = self;
        for (user, state) in users.iter_mut().enumerate().filter(|(user, _)| ready[*user] <= tti) {
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
        meters.iter_mut().for_each(|meter| meter.pass(tti, &mut around));
    }

    /// Measures what users could be sent in TTI number `tti`.
    fn meter(&mut self, tti: u64) {
        let Self { users, meters, round, params, sequence, .. } = self;
        let mut around = Around { users, params, sequence };
        for meter in meters {
            meter.account(tti, round, &mut around);
        }
    }
}
