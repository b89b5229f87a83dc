//! Units are PDUs or frames, as the bearer counts them: a packet is cut into units, and a block carries one
//! or more.

mod ask;
mod send;
mod tx;

use std::collections::HashMap;

use nodeb_base::Blocks;
use nodeb_base::units::{Duration, Time};

use super::near::Near;
use tx::FORGOTTEN;

pub(crate) use tx::{Attempt, Block, Tx};

/// Not retransmitted.
const NEVER: Time = Time(u64::MAX);

/// A range of bytes of the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub packet: u32,
    pub offset: u32,
    pub bytes: u32,
    /// An earlier block carried the same bytes.
    pub is_retransmission: bool,
}

/// A range of [`Air::tx`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub from: u32,
    pub to: u32,
    pub begin: Time,
    /// In its element of [`Air::tx`].
    tti: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Units sent for the first time.
    pub new: u64,
    /// Units sent before.
    pub retransmitted: u64,
    /// `None` if all are retransmissions.
    pub first_new: Option<Block>,
}

/// Data waited because no block could be sent to the phone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absence {
    pub from: Time,
    pub until: Time,
    /// Set-up of a connection; else DRX.
    pub is_idle: bool,
}

/// From `first` up to, but excluding, `end`.
#[derive(Clone, Copy, Debug)]
struct Cut {
    packet: u32,
    first: u64,
    end: u64,
}

/// From the RNC to the Node B.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub at: Time,
    pub arrives: Time,
    /// Units in this and all earlier frames.
    pub end: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Air {
    /// In the order of time, each with one or several adjacent TTIs.
    pub tx: Vec<Tx>,
    pub parts: Vec<Part>,
    /// In ascending order; empty unless [`Self::is_cut`].
    cuts: Vec<Cut>,
    /// The bearer reports the units into which it cuts packets, not the contents of each block.
    is_cut: bool,
    /// By element of `tx`, the index in `parts` of its first part; empty if [`Self::is_cut`].
    carries: Vec<u32>,
    /// Of blocks that may be retransmitted, in the order of time.
    attempts: Vec<Attempt>,
    /// First of `attempts` whose retransmission has not begun; with [`Self::is_cut`] blocks are retransmitted
    /// in the order of failure, else 0.
    waiting: usize,
    tti: Duration,
    /// In the order of time.
    pub states: Vec<(Time, u8)>,
    pub handovers: Vec<Time>,
    /// In the order of their beginnings.
    pub absences: Vec<Absence>,
    pub frames: Vec<Frame>,
    /// By packet; as first transmissions are in order, a later block with these bytes is a retransmission.
    carried: HashMap<u32, u32>,
    /// Last attempt by block; empty if [`Self::is_cut`].
    latest: HashMap<u64, u32>,
    /// Carried for the first time or discarded at a change of cell; only without [`Self::is_cut`].
    units: u64,
    near_tx: Near,
    near_cut: Near,
    near_attempt: Near,
}

impl Air {
    pub fn new(tti: Duration) -> Self {
        Self { tti, ..Self::default() }
    }

    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// With [`Self::is_cut`], failed blocks that wait for retransmission are kept; `new` renumbers packets,
    /// `None` discards.
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

    /// Towards [`MAX_RECORDS`](super::MAX_RECORDS).
    pub fn records(&self) -> usize {
        self.tx.len() + self.attempts.len() + self.parts.len()
    }
}

/// First unit and units; `retransmitted` blocks precede it in `blocks`.
fn new_block(blocks: &Blocks, place: u32, retransmitted: u32) -> (u64, u32) {
    let unit = blocks.first + u64::from(place - retransmitted) * u64::from(blocks.per_block);
    (unit, blocks.per_block.min((blocks.end() - unit) as u32))
}

#[cfg(test)]
mod tests;
