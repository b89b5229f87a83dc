//! Record of a bearer that works in TTIs: its transmissions to the user, block by block, and
//! changes of the user's channel state and cell.
//!
//! Units are PDUs or frames, as the bearer counts them. A packet is cut into units, and a block
//! carries one or more units.

mod ask;
mod send;
mod tx;

use std::collections::HashMap;

use nodeb_base::blocks::Blocks;
use nodeb_base::units::{Duration, Time};

use super::near::Near;
use tx::FORGOTTEN;

pub(crate) use tx::{Attempt, Block, Tx};

/// Value of [`Attempt::next`] if the block is not retransmitted.
const NEVER: Time = Time(u64::MAX);

/// Part of a packet that a block carries: a range of bytes of the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub packet: u32,
    pub offset: u32,
    pub bytes: u32,
    /// Whether an earlier block carried the same bytes.
    pub is_retransmission: bool,
}

/// All blocks of one TTI to the user, as a range of the list [`Air::tx`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Index of the first element of [`Air::tx`] with blocks of the TTI.
    pub from: u32,
    /// Index after the last element of [`Air::tx`] with blocks of the TTI.
    pub to: u32,
    pub begin: Time,
    /// Index of the TTI in its element of [`Air::tx`], from 0.
    tti: u32,
}

/// Contents of a TTI: the numbers of new and retransmitted units, and the first new block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Number of units that the TTI transmits for the first time.
    pub new: u64,
    /// Number of units that an earlier TTI had already transmitted.
    pub retransmitted: u64,
    /// First block of the TTI that is not a retransmission, or `None` if all blocks are
    /// retransmissions.
    pub first_new: Option<Block>,
}

/// Interval in which data waited because no block could be sent to the phone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absence {
    pub from: Time,
    pub until: Time,
    /// Whether the phone was idle and had to set up its connection. If false, it slept because of
    /// discontinuous reception.
    pub is_idle: bool,
}

/// Units into which a packet is cut: from `first` up to, but excluding, `end`.
#[derive(Clone, Copy, Debug)]
struct Cut {
    packet: u32,
    first: u64,
    end: u64,
}

/// Frame with data of the user that crosses the Iub from the RNC to the Node B.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub at: Time,
    pub arrives: Time,
    /// Number of units of the user in this frame and in all earlier frames together.
    pub end: u64,
}

/// Record of a bearer's transmissions to the user over the air.
#[derive(Debug, Default)]
pub(crate) struct Air {
    /// Transmitted blocks in the order of time. Each element has the blocks of one or several adjacent TTIs.
    pub tx: Vec<Tx>,
    pub parts: Vec<Part>,
    /// Units into which the flow's packets are cut, in ascending order; empty unless
    /// [`Self::is_cut`].
    cuts: Vec<Cut>,
    /// Whether the bearer reports the units into which it cuts packets, and not the contents of
    /// each block.
    is_cut: bool,
    /// For each element of `tx`, the index in `parts` of the first part that it carries; empty if
    /// [`Self::is_cut`].
    carries: Vec<u32>,
    /// Transmissions of blocks that may be retransmitted, in the order of time.
    attempts: Vec<Attempt>,
    /// Index in `attempts` of the first attempt whose retransmission has not begun. Used only for
    /// bearers with [`Self::is_cut`], which retransmit blocks in the order in which they failed; 0
    /// for others.
    waiting: usize,
    tti: Duration,
    /// Channel states of the user with their start times, in the order of time.
    pub states: Vec<(Time, u8)>,
    pub handovers: Vec<Time>,
    /// Intervals in which data waited because no block could be sent to the phone, in the order of their
    /// beginnings.
    pub absences: Vec<Absence>,
    pub frames: Vec<Frame>,
    /// Number of bytes of each packet, by packet number, that blocks have carried so far. As first
    /// transmissions are in order, a later block with these bytes is a retransmission.
    carried: HashMap<u32, u32>,
    /// Index of the last attempt of each block that may be retransmitted, by the block's number;
    /// empty if [`Self::is_cut`].
    latest: HashMap<u64, u32>,
    /// Number of units of the user that blocks have carried for the first time, or that were
    /// discarded at a change of cell. Used only without [`Self::is_cut`].
    units: u64,
    near_tx: Near,
    near_cut: Near,
    near_attempt: Near,
}

impl Air {
    /// Creates an empty record for TTIs of length `tti`.
    pub fn new(tti: Duration) -> Self {
        Self { tti, ..Self::default() }
    }

    /// Returns true if the bearer reports the units into which it cuts each packet, and not the
    /// contents of each block.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Discards all recorded transmissions. A bearer with [`Self::is_cut`] keeps the failed blocks
    /// that wait for retransmission. `new` returns the new number of a packet, or `None` for a
    /// packet that is discarded.
    pub fn forget(&mut self, new: impl Fn(u32) -> Option<u32>) {
        let renumbered = |cut: &Cut| new(cut.packet).map(|packet| Cut { packet, ..*cut });
        self.cuts = self.cuts.iter().filter_map(renumbered).collect();
        self.tx.clear();
        self.attempts.drain(..if self.is_cut() { self.waiting } else { self.attempts.len() });
        for attempt in &mut self.attempts {
            (attempt.tx, attempt.before) = (FORGOTTEN, FORGOTTEN);
        }
        self.waiting = 0;
        self.parts.clear();
        self.carries.clear();
        self.latest.clear();
        self.carried.clear();
        self.absences.clear();
        let last = self.states.pop();
        self.states.clear();
        self.states.extend(last);
    }

    /// Returns the number of records that count towards [`MAX_RECORDS`](super::MAX_RECORDS).
    pub fn records(&self) -> usize {
        self.tx.len() + self.attempts.len() + self.parts.len()
    }
}

/// Returns the first unit of a new block and the number of units in the block. `place` is the index of the
/// new block in `blocks`, and `retransmitted` the number of retransmissions before it in `blocks`.
fn new_block(blocks: &Blocks, place: u32, retransmitted: u32) -> (u64, u32) {
    let unit = blocks.first + u64::from(place - retransmitted) * u64::from(blocks.per_block);
    (unit, blocks.per_block.min((blocks.end() - unit) as u32))
}

#[cfg(test)]
mod tests;
