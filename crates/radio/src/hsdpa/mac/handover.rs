//! Changes of users between served cells.
//!
//! While any user has data to receive, and for [`LONGEST_IDLE`] afterwards, phones compare the Node
//! Bs as described in [`super::super::handover`]. Then they sleep. Like a phone in a state without
//! a serving HS-DSCH cell, a sleeping phone belongs to the cell that it receives best (TS 25.304,
//! 5.2.6, without its hysteresis), and is served there as soon as there is data. This cell does not
//! depend on earlier cells. So a pause longer than [`LONGEST_IDLE`] takes no more work than a pause
//! of that length. The result is the same with and without observers.

use nodeb_base::context::{Context, Output};
use nodeb_base::event::Event;
use nodeb_base::units::{Duration, Time};

use super::super::handover::{COMPARISON, Handover, HeldData};
use super::super::node_b::NodeBs;
use super::super::node_b::user::User;
use super::{HsdpaMac, decide};
use crate::numerology::Numerology;
use crate::tti::grid::Grid;

/// Time after which phones sleep if no user has data to receive.
const LONGEST_IDLE: Duration = Duration::from_secs(600);

/// Users who move, and the state that determines when they change cells.
#[derive(Debug)]
pub(super) struct HandoverControl {
    params: Handover,
    /// Indices of the users who move and may therefore change cells.
    users: Vec<usize>,
    /// Number of TTIs between two comparisons of the Node Bs.
    comparison_ttis: u64,
    /// Number of the next TTI in which the Node Bs are compared.
    pub next: u64,
    /// Number of TTIs after which phones sleep if no user has data to receive.
    longest_idle: u64,
    /// TTI since which no user has had data to receive; `None` while any user has data.
    idle_since: Option<u64>,
    /// Cells in which the sleeping users were last served, in the order of `users`; empty while
    /// users do not sleep.
    left: Vec<usize>,
}

impl HandoverControl {
    /// Creates the state for all users in `users` who move. Returns `None` if no user moves, so
    /// that no cell can change.
    pub fn new(params: &Handover, users: &mut [User], numerology: Numerology) -> Option<Self> {
        let moving: Vec<_> = (0..users.len()).filter(|user| users[*user].moves()).collect();
        let params = params.clone();
        (!moving.is_empty()).then_some(Self {
            params,
            users: moving,
            comparison_ttis: numerology.ttis(COMPARISON).max(1),
            next: 0,
            longest_idle: numerology.ttis(LONGEST_IDLE),
            idle_since: Some(0),
            left: Vec::new(),
        })
    }

    /// Returns true if no user has data to receive.
    pub fn is_idle(&self) -> bool {
        self.idle_since.is_some()
    }

    /// Returns true if phones sleep in TTI `tti`, because for [`LONGEST_IDLE`] no user has had data
    /// to receive.
    fn sleeps(&self, tti: u64) -> bool {
        self.idle_since.is_some_and(|since| tti >= since + self.longest_idle)
    }
}

impl HsdpaMac {
    /// Records the start of an idle time if no user has data to receive any more.
    pub(super) fn record_idle(&mut self, now: Time) {
        let Self { handover: Some(control), node_bs: NodeBs { users, params, .. }, .. } = self else {
            return;
        };
        if !control.is_idle() && users.iter().all(|user| user.packets.backlog().packets == 0) {
            control.idle_since = Some(params.numerology().first_from(now));
        }
    }

    /// Makes all comparisons of Node Bs that are due up to TTI `tti`, and the changes of cells that
    /// result from them.
    pub(super) fn change_cells(&mut self, ctx: &mut Context, tti: u64) {
        let Some(mut control) = self.handover.take() else {
            return;
        };
        while control.next <= tti {
            if control.sleeps(control.next) && self.meters.is_empty() {
                // While phones sleep, each comparison overrides the earlier ones, so all but the
                // last comparison are skipped. With bandwidth meters none is skipped, because
                // meters need the user's cell at each time.
                control.next = tti - (tti - control.next) % control.comparison_ttis;
            }
            let now = control.next;
            // Available bandwidth up to this comparison is measured in the old cell first, because
            // channels must be evaluated in order of time.
            self.pass_idle(now);
            if control.sleeps(now) {
                self.reselect(&mut control, now);
            } else {
                self.compare(&control, now, ctx);
            }
            control.next += control.comparison_ttis;
        }
        self.handover = Some(control);
    }

    /// Compares the Node Bs in TTI `tti` for all moving users, and changes the cell of each user
    /// for whom event 1D occurs.
    fn compare(&mut self, control: &HandoverControl, tti: u64, ctx: &mut Context) {
        let numerology = self.node_bs.params.numerology();
        let resumes = tti + control.params.interruption_ttis(numerology);
        for &user in &control.users {
            if self.node_bs.users[user].compare(tti) {
                let at = numerology.beginning(tti);
                self.leave(ctx, at, user, resumes, control.params.data);
            }
        }
    }

    /// Assigns sleeping users to the cells that they receive best in TTI `tti`. The first call of
    /// an idle time also stores in `left` the cells in which the users were last served.
    fn reselect(&mut self, control: &mut HandoverControl, tti: u64) {
        let falls_asleep = control.left.is_empty();
        for &user in &control.users {
            let state = &mut self.node_bs.users[user];
            if falls_asleep {
                control.left.push(state.serving);
            }
            state.reselect(tti);
            self.node_bs.refresh(user);
        }
    }

    /// Makes the comparisons of Node Bs that were due before now. Comparisons are deferred while no
    /// user has data to receive, because they then affect no packet.
    pub(super) fn follow_users(&mut self, ctx: &mut Context, grid: &Grid) {
        if let Some(last) = grid.from(ctx.now).checked_sub(1) {
            self.change_cells(ctx, last);
        }
    }

    /// Ends an idle time when a packet arrives. Users who were assigned to other cells while they
    /// slept change to these cells now.
    pub(super) fn wake_up(&mut self, ctx: &mut Context, grid: &Grid) {
        let Some(control) = self.handover.as_mut().filter(|control| control.is_idle()) else {
            return;
        };
        control.idle_since = None;
        let (users, data) = (&control.users, control.params.data);
        let moved: Vec<_> = users.iter().copied().zip(control.left.drain(..)).collect();
        for (user, cell) in moved {
            if self.node_bs.users[user].serving != cell {
                self.leave(ctx, ctx.now, user, grid.from(ctx.now), data);
            }
        }
    }

    /// Moves a user to its new serving cell, where it is served from TTI `resumes`. Must be called
    /// when no block is on the air.
    fn leave(&mut self, ctx: &mut Context, at: Time, user: usize, resumes: u64, data: HeldData) {
        let Self { node_bs: NodeBs { users, slots, .. }, flow_control, timers, .. } = self;
        let state = &mut users[user];
        state.tally.changed_cell();
        state.resumes = resumes;
        match data {
            HeldData::Forwarded => state.continue_blocks(),
            HeldData::Lost => {
                let flushed = state.flush();
                timers.retain(|other| *other != user);
                if let Some(flow_control) = flow_control {
                    flow_control.sent(user, flushed.queued);
                }
                let User { packets, tally, .. } = state;
                for (units, lost) in flushed.all {
                    packets.settle(at, units, lost, |fate| decide(user, fate, tally, ctx));
                }
            }
        }
        slots.refresh(user, state);
        let (bearer, cell) = (ctx.place.index, state.serving as u32);
        ctx.sink.emit(at, Event::Handover { bearer, user: user as u32, cell });
        ctx.out.push(Output::CellChanged { user });
    }
}
