//! Failed blocks that go again in the order in which they failed: HARQ as the simple models have it.
//!
//! It differs in kind from the [processes](super::processes) of TS 25.321: there may be any number of blocks on
//! their way, a block does not belong to a process that is busy until its answer is there, and what was
//! given up is known at both ends.

use std::collections::VecDeque;

/// Blocks `B` that wait to be sent again.
#[derive(Debug)]
pub struct Repetitions<B>(VecDeque<(u64, B)>);

impl<B> Default for Repetitions<B> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<B> Repetitions<B> {
    /// A block has failed and may go again from TTI number `from` on, not before those that wait already.
    pub fn keep(&mut self, from: u64, block: B) {
        self.0.push_back((from, block));
    }

    /// TTI number from which a block may go again, if one waits.
    pub fn eligible(&self) -> Option<u64> {
        self.0.front().map(|(from, _)| *from)
    }

    /// Takes a block that may go again in TTI number `tti`.
    pub fn take(&mut self, tti: u64) -> Option<B> {
        self.eligible().filter(|from| *from <= tti)?;
        self.0.pop_front().map(|(_, block)| block)
    }

    /// Forgets the blocks that are not `wanted`.
    pub fn retain(&mut self, wanted: impl Fn(&B) -> bool) {
        self.0.retain(|(_, block)| wanted(block));
    }

    /// Whether no block waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The blocks that wait.
    pub fn iter(&self) -> impl Iterator<Item = &B> {
        self.0.iter().map(|(_, block)| block)
    }
}
