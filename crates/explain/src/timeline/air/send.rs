//! What is kept of what a bearer tells: blocks, what they carry, frames, changes of cell.

use nodeb_base::blocks::Blocks;
use nodeb_base::units::{Duration, Time};

use super::super::packets::NONE;
use super::tx::{Attempt, FORGOTTEN, Tx};
use super::{Air, Cut, Frame, NEVER, Part, new_block};

impl Air {
    /// A block is sent, which may come again.
    pub fn send(
        &mut self,
        begin: Time,
        block: u64,
        units: u32,
        transmission: u32,
        failed: bool,
        comes_again: bool,
    ) {
        let is_repeat = transmission > 1;
        let before = if is_repeat { self.take_before(block, begin) } else { NONE };
        let first = if self.is_cut() { block } else { self.units };
        self.units += if is_repeat { 0 } else { u64::from(units) };
        if !self.is_cut() {
            self.carries.push(self.parts.len() as u32);
        }
        let tx = self.tx.len() as u32;
        if comes_again {
            if !self.is_cut() {
                self.latest.insert(block, self.attempts.len() as u32);
            }
            self.attempts.push(Attempt { block, units, tx, place: 0, before, again: NEVER });
        }
        let (failed, again) = (failed.into(), is_repeat.into());
        let blocks = Blocks { first, units, per_block: units, per_tti: 1, ttis: 1, failed, again };
        self.tx.push(Tx { begin, blocks, number: self.blocks(), repeats: before });
    }

    /// The transmission of a block before the one that begins now, which is told to that.
    fn take_before(&mut self, block: u64, begin: Time) -> u32 {
        let found = if self.is_cut() {
            // Those that were given up have been passed over.
            let waiting = self.attempts[self.waiting..].iter().position(|attempt| attempt.block == block);
            waiting.map(|place| (self.waiting + place) as u32)
        } else {
            self.latest.remove(&block)
        };
        let Some(before) = found else {
            return FORGOTTEN;
        };
        if self.is_cut() {
            self.waiting = before as usize + 1;
        }
        self.attempts[before as usize].again = begin;
        before
    }

    /// The block that failed last is given up: it is not sent again.
    pub fn give_up(&mut self, block: u64) {
        if self.is_cut() {
            self.attempts.pop_if(|last| last.block == block);
        }
    }

    /// All blocks of TTIs are sent.
    pub fn send_together(&mut self, begin: Time, blocks: &Blocks) {
        let after = self.join(begin, blocks).unwrap_or_else(|| {
            let (number, repeats) = (self.blocks(), self.waiting as u32);
            self.tx.push(Tx { begin, blocks: *blocks, number, repeats });
            0
        });
        let (number, tx) = (self.tx.len() as u32 - 1, &self.tx[self.tx.len() - 1]);
        // Counted instead of asked for: of the blocks before, how many go again.
        let mut again = tx.blocks.again_before(after);
        let mut left = blocks.failed | blocks.again;
        while left > 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let (place, mut before) = (after + bit, NONE);
            let new = new_block(&tx.blocks, place, again);
            let (mut block, mut units) = new;
            if blocks.is_again(bit) {
                before = tx.repeat(again);
                again += 1;
                if let Some(earlier) = self.attempts.get_mut(before as usize) {
                    self.waiting += 1;
                    earlier.again = tx.begin_of(place, self.tti);
                    (block, units) = (earlier.block, earlier.units);
                }
            }
            if blocks.has_failed(bit) {
                self.attempts.push(Attempt { block, units, tx: number, place, before, again: NEVER });
            }
        }
    }

    /// Joins blocks to those that were told last, if they follow them; the number of the first.
    fn join(&mut self, begin: Time, blocks: &Blocks) -> Option<u32> {
        let last = self.tx.last_mut()?;
        let goes_on = last.begin + Duration(self.tti.0 * u64::from(last.blocks.ttis)) == begin;
        let (count, has_repeats) = (last.blocks.count(), last.blocks.again > 0);
        if !goes_on || !last.blocks.join(blocks) {
            return None;
        }
        if !has_repeats {
            last.repeats = self.waiting as u32;
        }
        Some(count)
    }

    /// Blocks that have been sent, counted in a circle.
    fn blocks(&self) -> u32 {
        self.tx.last().map_or(0, |tx| tx.number.wrapping_add(tx.blocks.count()))
    }

    /// A packet is cut into units; which, if it is known.
    pub fn cut(&mut self, packet: Option<u32>, first: u64, end: u64) {
        self.is_cut = true;
        self.cuts.extend(packet.map(|packet| Cut { packet, first, end }));
    }

    /// The block that was sent last carries a part of a packet.
    pub fn carry(&mut self, packet: u32, offset: u32, bytes: u32) {
        if !self.tx.is_empty() {
            let carried = self.carried.entry(packet).or_default();
            let again = offset + bytes <= *carried;
            *carried = (*carried).max(offset + bytes);
            self.parts.push(Part { packet, offset, bytes, again });
        }
    }

    /// A frame is sent over the Iub.
    pub fn frame(&mut self, at: Time, arrives: Time, units: u64) {
        let end = self.frames.last().map_or(0, |frame| frame.end) + units;
        self.frames.push(Frame { at, arrives, end });
    }

    /// The user changes its cell: what the Node B held of it counts as sent.
    pub fn hand_over(&mut self, at: Time) {
        self.handovers.push(at);
        let arrived = self.frames.iter().rev().find(|frame| frame.arrives <= at);
        self.units = self.units.max(arrived.map_or(0, |frame| frame.end));
        self.latest.clear();
    }
}
