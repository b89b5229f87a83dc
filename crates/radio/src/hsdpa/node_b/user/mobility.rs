//! The cell that serves a user, and how it changes.

use super::User;
use crate::hsdpa::node_b::block::Block;

impl User {
    /// Whether it may come into another cell.
    pub fn moves(&mut self) -> bool {
        self.trigger.is_some() && self.channel.journey().is_some()
    }

    /// It compares the Node Bs in TTI number `tti`, unless a change is under way; whether its cell changes.
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

    /// It belongs to the cell that is received best in TTI number `tti`.
    pub fn reselect(&mut self, tti: u64) {
        if let (Some(trigger), Some(journey)) = (&mut self.trigger, self.channel.journey()) {
            trigger.forget();
            self.serving = journey.best(tti);
            journey.change(self.serving);
        }
    }

    /// Its cell has changed without a reset of MAC-hs.
    pub fn begin_blocks_again(&mut self) {
        self.processes.begin_again(self.resumes, Block::begin_again);
        self.reordering.delay_timer(self.resumes);
    }
}
