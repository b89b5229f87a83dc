//! Changes of users between served cells.
//!
//! While any user has data to receive, and for [`LONGEST_IDLE`] afterwards, phones compare the sites, as
//! [`Trigger`] describes. Then they sleep. Like a phone in a state without a serving HS-DSCH cell, a sleeping
//! phone belongs to the cell that it receives best (TS 25.304, 5.2.6, without its hysteresis), and is served
//! there as soon as there is data. This cell does not depend on earlier cells. So a pause longer than
//! [`LONGEST_IDLE`] takes no more work than a pause of that length. The result is the same if comparisons are
//! made all the time because bandwidth is measured.
//!
//! [`Trigger`]: super::trigger::Trigger

use nodeb_base::context::Context;
use nodeb_base::units::{Duration, Time};

use super::{COMPARISON, Handover, HeldData};
use crate::numerology::Numerology;

/// Time after which phones sleep if no user has data to receive.
const LONGEST_IDLE: Duration = Duration::from_secs(600);

/// MAC whose users change cells.
pub trait Cells {
    /// Makes the deferred evaluations of channels in the TTIs before `tti`, because channels must be evaluated in order
    /// of time.
    fn evaluate_until(&mut self, tti: u64);
    /// Returns true if results depend on the users' serving cells even while no user has data to receive, for example
    /// because available bandwidth is measured.
    fn needs_all_comparisons(&self) -> bool;
    /// Returns true if any user has data to receive.
    fn has_data(&self) -> bool;
    /// Compares the sites for a user in TTI `tti`. Returns true if the user changes its cell now.
    fn compare(&mut self, user: usize, tti: u64) -> bool;
    /// Assigns a user to the cell that it receives best in TTI `tti`, without an interruption.
    fn reselect(&mut self, user: usize, tti: u64);
    /// Returns the index of the cell that serves a user.
    fn serving(&self, user: usize) -> usize;
    /// Moves a user to its new serving cell, where it is served from TTI `resumes`. Must be called when no block is on
    /// the air.
    fn leave(&mut self, ctx: &mut Context, at: Time, user: usize, resumes: u64, data: HeldData);
}

/// Users who move, and the state that determines when they change cells.
#[derive(Debug)]
pub struct HandoverControl {
    data: HeldData,
    numerology: Numerology,
    /// Indices of the users who move and may therefore change cells.
    users: Vec<usize>,
    /// Number of TTIs without transmissions at a change of cell.
    interruption: u64,
    /// Number of TTIs between two comparisons of the sites.
    comparison_ttis: u64,
    /// Number of the next TTI in which the sites are compared.
    next: u64,
    /// Number of TTIs after which phones sleep if no user has data to receive.
    longest_idle: u64,
    /// TTI since which no user has had data to receive; `None` while any user has data.
    idle_since: Option<u64>,
    /// Cells in which the sleeping users were last served, in the order of `users`; empty while users do not sleep.
    left: Vec<usize>,
}

impl HandoverControl {
    /// Creates the state for the users with the indices `moving`. Returns `None` if `moving` is empty, because then no
    /// user can change cells.
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

    /// Returns the next TTI in which the sites must be compared, or `None` if comparisons are deferred, because no user
    /// has data to receive and `needs_all` is false.
    pub fn next(&self, needs_all: bool) -> Option<u64> {
        (needs_all || !self.is_idle()).then_some(self.next)
    }

    /// Returns true if no user has data to receive.
    fn is_idle(&self) -> bool {
        self.idle_since.is_some()
    }

    /// Returns true if phones sleep in TTI `tti`, because for [`LONGEST_IDLE`] no user has had data to receive.
    fn sleeps(&self, tti: u64) -> bool {
        self.idle_since.is_some_and(|since| tti >= since + self.longest_idle)
    }

    /// Records the start of an idle time at `now` if no user has data to receive any more. Has no effect during an idle
    /// time.
    pub fn record_idle(&mut self, cells: &impl Cells, now: Time) {
        if !self.is_idle() && !cells.has_data() {
            self.idle_since = Some(self.numerology.first_from(now));
        }
    }

    /// Makes all comparisons of sites that are due up to TTI `tti`, and the changes of cells that result from them.
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

    /// Compares the sites for all moving users, and changes the cell of each user for whom event 1D occurs.
    fn compare(&self, cells: &mut impl Cells, ctx: &mut Context) {
        let (at, resumes) = (self.numerology.beginning(self.next), self.next + self.interruption);
        for &user in &self.users {
            if cells.compare(user, self.next) {
                cells.leave(ctx, at, user, resumes, self.data);
            }
        }
    }

    /// Assigns sleeping users to the cells that they receive best. The first call of an idle time also stores in `left`
    /// the cells in which the users were last served.
    fn reselect(&mut self, cells: &mut impl Cells) {
        let falls_asleep = self.left.is_empty();
        for &user in &self.users {
            if falls_asleep {
                self.left.push(cells.serving(user));
            }
            cells.reselect(user, self.next);
        }
    }

    /// Ends the idle time, if there is one, because a packet has arrived. Users who were assigned to other cells while
    /// they slept change to these cells now, and can be served there from TTI `next`.
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
