//! Users who change from one served cell to another.

use super::super::handover::{COMPARISON, Handover, HeldData};
use super::super::node_b::NodeB;
use super::super::node_b::user::User;
use super::{HsdpaMac, decide};
use crate::context::{Context, Output};
use crate::numerology::Numerology;
use crate::tti::grid::Grid;
use crate::units::Duration;

/// The end of an idle time, in which phones compare.
const MOST_COMPARED: Duration = Duration::from_secs(600);

/// Users on their way, and the cells between which they change.
#[derive(Debug)]
pub(super) struct HandoverControl {
    params: Handover,
    /// Who moves.
    users: Vec<usize>,
    /// TTIs between two comparisons.
    comparison_ttis: u64,
    /// The next TTI in which they compare.
    pub next: u64,
    /// TTIs of an idle time in which they compare. What was before only decides in which cell they begin,
    /// which comparisons put right within seconds.
    most_compared: u64,
}

impl HandoverControl {
    /// Those of `users` who move, if there are any.
    pub fn new(params: &Handover, users: &mut [User], numerology: Numerology) -> Option<Self> {
        let moving: Vec<_> = (0..users.len()).filter(|user| users[*user].moves()).collect();
        let params = params.clone();
        (!moving.is_empty()).then_some(Self {
            params,
            users: moving,
            comparison_ttis: numerology.ttis(COMPARISON).max(1),
            next: 0,
            most_compared: numerology.ttis(MOST_COMPARED),
        })
    }
}

impl HsdpaMac {
    /// Whether it matters in which cells users are. Otherwise they compare later what they had to by then.
    pub(super) fn needs_cells(&self) -> bool {
        !self.meters.is_empty() || self.node_b.users.iter().any(|user| user.packets.backlog().0 > 0)
    }

    /// The phones that move compare the Node Bs as often as they had to by TTI number `tti`; whose cell
    /// changes.
    pub(super) fn change_cells(&mut self, tti: u64, ctx: &mut Context) {
        let Some(mut control) = self.handover.take() else {
            return;
        };
        self.skip_comparisons(&mut control, tti);
        while control.next <= tti {
            let now = control.next;
            // What is past is measured in the old cell, and channels are looked at in order of time.
            self.pass_idle(now);
            for &user in &control.users {
                if self.node_b.users[user].compare(now) {
                    self.leave(now, user, &control.params, ctx);
                    ctx.out.push(Output::CellChanged { user });
                }
            }
            control.next += control.comparison_ttis;
        }
        self.handover = Some(control);
    }

    /// Leaves out comparisons before TTI number `tti` that nobody sees, if they are very many.
    fn skip_comparisons(&self, control: &mut HandoverControl, tti: u64) {
        let first = tti.saturating_sub(control.most_compared).next_multiple_of(control.comparison_ttis);
        // Whoever measures looks at the cell in every TTI.
        if self.meters.is_empty() {
            control.next = control.next.max(first);
        }
    }

    /// All that an idle time has left open is done by now. Nobody had anything to send, so nothing
    /// arrives or is lost.
    pub(super) fn follow_users(&mut self, ctx: &mut Context, grid: &Grid) {
        if let Some(last) = grid.from(ctx.now).checked_sub(1) {
            self.change_cells(last, ctx);
        }
    }

    /// The same at the end, where handovers are counted: no comparison is left out.
    pub(super) fn follow_users_fully(&mut self, ctx: &mut Context, grid: &Grid) {
        let most = |mac: &mut Self, ttis| {
            mac.handover.as_mut().map_or(0, |control| std::mem::replace(&mut control.most_compared, ttis))
        };
        let usual = most(self, u64::MAX);
        self.follow_users(ctx, grid);
        most(self, usual);
    }

    /// A user has left its cell in TTI number `tti`. No block is on the air at its beginning.
    fn leave(&mut self, tti: u64, user: usize, params: &Handover, ctx: &mut Context) {
        let numerology = self.node_b.params.numerology();
        let Self { node_b: NodeB { users, slots, .. }, flow_control, timers, .. } = self;
        let state = &mut users[user];
        state.tally.changed_cell();
        state.rest_until(tti + params.interruption_ttis(numerology));
        match params.data {
            HeldData::Forwarded => state.begin_blocks_again(),
            HeldData::Lost => {
                let flushed = state.flush();
                timers.retain(|other| *other != user);
                if let Some(flow_control) = flow_control {
                    flow_control.sent(user, flushed.queued);
                }
                let User { packets, tally, .. } = state;
                for (units, lost) in flushed.all {
                    packets.settle(numerology.beginning(tti), units, lost, |fate| {
                        decide(user, fate, tally, ctx);
                    });
                }
            }
        }
        slots.renew(user, &users[user]);
    }
}
