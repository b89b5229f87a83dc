//! Blocks with numbers that are unique in the run. The bearer's own numbers are not unique: blocks of two users
//! may have the same number, and a reset makes the bearer count from 0 again.

use std::collections::HashMap;

use nodeb_base::units::Time;

use crate::codes::Outcome;

/// Row of [`BLOCKS`](crate::tables::BLOCKS): a block of a bearer, with its transmissions and outcome.
#[derive(Clone, Copy, Debug)]
pub struct BlockRow {
    /// Number of the block among all blocks of the run, from 1.
    pub block: u32,
    /// Number of the place that carries the block: that of all bearers, or of the uplinks.
    pub place: u16,
    /// Number in the scenario of the phone to which, or by which, the block was sent.
    pub user: u32,
    /// Number that the bearer gave the block, which may be reused.
    pub number: u64,
    /// Time at which the block was first transmitted.
    pub first: Time,
    /// Time at which the block was last transmitted.
    pub last: Time,
    /// Number of transmissions of the block, the first one included.
    pub transmissions: u32,
    /// Number of transmissions of the block that were received in error.
    pub failed: u32,
    /// Number of PDUs in the block, or octets if blocks are filled with octets.
    pub units: u32,
    /// Number of bytes of packets that the block carries.
    pub bytes: u32,
    /// Outcome of the block after its last recorded transmission.
    pub outcome: Outcome,
}

/// Transmission of a block, as an event reported it.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub place: u16,
    pub user: u32,
    pub number: u64,
    pub units: u32,
    pub transmission: u32,
    pub failed: bool,
}

/// Log of the blocks of a run, which gives each block a number.
#[derive(Debug, Default)]
pub struct BlockLog {
    /// Number in the run of the latest block, by place, user and the number that the bearer gave the
    /// block.
    latest: HashMap<(u16, u32, u64), u32>,
    /// Number of retransmissions of each block of the run, including blocks that are not kept.
    retransmissions: Vec<u32>,
    /// Rows of the blocks that are kept, in the order of their numbers.
    pub rows: Vec<BlockRow>,
}

impl BlockLog {
    /// Records a transmission of a block and returns the block's number in the run, from 1. The row of a new
    /// block is kept if `keep` is true.
    pub fn send(&mut self, sent: Sent, keep: bool) -> u32 {
        let key = (sent.place, sent.user, sent.number);
        let earlier = if sent.transmission > 1 { self.latest.get(&key).copied() } else { None };
        let block = earlier.unwrap_or_else(|| self.add(sent, keep));
        self.latest.insert(key, block);
        if earlier.is_some() {
            self.retransmissions[block as usize - 1] += 1;
        }
        if let Some(row) = self.row(block) {
            row.last = sent.at;
            row.transmissions += 1;
            row.failed += u32::from(sent.failed);
            row.outcome = if sent.failed { Outcome::Failed } else { Outcome::Received };
        }
        block
    }

    /// Returns the number in the run of the latest block of `user` at `place` to which the bearer gave the
    /// number `number`, or 0 if there is none.
    pub fn number(&self, place: u16, user: u32, number: u64) -> u32 {
        self.latest.get(&(place, user, number)).copied().unwrap_or_default()
    }

    /// Returns the number of retransmissions of the block with number `block` in the run. Returns 0 if
    /// `block` is 0, which stands for no block.
    pub fn retransmissions(&self, block: u32) -> u32 {
        block
            .checked_sub(1)
            .and_then(|place| self.retransmissions.get(place as usize))
            .copied()
            .unwrap_or_default()
    }

    /// Adds the bytes of a part of a packet to the block that carries the part, if the row of the
    /// block is kept.
    pub fn carry(&mut self, block: u32, bytes: u32) {
        if let Some(row) = self.row(block) {
            row.bytes += bytes;
        }
    }

    /// Records that the bearer gave up a block after a failed transmission, if the row of the block is kept.
    pub fn give_up(&mut self, block: u32) {
        if let Some(row) = self.row(block) {
            row.outcome = Outcome::GivenUp;
        }
    }

    /// Discards the rows kept so far. The numbers of their blocks are not used again.
    pub fn forget(&mut self) {
        self.rows = Vec::new();
    }

    fn add(&mut self, sent: Sent, keep: bool) -> u32 {
        let Sent { at, place, user, number, units, .. } = sent;
        self.retransmissions.push(0);
        let block = self.retransmissions.len() as u32;
        if keep {
            let outcome = Outcome::Received;
            let (transmissions, failed, bytes) = (0, 0, 0);
            self.rows.push(BlockRow {
                block,
                place,
                user,
                number,
                first: at,
                last: at,
                transmissions,
                failed,
                units,
                bytes,
                outcome,
            });
        }
        block
    }

    fn row(&mut self, block: u32) -> Option<&mut BlockRow> {
        let place = self.rows.binary_search_by_key(&block, |row| row.block).ok()?;
        self.rows.get_mut(place)
    }
}
