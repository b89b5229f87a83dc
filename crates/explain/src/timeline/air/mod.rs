//! What a bearer that works in TTIs sent to the user, block by block, and what happened to its channel.

mod ask;
mod send;
mod tx;

use std::collections::HashMap;

use nodeb_base::blocks::Blocks;
use nodeb_base::units::{Duration, Time};

use super::near::Near;
use tx::FORGOTTEN;

pub(crate) use tx::{Attempt, Block, Tx};

/// When a block goes again that never does.
const NEVER: Time = Time(u64::MAX);

/// A part of a packet that a block carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub packet: u32,
    pub offset: u32,
    pub bytes: u32,
    /// Whether another block had carried it before.
    pub again: bool,
}

/// The blocks of a TTI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Their places in the list.
    pub from: u32,
    pub to: u32,
    pub begin: Time,
    /// Which TTI it is of those that were told together.
    tti: u32,
}

/// What is sent in a TTI.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Units that are sent for the first time, and those that go again.
    pub new: u64,
    pub again: u64,
    /// The first block that carries anything new.
    pub first_new: Option<Block>,
}

/// The units into which a packet is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    packet: u32,
    first: u64,
    end: u64,
}

/// A frame over the Iub.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub at: Time,
    pub arrives: Time,
    /// Units of the user up to its last.
    pub end: u64,
}

/// What was sent to the user over the air.
#[derive(Debug, Default)]
pub(crate) struct Air {
    /// In order of time.
    pub tx: Vec<Tx>,
    pub parts: Vec<Part>,
    /// Into which units packets are cut, in order of the units, where the bearer tells that.
    cuts: Vec<Cut>,
    is_cut: bool,
    /// Of each transmission, where the parts begin that it carries; empty where packets are cut into units of their own.
    carries: Vec<u32>,
    /// Transmissions that may be followed by another of their block, in order.
    attempts: Vec<Attempt>,
    /// Where only blocks that have failed come again, in the order in which they failed: the first that may.
    waiting: usize,
    tti: Duration,
    /// The user's states, since when.
    pub states: Vec<(Time, u8)>,
    pub handovers: Vec<Time>,
    pub frames: Vec<Frame>,
    /// Bytes of each packet that blocks have carried: first transmissions come in order.
    carried: HashMap<u32, u32>,
    /// The last transmission of each block that may come again.
    latest: HashMap<u64, u32>,
    /// Units sent for the first time.
    units: u64,
    near_tx: Near,
    near_cut: Near,
    near_attempt: Near,
}

impl Air {
    /// Nothing has been sent, in TTIs of this length.
    pub fn new(tti: Duration) -> Self {
        Self { tti, ..Self::default() }
    }

    /// Whether the bearer tells into which units it cuts packets, and not what each block carries.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Forgets the blocks that have been sent, and the packets that are not known any more; the others have new
    /// numbers. Blocks that wait to go again in their order are still known.
    pub fn forget(&mut self, known: impl Fn(u32) -> Option<u32>) {
        let renumbered = |cut: &Cut| known(cut.packet).map(|packet| Cut { packet, ..*cut });
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

    /// How many records are kept.
    pub fn records(&self) -> usize {
        self.tx.len() + self.attempts.len() + self.parts.len()
    }
}

/// The first unit of a new block, and how many it has; `again` blocks before it go again.
fn new_block(blocks: &Blocks, place: u32, again: u32) -> (u64, u32) {
    let unit = blocks.first + u64::from(place - again) * u64::from(blocks.per_block);
    (unit, blocks.per_block.min((blocks.end() - unit) as u32))
}

#[cfg(test)]
mod tests;
