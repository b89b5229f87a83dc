use nodeb_base::context::{Context, Output};
use nodeb_base::event::Event;
use nodeb_base::units::Time;

use super::super::node_b::NodeBs;
use super::super::node_b::user::User;
use super::{HsdpaMac, decide};
use nodeb_air::cell::handover::HeldData;
use nodeb_air::cell::handover::control::Cells;
use nodeb_air::tti::grid::Grid;

impl HsdpaMac {
    pub(super) fn change_cells(&mut self, ctx: &mut Context, tti: u64) {
        if let Some(mut control) = self.handover.take() {
            control.change_cells(self, ctx, tti);
            self.handover = Some(control);
        }
    }

    /// Deferred while no user has data to receive, because comparisons then affect no packet.
    pub(super) fn follow_users(&mut self, ctx: &mut Context, grid: &Grid) {
        if let Some(last) = grid.from(ctx.now).checked_sub(1) {
            self.change_cells(ctx, last);
        }
    }

    /// Users whose serving cells changed during the idle time leave their old cells now.
    pub(super) fn wake_up(&mut self, ctx: &mut Context, grid: &Grid) {
        if let Some(mut control) = self.handover.take() {
            control.wake_up(self, ctx, grid.from(ctx.now));
            self.handover = Some(control);
        }
    }
}

impl Cells for HsdpaMac {
    fn evaluate_until(&mut self, tti: u64) {
        self.pass_idle(tti);
    }

    fn needs_all_comparisons(&self) -> bool {
        !self.meters.is_empty()
    }

    fn has_data(&self) -> bool {
        self.node_bs.users.iter().any(|user| user.packets.backlog().packets > 0)
    }

    fn compare(&mut self, user: usize, tti: u64) -> bool {
        let User { mobility, channel, .. } = &mut self.node_bs.users[user];
        mobility.compare(tti, channel)
    }

    fn reselect(&mut self, user: usize, tti: u64) {
        let User { mobility, channel, .. } = &mut self.node_bs.users[user];
        mobility.reselect(tti, channel);
        self.node_bs.refresh(user);
    }

    fn serving(&self, user: usize) -> usize {
        self.node_bs.users[user].mobility.serving
    }

    fn leave(&mut self, ctx: &mut Context, at: Time, user: usize, resumes: u64, data: HeldData) {
        let Self { node_bs: NodeBs { users, selection, .. }, flow_control, timers, .. } = self;
        let state = &mut users[user];
        state.tally.changed_cell();
        state.mobility.resumes = resumes;
        match data {
            HeldData::Forwarded => state.continue_blocks(),
            HeldData::Lost => {
                let (all, queued) = state.flush();
                timers.retain(|other| *other != user);
                if let Some(flow_control) = flow_control {
                    flow_control.sent(user, queued);
                }
                let User { packets, tally, .. } = state;
                for (units, lost) in all {
                    packets.on_outcome(at, units, lost, |fate| decide(user, fate, tally, ctx));
                }
            }
        }
        selection.refresh(user, state);
        let (bearer, cell) = (ctx.place.index, state.mobility.serving as u32);
        ctx.sink.emit(at, Event::Handover { bearer, user: user as u32, cell });
        ctx.out.push(Output::CellChanged { user });
    }
}
