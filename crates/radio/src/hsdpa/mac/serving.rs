use nodeb_base::context::Context;

use super::super::node_b::NodeBs;
use super::super::node_b::grant::Grant;
use super::HsdpaMac;
use nodeb_air::mac::sched::Rule;

impl HsdpaMac {
    pub(super) fn serve_cells(&mut self, ctx: &mut Context, tti: u64) {
        if !self.meters.is_empty() {
            // Channels must be evaluated in order of time, so the meters account for all earlier
            // TTIs first.
            self.pass_idle(tti);
        }
        self.node_bs.selection.advance(tti);
        for cell in 0..self.schedulers.len() {
            self.serve_cell(ctx, tti, cell);
        }
    }

    fn serve_cell(&mut self, ctx: &mut Context, tti: u64, cell: usize) {
        self.candidates.clear();
        if self.node_bs.params.users_per_tti.get() > 1 || !self.meters.is_empty() {
            self.gather_grants(tti, cell);
            self.meter(tti, cell);
            self.serve_sharers(ctx, tti, cell);
        } else if let Some((user, grant)) = self.choose(tti, cell) {
            let sent = self.send(ctx, tti, user, grant, 1);
            self.schedulers[cell].served(tti, user, sent);
        }
    }

    fn choose(&mut self, tti: u64, cell: usize) -> Option<(usize, Grant)> {
        let Self { node_bs, schedulers, learns, .. } = self;
        let limits = node_bs.limits();
        let user = match schedulers[cell].rule(tti) {
            Rule::Turn(first) if !*learns => {
                let NodeBs { users, selection, sequence, .. } = node_bs;
                let grant = |user: usize| Some((user, users[user].grant(tti, limits, sequence)?));
                return selection.waiting[cell].turn_from(first).find_map(grant);
            }
            Rule::Quality(turns) => {
                let score = |_: usize, (_, quality): (u32, f32)| f64::from(quality);
                node_bs.find_best(tti, cell, score, |user| turns[user])
            }
            Rule::Ratio(means) => {
                let score = |user: usize, (units, _): (u32, f32)| f64::from(units) / means[user];
                node_bs.find_best(tti, cell, score, |_| 0)
            }
            Rule::Turn(_) | Rule::Pick => return self.pick(tti, cell),
        }?;
        node_bs.users[user].grant(tti, limits, &node_bs.sequence).map(|grant| (user, grant))
    }

    /// Up to `users_per_tti`, in the order in which the scheduler selects them.
    fn serve_sharers(&mut self, ctx: &mut Context, tti: u64, cell: usize) {
        let Self { node_bs: NodeBs { users, params, .. }, schedulers, candidates, .. } = self;
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

    fn pick(&mut self, tti: u64, cell: usize) -> Option<(usize, Grant)> {
        self.gather(tti, cell);
        let limits = self.node_bs.limits();
        // The state of the scheduler may change in `pick`, so the upper bounds of users' scores are
        // no longer valid.
        self.node_bs.selection.forget_scores();
        while !self.candidates.is_empty() {
            let at = self.schedulers[cell].pick(tti, &self.candidates.list);
            let user = self.candidates.list[at].user;
            if let Some(grant) = self.node_bs.users[user].grant(tti, limits, &self.node_bs.sequence) {
                return Some((user, grant));
            }
            self.candidates.list.remove(at);
        }
        None
    }

    fn gather_grants(&mut self, tti: u64, cell: usize) {
        let limits = self.node_bs.limits();
        let Self { node_bs: NodeBs { users, selection, sequence, .. }, candidates, view, .. } = self;
        for user in selection.waiting[cell].turn_from(0) {
            let state = &mut users[user];
            state.listen(tti);
            if let Some(grant) = state.grant(tti, limits, sequence) {
                candidates.push(state.candidate(user, grant.units, grant.quality, *view), grant);
            }
        }
    }

    /// If the scheduler needs rates, omits users that can be sent nothing.
    fn gather(&mut self, tti: u64, cell: usize) {
        let limits = self.node_bs.limits();
        let Self { node_bs: NodeBs { users, selection, sequence, .. }, candidates, view, learns, .. } = self;
        for user in selection.waiting[cell].turn_from(0) {
            let state = &mut users[user];
            let (rate, quality) = if view.rate || view.quality {
                let found = state.look(tti, limits, sequence, &mut selection.cached[user]);
                #[cfg(test)]
                state.assert_cached(tti, limits, sequence, found);
                found
            } else {
                if *learns {
                    state.listen(tti);
                }
                (0, 0.0)
            };
            if rate > 0 || !view.rate {
                candidates.list.push(state.candidate(user, rate, quality, *view));
            }
        }
    }

    /// In these TTIs no user could be sent anything.
    pub(super) fn pass_idle(&mut self, tti: u64) {
        for meter in &mut self.meters {
            meter.pass(tti, &mut self.node_bs);
        }
    }

    fn meter(&mut self, tti: u64, cell: usize) {
        let Self { node_bs, meters, candidates, .. } = self;
        for meter in meters {
            if node_bs.users[meter.user].mobility.serving == cell {
                meter.account(tti, candidates, node_bs);
            }
        }
    }
}
