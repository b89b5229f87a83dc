//! While any user has data to receive, and for [`LONGEST_IDLE`] afterwards, phones compare the sites. Then
//! they sleep: like a phone without a serving HS-DSCH cell, a sleeping phone belongs to the cell that it
//! receives best (TS 25.304, 5.2.6, without its hysteresis). That cell does not depend on earlier cells, so a
//! longer pause takes no more work.

use nodeb_base::context::Context;
use nodeb_base::units::{Duration, Time};

use super::{COMPARISON, Handover, HeldData};
use crate::numerology::Numerology;

const LONGEST_IDLE: Duration = Duration::from_secs(600);

/// MAC whose users change cells.
pub trait Cells {
    /// Channels must be evaluated in order of time.
    fn evaluate_until(&mut self, tti: u64);
    /// Results depend on serving cells even while no user has data, for example because available bandwidth
    /// is measured.
    fn needs_all_comparisons(&self) -> bool;
    fn has_data(&self) -> bool;
    /// Returns true if the user changes its cell now.
    fn compare(&mut self, user: usize, tti: u64) -> bool;
    fn reselect(&mut self, user: usize, tti: u64);
    fn serving(&self, user: usize) -> usize;
    /// Must be called when no block is on the air; service resumes in TTI `resumes`.
    fn leave(&mut self, ctx: &mut Context, at: Time, user: usize, resumes: u64, data: HeldData);
}

#[derive(Debug)]
pub struct HandoverControl {
    data: HeldData,
    numerology: Numerology,
    users: Vec<usize>,
    /// TTIs without transmissions at a change of cell.
    interruption: u64,
    /// TTIs between two comparisons.
    comparison_ttis: u64,
    next: u64,
    longest_idle: u64,
    /// `None` while any user has data.
    idle_since: Option<u64>,
    /// Where the sleeping users were last served, in the order of `users`; empty while they do not sleep.
    left: Vec<usize>,
}

impl HandoverControl {
    /// `None` if no user moves and so none can change cells.
    pub fn new(params: &Handover, moving: Vec<usize>, numerology: Numerology) -> Option<Self> {
        (!moving.is_empty()).then(|| Self {
            data: params.data,
            numerology,
            users: moving,
            interruption: numerology.ttis(params.interruption),
            comparison_ttis: numerology.ttis(COMPARISON).max(1),
            next: 0,
            longest_idle: numerology.ttis(LONGEST_IDLE),
            idle_since: Some(0),
            left: Vec::new(),
        })
    }

    /// `None` while comparisons are deferred, because no user has data and `needs_all` is false.
    pub fn next(&self, needs_all: bool) -> Option<u64> {
        (needs_all || !self.is_idle()).then_some(self.next)
    }

    fn is_idle(&self) -> bool {
        self.idle_since.is_some()
    }

    fn sleeps(&self, tti: u64) -> bool {
        self.idle_since.is_some_and(|since| tti >= since + self.longest_idle)
    }

    /// Has no effect during an idle time.
    pub fn record_idle(&mut self, cells: &impl Cells, now: Time) {
        if !self.is_idle() && !cells.has_data() {
            self.idle_since = Some(self.numerology.first_from(now));
        }
    }

    pub fn change_cells(&mut self, cells: &mut impl Cells, ctx: &mut Context, tti: u64) {
        while self.next <= tti {
            if self.sleeps(self.next) && !cells.needs_all_comparisons() {
                // While phones sleep, each comparison overrides the earlier ones, so all but the last comparison are
                // skipped.
                self.next = tti - (tti - self.next) % self.comparison_ttis;
            }
            // Channels up to this comparison are evaluated in the old cell first.
            cells.evaluate_until(self.next);
            if self.sleeps(self.next) {
                self.reselect(cells);
            } else {
                self.compare(cells, ctx);
            }
            self.next += self.comparison_ttis;
        }
    }

    fn compare(&self, cells: &mut impl Cells, ctx: &mut Context) {
        let (at, resumes) = (self.numerology.beginning(self.next), self.next + self.interruption);
        for &user in &self.users {
            if cells.compare(user, self.next) {
                cells.leave(ctx, at, user, resumes, self.data);
            }
        }
    }

    /// The first call of an idle time also stores in `left` the cells in which the users were last served.
    fn reselect(&mut self, cells: &mut impl Cells) {
        let falls_asleep = self.left.is_empty();
        for &user in &self.users {
            if falls_asleep {
                self.left.push(cells.serving(user));
            }
            cells.reselect(user, self.next);
        }
    }

    /// Users who were assigned to other cells while they slept change to these cells now, and can be served
    /// there from TTI `next`.
    pub fn wake_up(&mut self, cells: &mut impl Cells, ctx: &mut Context, next: u64) {
        if self.idle_since.take().is_none() {
            return;
        }
        for (&user, cell) in self.users.iter().zip(self.left.drain(..)) {
            if cells.serving(user) != cell {
                cells.leave(ctx, ctx.now, user, next, self.data);
            }
        }
    }
}
