use nodeb_base::Blocks;
use nodeb_base::units::{Duration, Time};

use super::super::NONE;

/// Adjacent TTIs with equally many blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tx {
    pub begin: Time,
    /// Units as the bearer reports them, else numbered from 0 for the user.
    pub blocks: Blocks,
    /// Sent before this run, modulo 2^32.
    pub(super) number: u32,
    /// Attempt that the run's first retransmission repeats; the next ones repeat those that follow.
    /// [`FORGOTTEN`] if not recorded.
    pub(super) retransmits: u32,
}

/// Not recorded, for example discarded before the transfer began.
pub(super) const FORGOTTEN: u32 = NONE - 1;

/// Of a block that may be retransmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// As the bearer reports it.
    pub block: u64,
    /// PDUs or frames.
    pub units: u32,
    /// In `Air::tx`, or [`FORGOTTEN`].
    pub tx: u32,
    /// In its run.
    pub place: u32,
    /// Previous attempt; [`NONE`] for a first transmission.
    pub before: u32,
    /// `Time(u64::MAX)` if there is none.
    pub next: Time,
}

/// With its position in a run ([`Tx`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// In `Air::tx`.
    pub tx: u32,
    /// In its run.
    pub(super) place: u32,
    pub begin: Time,
    /// First PDU or frame.
    pub(super) unit: u64,
    pub units: u32,
    /// Previous attempt; [`NONE`] for a first transmission.
    pub(super) before: u32,
}

impl Block {
    pub fn is_retransmission(&self) -> bool {
        self.before != NONE
    }
}

impl Tx {
    /// `time` is after the start of the run.
    pub(super) fn ttis_before(&self, time: Time, tti: Duration) -> u32 {
        match self.blocks.ttis {
            1 => 1,
            ttis => time.since(self.begin).0.div_ceil(tti.0).min(ttis.into()) as u32,
        }
    }

    pub(super) fn begin_of(&self, place: u32, tti: Duration) -> Time {
        let number = if self.blocks.ttis == 1 { 0 } else { place / self.blocks.per_tti };
        Time(self.begin.0 + u64::from(number) * tti.0)
    }

    /// [`NONE`] if the block is new.
    pub(super) fn before(&self, place: u32) -> u32 {
        if self.blocks.is_again(place) { self.retransmission(self.blocks.again_before(place)) } else { NONE }
    }

    /// `number` counts the retransmissions of the run.
    pub(super) fn retransmission(&self, number: u32) -> u32 {
        if self.retransmits == FORGOTTEN { FORGOTTEN } else { self.retransmits + number }
    }
}
