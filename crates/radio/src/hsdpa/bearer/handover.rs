//! Users who change from one served cell to another.

use super::super::handover::{COMPARISON_TTIS, Handover, HeldData};
use super::super::user::User;
use super::{HsdpaBearer, beginning, decide};
use crate::context::{Context, Output};

/// Users on their way, and the cells between which they change.
#[derive(Debug)]
pub(super) struct Movers {
    params: Handover,
    /// Who moves.
    users: Vec<usize>,
    /// The next TTI in which they compare.
    pub next: u64,
}

impl Movers {
    /// Those of `users` who move, if there are any.
    pub fn new(params: &Handover, users: &mut [User]) -> Option<Self> {
        let moving: Vec<_> = (0..users.len()).filter(|user| users[*user].moves()).collect();
        let params = params.clone();
        (!moving.is_empty()).then_some(Self { params, users: moving, next: 0 })
    }
}

impl HsdpaBearer {
    /// Whether it matters in which cells users are. Otherwise they compare later what they had to by then.
    pub(super) fn needs_cells(&self) -> bool {
        !self.meters.is_empty() || self.users.iter().any(|user| user.packets.backlog().0 > 0)
    }

    /// The phones that move compare the Node Bs as often as they had to by TTI number `tti`; whose cell
    /// changes.
    pub(super) fn change_cells(&mut self, tti: u64, ctx: &mut Context) {
        let Some(mut movers) = self.movers.take() else {
            return;
        };
        while movers.next <= tti {
            let now = movers.next;
            // What is past is measured in the old cell, and channels are looked at in order of time.
            self.pass_idle(now);
            for &user in &movers.users {
                if self.users[user].compare(now) {
                    self.leave(now, user, &movers.params, ctx);
                    ctx.out.push(Output::CellChanged { user });
                }
            }
            movers.next += COMPARISON_TTIS;
        }
        self.movers = Some(movers);
    }

    /// A user has left its cell in TTI number `tti`. No block is on the air at its beginning.
    fn leave(&mut self, tti: u64, user: usize, params: &Handover, ctx: &mut Context) {
        let Self { users, ready, flow_control, timers, .. } = self;
        let state = &mut users[user];
        state.tally.changed_cell();
        state.rest_until(tti + params.interruption_ttis());
        match params.data {
            HeldData::Forwarded => state.begin_blocks_again(),
            HeldData::Lost => {
                let flushed = state.flush();
                timers.retain(|other| *other != user);
                if let Some(control) = flow_control {
                    control.sent(user, flushed.queued);
                }
                let User { packets, tally, .. } = state;
                for (units, lost) in flushed.all {
                    packets.settle(beginning(tti), units, lost, |fate| {
                        decide(user, fate, tally, ctx);
                    });
                }
            }
        }
        ready[user] = users[user].ready();
    }
}
