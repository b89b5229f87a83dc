//! Serving cell of a user, and changes of this cell.

use super::User;
use crate::hsdpa::node_b::transmission::Block;

impl User {
    /// Returns true if handover is configured and the user moves, so that it may change to another
    /// cell.
    pub fn moves(&mut self) -> bool {
        self.trigger.is_some() && self.channel.journey().is_some()
    }

    /// Compares the Node Bs in TTI `tti`, unless the user is still interrupted by an earlier change
    /// of cell. Returns true if the user changes its cell now.
    pub fn compare(&mut self, tti: u64) -> bool {
        if tti >= self.resumes
            && let (Some(trigger), Some(journey)) = (&mut self.trigger, self.channel.journey())
            && let Some(site) = trigger.compare(tti, journey)
        {
            journey.change(site);
            self.serving = site;
            return true;
        }
        false
    }

    /// Assigns the user to the cell that it receives best in TTI `tti`, without an interruption.
    pub fn reselect(&mut self, tti: u64) {
        if let (Some(trigger), Some(journey)) = (&mut self.trigger, self.channel.journey()) {
            trigger.forget();
            self.serving = journey.best(tti);
            journey.change(self.serving);
        }
    }

    /// Continues the blocks and the timer T1 of the user in its new cell from the TTI in field
    /// `resumes`, without a reset of MAC-hs.
    pub fn continue_blocks(&mut self) {
        self.processes.change_cell(self.resumes, Block::restart);
        self.reordering.delay_timer(self.resumes);
    }
}
