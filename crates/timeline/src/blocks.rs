//! The bearer's own numbers are not unique: two users may have the same, and a reset counts from 0 again.

use std::collections::HashMap;

use nodeb_base::units::Time;

use crate::codes::Outcome;

/// Row of [`BLOCKS`](crate::tables::BLOCKS).
#[derive(Clone, Copy, Debug)]
pub struct BlockRow {
    /// In the run, from 1.
    pub block: u32,
    /// Of all bearers, or of the uplinks.
    pub place: u16,
    /// Phone in the scenario.
    pub user: u32,
    /// The bearer's, which may be reused.
    pub number: u64,
    pub first: Time,
    pub last: Time,
    /// The first one included.
    pub transmissions: u32,
    /// Received in error.
    pub failed: u32,
    /// Octets if blocks are filled with octets.
    pub units: u32,
    /// Of packets.
    pub bytes: u32,
    /// After the last recorded transmission.
    pub outcome: Outcome,
}

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

#[derive(Debug, Default)]
pub struct BlockLog {
    /// In the run, by place, user and the bearer's number.
    latest: HashMap<(u16, u32, u64), u32>,
    /// Of each block of the run, even if not kept.
    retransmissions: Vec<u32>,
    pub rows: Vec<BlockRow>,
}

impl BlockLog {
    /// Number in the run; the row of a new block is kept if `keep`.
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

    /// Latest one, or 0.
    pub fn number(&self, place: u16, user: u32, number: u64) -> u32 {
        self.latest.get(&(place, user, number)).copied().unwrap_or_default()
    }

    /// 0 if `block` is 0.
    pub fn retransmissions(&self, block: u32) -> u32 {
        block
            .checked_sub(1)
            .and_then(|place| self.retransmissions.get(place as usize))
            .copied()
            .unwrap_or_default()
    }

    /// If the block's row is kept.
    pub fn carry(&mut self, block: u32, bytes: u32) {
        if let Some(row) = self.row(block) {
            row.bytes += bytes;
        }
    }

    /// If the block's row is kept.
    pub fn give_up(&mut self, block: u32) {
        if let Some(row) = self.row(block) {
            row.outcome = Outcome::GivenUp;
        }
    }

    /// Their numbers are not used again.
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
