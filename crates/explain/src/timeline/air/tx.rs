//! Blocks on the air, told one by one or many together.

use nodeb_base::blocks::Blocks;
use nodeb_base::units::{Duration, Time};

use super::super::NONE;

/// Blocks that follow each other in TTIs without a gap, as many in each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tx {
    pub begin: Time,
    /// Their units are those into which packets are cut where the bearer tells that; else the user's that were sent for
    /// the first time before them.
    pub blocks: Blocks,
    /// Blocks that were sent before it; counts in a circle.
    pub(super) number: u32,
    /// The transmission before that of the first of them which goes again, in the list of those that may be followed by
    /// another, where the others come after it; [`FORGOTTEN`] where it is not known.
    pub(super) repeats: u32,
}

/// What was sent before a repetition was sent so early that it is not kept.
pub(super) const FORGOTTEN: u32 = NONE - 1;

/// A transmission that may be followed by another of its block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// The block, as the bearer tells it.
    pub block: u64,
    /// Its units.
    pub units: u32,
    /// Where it was told; [`FORGOTTEN`] where that is not kept.
    pub tx: u32,
    /// Its number there.
    pub place: u32,
    /// The transmission before it, in the list of these.
    pub before: u32,
    /// When the next began; the end of time where none did.
    pub again: Time,
}

/// One block of those that are told together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Its place in the list.
    pub tx: u32,
    /// Its number there.
    pub(super) place: u32,
    pub begin: Time,
    /// Its first unit.
    pub(super) unit: u64,
    pub units: u32,
    /// The transmission before this one, in the list of those that may be followed by another; [`NONE`] of the first,
    /// [`FORGOTTEN`] where that is not known.
    pub(super) before: u32,
}

impl Block {
    /// Whether it was sent before.
    pub fn is_repeat(&self) -> bool {
        self.before != NONE
    }
}

impl Tx {
    /// Those of its TTIs that begin before `time`, which is after it began.
    pub(super) fn ttis_before(&self, time: Time, tti: Duration) -> u32 {
        match self.blocks.ttis {
            1 => 1,
            ttis => time.since(self.begin).0.div_ceil(tti.0).min(ttis.into()) as u32,
        }
    }

    /// When the TTI of block number `place` begins.
    pub(super) fn begin_of(&self, place: u32, tti: Duration) -> Time {
        let number = if self.blocks.ttis == 1 { 0 } else { place / self.blocks.per_tti };
        Time(self.begin.0 + u64::from(number) * tti.0)
    }

    /// Of those that go again, which transmission block number `place` follows.
    pub(super) fn before(&self, place: u32) -> u32 {
        if self.blocks.is_again(place) { self.repeat(self.blocks.again_before(place)) } else { NONE }
    }

    /// Which transmission number `number` of those follows that go again.
    pub(super) fn repeat(&self, number: u32) -> u32 {
        if self.repeats == FORGOTTEN { FORGOTTEN } else { self.repeats + number }
    }
}
