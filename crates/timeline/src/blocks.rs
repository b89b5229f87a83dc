//! Blocks by numbers of their own: bearers use theirs again, after a reset or in another channel.

use std::collections::HashMap;

use nodeb_base::units::Time;

use crate::codes::Outcome;

/// A block and what has become of it.
#[derive(Clone, Copy, Debug)]
pub struct BlockRow {
    /// Its number among all blocks of the run, from 1.
    pub block: u32,
    /// Whose it is.
    pub user: u32,
    /// Its number at the bearer.
    pub number: u64,
    /// When it was first sent.
    pub first: Time,
    /// When it was last sent.
    pub last: Time,
    /// How often it was sent.
    pub transmissions: u32,
    /// How often that failed.
    pub failed: u32,
    /// Units in it.
    pub units: u32,
    /// Bytes of packets in it.
    pub bytes: u32,
    /// What has become of it.
    pub outcome: Outcome,
}

/// A transmission of a block, as it is told.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub user: u32,
    pub number: u64,
    pub units: u32,
    pub transmission: u32,
    pub failed: bool,
}

/// Log of the blocks of a run.
#[derive(Debug, Default)]
pub struct BlockLog {
    /// The last block that bore a number at a bearer, of a user.
    known: HashMap<(u32, u64), u32>,
    /// How often each block of the run was sent again, kept or not.
    repeats: Vec<u32>,
    /// Those that are kept, in order of their numbers, of which some may be left out: blocks of several users are not
    /// told in order of time.
    pub rows: Vec<BlockRow>,
}

impl BlockLog {
    /// A block is sent; its number in the run. It is kept with `keep`, or where it has been.
    pub fn send(&mut self, sent: Sent, keep: bool) -> u32 {
        let key = (sent.user, sent.number);
        let again = if sent.transmission > 1 { self.known.get(&key).copied() } else { None };
        let block = again.unwrap_or_else(|| self.add(sent, keep));
        self.known.insert(key, block);
        if again.is_some() {
            self.repeats[block as usize - 1] += 1;
        }
        if let Some(row) = self.row(block) {
            row.last = sent.at;
            row.transmissions += 1;
            row.failed += u32::from(sent.failed);
            row.outcome = if sent.failed { Outcome::Failed } else { Outcome::Received };
        }
        block
    }

    /// The block that bears a number now; 0 if none does.
    pub fn number(&self, user: u32, number: u64) -> u32 {
        self.known.get(&(user, number)).copied().unwrap_or_default()
    }

    /// How often a block was sent again.
    pub fn repeats(&self, block: u32) -> u32 {
        block.checked_sub(1).and_then(|place| self.repeats.get(place as usize)).copied().unwrap_or_default()
    }

    /// A block carries so many bytes of a packet.
    pub fn load(&mut self, block: u32, bytes: u32) {
        if let Some(row) = self.row(block) {
            row.bytes += bytes;
        }
    }

    /// A block is given up.
    pub fn give_up(&mut self, block: u32) {
        if let Some(row) = self.row(block) {
            row.outcome = Outcome::GivenUp;
        }
    }

    /// Keeps none of those so far.
    pub fn forget(&mut self) {
        self.rows = Vec::new();
    }

    fn add(&mut self, sent: Sent, keep: bool) -> u32 {
        let Sent { at, user, number, units, .. } = sent;
        self.repeats.push(0);
        let block = self.repeats.len() as u32;
        if keep {
            let outcome = Outcome::Received;
            let (transmissions, failed, bytes) = (0, 0, 0);
            self.rows.push(BlockRow {
                block,
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
