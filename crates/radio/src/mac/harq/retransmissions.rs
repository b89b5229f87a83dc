//! Failed blocks that go again in the order in which they failed: HARQ as the simple models have it.
//!
//! It differs in kind from the [processes](super::processes) of TS 25.321: there may be any number of blocks on
//! their way, a block does not belong to a process that is busy until its answer is there, and what was
//! given up is known at both ends.

use std::collections::VecDeque;

/// Blocks `B` that wait to be sent again.
#[derive(Debug)]
pub struct Retransmissions<B> {
    waiting: VecDeque<(u64, B)>,
    /// TTI number from which the first may go again; `u64::MAX` when none waits. It is asked for in every TTI.
    first_from: u64,
}

impl<B> Default for Retransmissions<B> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), first_from: u64::MAX }
    }
}

impl<B> Retransmissions<B> {
    /// A block has failed and may go again from TTI number `from` on, not before those that wait already.
    pub fn keep(&mut self, from: u64, block: B) {
        self.first_from = self.first_from.min(from);
        self.waiting.push_back((from, block));
    }

    /// TTI number from which a block may go again, if one waits.
    pub fn eligible(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.first_from)
    }

    /// Takes a block that may go again in TTI number `tti`.
    #[inline]
    pub fn take(&mut self, tti: u64) -> Option<B> {
        if self.first_from > tti {
            return None;
        }
        let block = self.waiting.pop_front().map(|(_, block)| block);
        self.first_from = self.front_from();
        block
    }

    fn front_from(&self) -> u64 {
        self.waiting.front().map_or(u64::MAX, |(from, _)| *from)
    }

    /// Forgets the blocks that are not `wanted`.
    pub fn retain(&mut self, wanted: impl Fn(&B) -> bool) {
        self.waiting.retain(|(_, block)| wanted(block));
        self.first_from = self.front_from();
    }

    /// Whether no block waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The blocks that wait.
    pub fn iter(&self) -> impl Iterator<Item = &B> {
        self.waiting.iter().map(|(_, block)| block)
    }
}
