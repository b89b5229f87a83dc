//! Queue of failed blocks of the simple HARQ models, which retransmit blocks in the order in which
//! they failed.
//!
//! These models differ from the [processes](super::processes) of TS 25.321: any number of blocks
//! may be in flight, there are no processes that are busy until their answers are known, and both
//! ends know which blocks were given up.

use std::collections::VecDeque;

/// Queue of blocks of type `B` that wait for retransmission.
#[derive(Debug)]
pub struct Retransmissions<B> {
    waiting: VecDeque<(u64, B)>,
    /// First TTI in which the first block of the queue may be retransmitted; `u64::MAX` if no block
    /// waits. Cached, as [`Self::take`] needs it in every TTI.
    first_from: u64,
}

impl<B> Default for Retransmissions<B> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), first_from: u64::MAX }
    }
}

impl<B> Retransmissions<B> {
    /// Appends a failed block to the queue. It may be retransmitted from TTI `from` on.
    pub fn keep(&mut self, from: u64, block: B) {
        self.first_from = self.first_from.min(from);
        self.waiting.push_back((from, block));
    }

    /// Returns the first TTI in which the first block of the queue may be retransmitted, or `None`
    /// if no block waits.
    pub fn eligible(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.first_from)
    }

    /// Removes and returns the first block if it may be retransmitted in TTI `tti`, else returns
    /// `None`.
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

    /// Keeps only the blocks for which `wanted` returns true, and discards all others.
    pub fn retain(&mut self, wanted: impl Fn(&B) -> bool) {
        self.waiting.retain(|(_, block)| wanted(block));
        self.first_from = self.front_from();
    }

    /// Returns true if no block waits for retransmission.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns an iterator over the blocks that wait for retransmission, in the order in which they
    /// failed.
    pub fn iter(&self) -> impl Iterator<Item = &B> {
        self.waiting.iter().map(|(_, block)| block)
    }
}
