use nodeb_base::Blocks;
use nodeb_base::units::{Duration, Time};

use super::super::packets::NONE;
use super::tx::{Attempt, FORGOTTEN, Tx};
use super::{Absence, Air, Cut, Frame, NEVER, Part, new_block};

impl Air {
    /// `transmission` counts from 1; `may_follow` if the block may be retransmitted.
    pub fn send(
        &mut self,
        begin: Time,
        block: u64,
        units: u32,
        transmission: u32,
        failed: bool,
        may_follow: bool,
    ) {
        let is_retransmission = transmission > 1;
        let before = if is_retransmission { self.take_before(block, begin) } else { NONE };
        let first = if self.is_cut() { block } else { self.units };
        self.units += if is_retransmission { 0 } else { u64::from(units) };
        if !self.is_cut() {
            self.carries.push(self.parts.len() as u32);
        }
        let tx = self.tx.len() as u32;
        if may_follow {
            if !self.is_cut() {
                self.latest.insert(block, self.attempts.len() as u32);
            }
            self.attempts.push(Attempt { block, units, tx, place: 0, before, next: NEVER });
        }
        let (failed, again) = (failed.into(), is_retransmission.into());
        let blocks = Blocks { first, units, per_block: units, per_tti: 1, ttis: 1, failed, again };
        self.tx.push(Tx { begin, blocks, number: self.blocks(), retransmits: before });
    }

    /// Records that the retransmission begins at `begin`; [`FORGOTTEN`] if the previous attempt is not
    /// recorded.
    fn take_before(&mut self, block: u64, begin: Time) -> u32 {
        let found = if self.is_cut() {
            // Blocks are retransmitted in the order in which they failed. So earlier attempts that
            // still wait belong to blocks that were given up, and are skipped.
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
        self.attempts[before as usize].next = begin;
        before
    }

    /// Its failed attempt waits no longer; only bearers with [`Self::is_cut`] need this.
    pub fn give_up(&mut self, block: u64) {
        if self.is_cut() {
            self.attempts.pop_if(|last| last.block == block);
        }
    }

    /// Consecutive TTIs from `begin` on.
    pub fn send_run(&mut self, begin: Time, blocks: &Blocks) {
        let after = self.join(begin, blocks).unwrap_or_else(|| {
            let (number, retransmits) = (self.blocks(), self.waiting as u32);
            self.tx.push(Tx { begin, blocks: *blocks, number, retransmits });
            0
        });
        let (number, tx) = (self.tx.len() as u32 - 1, &self.tx[self.tx.len() - 1]);
        // Number of retransmissions among the blocks before the current one; the loop updates it.
        let mut again = tx.blocks.again_before(after);
        let mut left = blocks.failed | blocks.again;
        while left > 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let (place, mut before) = (after + bit, NONE);
            let new = new_block(&tx.blocks, place, again);
            let (mut block, mut units) = new;
            if blocks.is_again(bit) {
                before = tx.retransmission(again);
                again += 1;
                if let Some(earlier) = self.attempts.get_mut(before as usize) {
                    self.waiting += 1;
                    earlier.next = tx.begin_of(place, self.tti);
                    (block, units) = (earlier.block, earlier.units);
                }
            }
            if blocks.has_failed(bit) {
                self.attempts.push(Attempt { block, units, tx: number, place, before, next: NEVER });
            }
        }
    }

    /// If they follow the last element without a gap and can be joined; index of the first one there.
    fn join(&mut self, begin: Time, blocks: &Blocks) -> Option<u32> {
        let last = self.tx.last_mut()?;
        let goes_on = last.begin + Duration(self.tti.0 * u64::from(last.blocks.ttis)) == begin;
        let (count, has_retransmissions) = (last.blocks.count(), last.blocks.again > 0);
        if !goes_on || !last.blocks.join(blocks) {
            return None;
        }
        if !has_retransmissions {
            last.retransmits = self.waiting as u32;
        }
        Some(count)
    }

    /// Modulo 2^32.
    fn blocks(&self) -> u32 {
        self.tx.last().map_or(0, |tx| tx.number.wrapping_add(tx.blocks.count()))
    }

    /// Without `end`; `None` for a packet of another flow, which is not recorded.
    pub fn cut(&mut self, packet: Option<u32>, first: u64, end: u64) {
        self.is_cut = true;
        self.cuts.extend(packet.map(|packet| Cut { packet, first, end }));
    }

    /// The block sent last.
    pub fn carry(&mut self, packet: u32, offset: u32, bytes: u32) {
        if !self.tx.is_empty() {
            let carried = self.carried.entry(packet).or_default();
            let is_retransmission = offset + bytes <= *carried;
            *carried = (*carried).max(offset + bytes);
            self.parts.push(Part { packet, offset, bytes, is_retransmission });
        }
    }

    /// Sent at `at`.
    pub fn frame(&mut self, at: Time, arrives: Time, units: u64) {
        let end = self.frames.last().map_or(0, |frame| frame.end) + units;
        self.frames.push(Frame { at, arrives, end });
    }

    pub fn absent(&mut self, absence: Absence) {
        self.absences.push(absence);
    }

    pub fn absence_before(&self, time: Time) -> Option<Absence> {
        let found = self.absences.partition_point(|absence| absence.from < time).checked_sub(1);
        found.map(|at| self.absences[at])
    }

    /// Discarded units count as sent, so that the search for a later block's frame does not find a discarded
    /// one.
    pub fn hand_over(&mut self, at: Time) {
        self.handovers.push(at);
        let arrived = self.frames.iter().rev().find(|frame| frame.arrives <= at);
        self.units = self.units.max(arrived.map_or(0, |frame| frame.end));
        self.latest.clear();
    }
}
