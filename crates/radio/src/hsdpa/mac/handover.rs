//! Users who change from one served cell to another.
//!
//! While somebody has something to send, and for a while after, phones compare the Node Bs as
//! [`super::super::handover`] says. Then they sleep: as in the states without a serving HS-DSCH cell they
//! belong to the cell that is received best (TS 25.304, 5.2.6, without its hysteresis), and are served
//! there as soon as there is something to send again. Where a sleeper is does not depend on where it was,
//! so a pause costs the same however long it is, and comes to the same whoever looks meanwhile.

use nodeb_base::context::{Context, Output};
use nodeb_base::event::Event;
use nodeb_base::units::{Duration, Time};

use super::super::handover::{COMPARISON, Handover, HeldData};
use super::super::node_b::NodeBs;
use super::super::node_b::user::User;
use super::{HsdpaMac, decide};
use crate::numerology::Numerology;
use crate::tti::grid::Grid;

/// After so long without anything to send phones sleep.
const LONGEST_IDLE: Duration = Duration::from_secs(600);

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
    /// TTIs without anything to send after which they sleep.
    longest_idle: u64,
    /// Since which TTI nobody has anything to send.
    idle_since: Option<u64>,
    /// In which cells sleepers were served last.
    left: Vec<usize>,
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
            longest_idle: numerology.ttis(LONGEST_IDLE),
            idle_since: Some(0),
            left: Vec::new(),
        })
    }

    /// Whether nobody has anything to send.
    pub fn is_idle(&self) -> bool {
        self.idle_since.is_some()
    }

    /// Whether users sleep in TTI number `tti`.
    fn sleeps(&self, tti: u64) -> bool {
        self.idle_since.is_some_and(|since| tti >= since + self.longest_idle)
    }
}

impl HsdpaMac {
    /// What is due or told by now may have left nobody with anything to send.
    pub(super) fn note_idle(&mut self, now: Time) {
        let Self { handover: Some(control), node_bs: NodeBs { users, params, .. }, .. } = self else {
            return;
        };
        if !control.is_idle() && users.iter().all(|user| user.packets.backlog().packets == 0) {
            control.idle_since = Some(params.numerology().first_from(now));
        }
    }

    /// The phones that move compare the Node Bs as often as they had to by TTI number `tti`.
    pub(super) fn change_cells(&mut self, ctx: &mut Context, tti: u64) {
        let Some(mut control) = self.handover.take() else {
            return;
        };
        while control.next <= tti {
            if control.sleeps(control.next) && self.meters.is_empty() {
                // Nobody sees where sleepers were meanwhile.
                control.next = tti - (tti - control.next) % control.comparison_ttis;
            }
            let now = control.next;
            // What is past is measured in the old cell, and channels are looked at in order of time.
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

    /// Phones compare in TTI number `tti`; some change their cell.
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

    /// Sleepers are in the cell that is received best in TTI number `tti`.
    fn reselect(&mut self, control: &mut HandoverControl, tti: u64) {
        let falls_asleep = control.left.is_empty();
        for &user in &control.users {
            let state = &mut self.node_bs.users[user];
            if falls_asleep {
                control.left.push(state.serving);
            }
            state.reselect(tti);
            self.node_bs.renew(user);
        }
    }

    /// All that an idle time has left open is done by now. Nobody had anything to send, so nothing
    /// arrives or is lost.
    pub(super) fn follow_users(&mut self, ctx: &mut Context, grid: &Grid) {
        if let Some(last) = grid.from(ctx.now).checked_sub(1) {
            self.change_cells(ctx, last);
        }
    }

    /// Somebody has something to send; who has slept in another cell begins there.
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

    /// A user has left its cell, and is sent to again from TTI number `resumes` on. No block is on the air.
    fn leave(&mut self, ctx: &mut Context, at: Time, user: usize, resumes: u64, data: HeldData) {
        let Self { node_bs: NodeBs { users, slots, .. }, flow_control, timers, .. } = self;
        let state = &mut users[user];
        state.tally.changed_cell();
        state.resumes = resumes;
        match data {
            HeldData::Forwarded => state.begin_blocks_again(),
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
        slots.renew(user, state);
        let (bearer, cell) = (ctx.place.index, state.serving as u32);
        ctx.sink.emit(at, Event::Handover { bearer, user: user as u32, cell });
        ctx.out.push(Output::CellChanged { user });
    }
}
