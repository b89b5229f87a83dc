//! Of the simple HARQ models: unlike the [processes](super::processes) of TS 25.321, any number of blocks may
//! be in flight, and both ends know which blocks were given up.

use std::collections::VecDeque;

#[derive(Debug)]
pub struct Retransmissions<B> {
    waiting: VecDeque<(u64, B)>,
    /// `u64::MAX` if no block waits; cached, as [`Self::take`] needs it in every TTI.
    first_from: u64,
}

impl<B> Default for Retransmissions<B> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), first_from: u64::MAX }
    }
}

impl<B> Retransmissions<B> {
    /// May be retransmitted from TTI `from` on.
    pub fn keep(&mut self, from: u64, block: B) {
        self.first_from = self.first_from.min(from);
        self.waiting.push_back((from, block));
    }

    /// First TTI for the first block.
    pub fn eligible(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.first_from)
    }

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

    pub fn retain(&mut self, wanted: impl Fn(&B) -> bool) {
        self.waiting.retain(|(_, block)| wanted(block));
        self.first_from = self.front_from();
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &B> {
        self.waiting.iter().map(|(_, block)| block)
    }
}
