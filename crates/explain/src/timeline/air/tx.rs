//! Blocks on the air, told one by one or many together.

use nodeb_sim::units::{Duration, Time};

use super::NONE;

/// A block on the air, or new blocks alike that follow each other in one TTI, or in several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tx {
    pub begin: Time,
    /// Its first unit where the bearer tells into which units it cuts packets; else units of the user that were
    /// sent for the first time before it.
    pub unit: u64,
    /// In a TTI.
    pub units: u32,
    /// In a block.
    pub per_block: u32,
    /// In so many TTIs, one after the other.
    pub ttis: u32,
    /// Blocks that were sent before it; counts in a circle.
    pub(super) number: u32,
    /// Bit `n` says that block number `n` failed.
    pub(super) failed: u32,
    /// The transmission of the block before this one; [`NONE`] of the first, [`FORGOTTEN`] where that is not known.
    pub(super) before: u32,
}

/// The transmission before a repetition was sent so early that it is not kept.
pub(super) const FORGOTTEN: u32 = NONE - 1;

/// A block that has failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed {
    /// Its number, as the bearer tells it.
    pub block: u64,
    pub tx: u32,
    /// The transmission after this one.
    pub after: u32,
}

/// One block of those that are told together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Its place in the list.
    pub tx: u32,
    pub begin: Time,
    /// Its first unit.
    pub unit: u64,
}

impl Tx {
    /// Whether it was sent before.
    pub fn is_repeat(&self) -> bool {
        self.before != NONE
    }

    /// Blocks in a TTI.
    pub(super) fn blocks(&self) -> u32 {
        if self.per_block == self.units { 1 } else { self.units.div_ceil(self.per_block.max(1)).max(1) }
    }

    /// One past its last unit.
    pub(super) fn end(&self) -> u64 {
        self.unit + u64::from(self.units) * u64::from(self.ttis)
    }

    /// The number of a block in its TTI.
    pub(super) fn place(&self, unit: u64) -> u32 {
        ((unit - self.unit) / u64::from(self.per_block.max(1))) as u32
    }

    /// Whether block number `place` of its TTI failed; the later of many told together did not.
    pub fn has_failed(&self, place: u32) -> bool {
        self.failed.checked_shr(place).unwrap_or_default() & 1 == 1
    }

    /// Those of its TTIs that begin before `time`, which is after it began.
    pub(super) fn ttis_before(&self, time: Time, tti: Duration) -> u64 {
        if self.ttis == 1 { 1 } else { time.since(self.begin).0.div_ceil(tti.0).min(self.ttis.into()) }
    }

    /// The first block of its TTI number `tti`, each of which lasts for `length`.
    pub(super) fn first_of(&self, number: u32, tti: u64, length: Duration) -> Block {
        let begin = Time(self.begin.0 + tti * length.0);
        Block { tx: number, begin, unit: self.unit + tti * u64::from(self.units) }
    }
}
