//! Transmissions of a bearer that works in TTIs to the user, block by block, and changes of the user's channel.

mod ask;
mod send;
mod tx;

use std::collections::HashMap;

use nodeb_base::blocks::Blocks;
use nodeb_base::units::{Duration, Time};

use super::near::Near;
use tx::FORGOTTEN;

pub(crate) use tx::{Attempt, Block, Tx};

/// Time of a retransmission that does not happen.
const NEVER: Time = Time(u64::MAX);

/// Part of a packet that a block carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub packet: u32,
    pub offset: u32,
    pub bytes: u32,
    /// Whether an earlier block carried it.
    pub is_retransmission: bool,
}

/// Blocks of a TTI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Index of the first entry in the list of transmissions.
    pub from: u32,
    /// Index past the last entry.
    pub to: u32,
    pub begin: Time,
    /// Number of the TTI in its run.
    tti: u32,
}

/// Contents of a TTI.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Number of units sent for the first time.
    pub new: u64,
    /// Number of units retransmitted.
    pub retransmitted: u64,
    /// First block that is no retransmission.
    pub first_new: Option<Block>,
}

/// Units into which a packet is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    packet: u32,
    first: u64,
    end: u64,
}

/// Frame over the Iub.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub at: Time,
    pub arrives: Time,
    /// Number of units of the user up to the last one of the frame.
    pub end: u64,
}

/// Transmissions to the user over the air.
#[derive(Debug, Default)]
pub(crate) struct Air {
    /// Transmissions in the order of time.
    pub tx: Vec<Tx>,
    pub parts: Vec<Part>,
    /// Units into which packets are cut, in ascending order, if the bearer reports that.
    cuts: Vec<Cut>,
    /// Whether the bearer reports units of packets; see [`Self::is_cut`].
    is_cut: bool,
    /// Index of the first of the parts that each transmission carries; empty if packets are cut into units of their
    /// own.
    carries: Vec<u32>,
    /// Transmissions whose block may be retransmitted, in the order of time.
    attempts: Vec<Attempt>,
    /// If blocks are retransmitted in the order in which they failed: index of the first attempt that waits.
    waiting: usize,
    tti: Duration,
    /// States of the user with their start times.
    pub states: Vec<(Time, u8)>,
    pub handovers: Vec<Time>,
    pub frames: Vec<Frame>,
    /// Bytes of each packet carried so far; first transmissions are in order.
    carried: HashMap<u32, u32>,
    /// Last transmission of each block that may be retransmitted.
    latest: HashMap<u64, u32>,
    /// Number of units sent for the first time.
    units: u64,
    near_tx: Near,
    near_cut: Near,
    near_attempt: Near,
}

impl Air {
    /// Creates an empty record for TTIs of this length.
    pub fn new(tti: Duration) -> Self {
        Self { tti, ..Self::default() }
    }

    /// Returns true if the bearer reports the units into which it cuts packets, instead of the contents of each
    /// block.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Discards the transmissions, and the packets for which `new` returns no number; the others get new numbers.
    /// Failed blocks that wait for their retransmission in order are kept.
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
        let last = self.states.pop();
        self.states.clear();
        self.states.extend(last);
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.tx.len() + self.attempts.len() + self.parts.len()
    }
}

/// Returns the first unit of a new block and the number of its units. `retransmitted` of the blocks before it are
/// retransmissions.
fn new_block(blocks: &Blocks, place: u32, retransmitted: u32) -> (u64, u32) {
    let unit = blocks.first + u64::from(place - retransmitted) * u64::from(blocks.per_block);
    (unit, blocks.per_block.min((blocks.end() - unit) as u32))
}

#[cfg(test)]
mod tests;
