//! Transmissions on the air: runs of blocks, that is, the blocks of adjacent TTIs, and attempts to transmit
//! one block.

use nodeb_base::blocks::Blocks;
use nodeb_base::units::{Duration, Time};

use super::super::NONE;

/// Run of blocks: blocks in adjacent TTIs, with the same number of blocks in each TTI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tx {
    pub begin: Time,
    /// Blocks of the run. Their units have the numbers that the bearer reports. If it reports no
    /// units of packets, the user's units are numbered from 0.
    pub blocks: Blocks,
    /// Number of blocks sent to the user before this run of blocks, modulo 2^32.
    pub(super) number: u32,
    /// Index of the failed attempt that the first retransmission in the run repeats; the next
    /// retransmissions repeat the attempts that follow it. [`FORGOTTEN`] if that attempt is not
    /// recorded.
    pub(super) retransmits: u32,
}

/// Index that stands for an attempt or run that is not recorded, for example because it was
/// discarded before the transfer began.
pub(super) const FORGOTTEN: u32 = NONE - 1;

/// Transmission of a block that may be retransmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// Number of the block, as the bearer reports it.
    pub block: u64,
    /// Number of PDUs or frames in the block.
    pub units: u32,
    /// Index in `Air::tx` of the run of blocks that contains the block; [`FORGOTTEN`] if that run was
    /// discarded.
    pub tx: u32,
    /// Index of the block in its run, from 0.
    pub place: u32,
    /// Index of the block's previous attempt; [`NONE`] for a first transmission, [`FORGOTTEN`] if
    /// that attempt is not recorded.
    pub before: u32,
    /// Start of the block's next transmission; `Time(u64::MAX)` if there is none.
    pub next: Time,
}

/// Transmission of one block, with its position in a run of blocks ([`Tx`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Index in `Air::tx` of the run of blocks that contains the block.
    pub tx: u32,
    /// Index of the block in its run, from 0.
    pub(super) place: u32,
    pub begin: Time,
    /// Number of the first unit (PDU or frame) that the block carries.
    pub(super) unit: u64,
    pub units: u32,
    /// Index of the block's previous attempt; [`NONE`] for a first transmission, [`FORGOTTEN`] if
    /// that attempt is not recorded.
    pub(super) before: u32,
}

impl Block {
    /// Returns true if the block had been transmitted before this transmission.
    pub fn is_retransmission(&self) -> bool {
        self.before != NONE
    }
}

impl Tx {
    /// Returns the number of TTIs of this run of blocks that begin before `time`, which must be
    /// after the start of the run.
    pub(super) fn ttis_before(&self, time: Time, tti: Duration) -> u32 {
        match self.blocks.ttis {
            1 => 1,
            ttis => time.since(self.begin).0.div_ceil(tti.0).min(ttis.into()) as u32,
        }
    }

    /// Returns the start of the TTI in which block number `place` of this run is sent.
    pub(super) fn begin_of(&self, place: u32, tti: Duration) -> Time {
        let number = if self.blocks.ttis == 1 { 0 } else { place / self.blocks.per_tti };
        Time(self.begin.0 + u64::from(number) * tti.0)
    }

    /// Returns the index of the attempt that block number `place` of this run retransmits, or
    /// [`NONE`] if the block is new.
    pub(super) fn before(&self, place: u32) -> u32 {
        if self.blocks.is_again(place) { self.retransmission(self.blocks.again_before(place)) } else { NONE }
    }

    /// Returns the index of the attempt that a retransmission of this run repeats. `number` counts
    /// the retransmissions of the run from 0.
    pub(super) fn retransmission(&self, number: u32) -> u32 {
        if self.retransmits == FORGOTTEN { FORGOTTEN } else { self.retransmits + number }
    }
}
