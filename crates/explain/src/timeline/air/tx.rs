//! Transmissions on the air, reported block by block or in runs.

use nodeb_base::blocks::Blocks;
use nodeb_base::units::{Duration, Time};

use super::super::NONE;

/// Run of blocks in adjacent TTIs, the same number in each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tx {
    pub begin: Time,
    /// Blocks of the run. Their units are those into which the bearer cuts packets, if it reports that, and otherwise
    /// counted from the user's first one.
    pub blocks: Blocks,
    /// Number of blocks sent before the run, modulo 2^32.
    pub(super) number: u32,
    /// Index of the attempt that the first retransmission of the run follows; those of the others come after it.
    /// [`FORGOTTEN`] if it is unknown.
    pub(super) retransmits: u32,
}

/// Index of an attempt that is so old that it was discarded.
pub(super) const FORGOTTEN: u32 = NONE - 1;

/// Transmission of a block that may be retransmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// Number of the block, as the bearer reports it.
    pub block: u64,
    /// Number of units.
    pub units: u32,
    /// Index of its run; [`FORGOTTEN`] if that was discarded.
    pub tx: u32,
    /// Number of the block in its run.
    pub place: u32,
    /// Index of the previous attempt.
    pub before: u32,
    /// Start of the next transmission; the end of time if there is none.
    pub next: Time,
}

/// Transmission of one block of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Index of its run.
    pub tx: u32,
    /// Number of the block in its run.
    pub(super) place: u32,
    pub begin: Time,
    /// First unit.
    pub(super) unit: u64,
    pub units: u32,
    /// Index of the previous attempt; [`NONE`] for a first transmission, [`FORGOTTEN`] if it is unknown.
    pub(super) before: u32,
}

impl Block {
    /// Returns true if the block was sent before.
    pub fn is_retransmission(&self) -> bool {
        self.before != NONE
    }
}

impl Tx {
    /// Returns the number of TTIs of the run that begin before `time`, which is after the start of the run.
    pub(super) fn ttis_before(&self, time: Time, tti: Duration) -> u32 {
        match self.blocks.ttis {
            1 => 1,
            ttis => time.since(self.begin).0.div_ceil(tti.0).min(ttis.into()) as u32,
        }
    }

    /// Returns the start of the TTI of block number `place`.
    pub(super) fn begin_of(&self, place: u32, tti: Duration) -> Time {
        let number = if self.blocks.ttis == 1 { 0 } else { place / self.blocks.per_tti };
        Time(self.begin.0 + u64::from(number) * tti.0)
    }

    /// Returns the index of the attempt that block number `place` follows, or [`NONE`] if it is new.
    pub(super) fn before(&self, place: u32) -> u32 {
        if self.blocks.is_again(place) { self.retransmission(self.blocks.again_before(place)) } else { NONE }
    }

    /// Returns the index of the attempt that retransmission number `number` of the run follows.
    pub(super) fn retransmission(&self, number: u32) -> u32 {
        if self.retransmits == FORGOTTEN { FORGOTTEN } else { self.retransmits + number }
    }
}
