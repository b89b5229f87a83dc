//! Blocks to the user, and the packets that they carry.

use std::collections::HashMap;

use nodeb_base::units::{Duration, Time};

use super::packets::NONE;

/// Not retransmitted.
const NEVER: Time = Time(u64::MAX);

/// Not recorded, for example discarded before the transfer began.
const FORGOTTEN: u32 = NONE - 1;

/// A range of bytes of the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub packet: u32,
    pub offset: u32,
    pub bytes: u32,
    /// An earlier block carried the same bytes.
    pub is_retransmission: bool,
}

/// One transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// In `Air::blocks`.
    pub number: u32,
    pub begin: Time,
    /// PDUs, octets or frames.
    pub units: u32,
    pub has_failed: bool,
    /// New units sent before it, or discarded at a change of cell.
    first: u64,
    /// A range of `Air::parts`.
    parts: (u32, u32),
    /// Previous transmission; [`NONE`] for the first, [`FORGOTTEN`] if it is not recorded.
    before: u32,
    /// Start of the next transmission.
    next: Time,
}

impl Block {
    pub fn is_retransmission(&self) -> bool {
        self.before != NONE
    }

    pub fn next(&self) -> Option<Time> {
        (self.next < NEVER).then_some(self.next)
    }
}

/// The blocks of one TTI, a range of [`Air::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub from: u32,
    to: u32,
    pub begin: Time,
}

/// Data waited because no block could be sent to the phone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absence {
    pub from: Time,
    pub until: Time,
    /// Set-up of a connection; else DRX.
    pub is_idle: bool,
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
    tti: Duration,
    /// In the order of time.
    pub blocks: Vec<Block>,
    parts: Vec<Part>,
    /// Last transmission of the blocks that may be retransmitted, by the bearer's number.
    latest: HashMap<u64, u32>,
    /// End of the part that was carried last, by packet; first transmissions are in order, so a later block with
    /// bytes before it is a retransmission.
    carried: Vec<u32>,
    /// A block carried bytes that an earlier one had carried.
    has_copies: bool,
    /// Carried for the first time or discarded at a change of cell.
    units: u64,
    /// In the order of time.
    pub states: Vec<(Time, u8)>,
    pub handovers: Vec<Time>,
    /// In the order of their beginnings.
    pub absences: Vec<Absence>,
    pub frames: Vec<Frame>,
}

impl Air {
    pub fn new(tti: Duration) -> Self {
        Self { tti, ..Self::default() }
    }

    /// Towards [`MAX_RECORDS`](super::MAX_RECORDS).
    pub fn records(&self) -> usize {
        self.blocks.len() + self.parts.len()
    }

    /// `transmission` counts from 1; `may_follow` if the block may be retransmitted.
    pub fn send(&mut self, begin: Time, block: u64, sent: (u32, u32, bool), may_follow: bool) {
        let (units, transmission, has_failed) = sent;
        let number = self.blocks.len() as u32;
        let (first, part) = (self.units, self.parts.len() as u32);
        let (before, parts) = if transmission == 1 {
            self.units += u64::from(units);
            (NONE, (part, part))
        } else {
            self.retransmit(begin, block)
        };
        if may_follow {
            self.latest.insert(block, number);
        }
        self.blocks.push(Block { number, begin, units, has_failed, first, parts, before, next: NEVER });
    }

    /// The previous transmission and its parts.
    #[inline(never)]
    fn retransmit(&mut self, begin: Time, block: u64) -> (u32, (u32, u32)) {
        match self.latest.remove(&block) {
            Some(last) => {
                let earlier = &mut self.blocks[last as usize];
                earlier.next = begin;
                (last, earlier.parts)
            }
            None => (FORGOTTEN, (0, 0)),
        }
    }

    /// Its failed transmission waits no longer.
    pub fn give_up(&mut self, block: u64) {
        self.latest.remove(&block);
    }

    /// By the block sent last.
    pub fn carry(&mut self, packet: u32, offset: u32, bytes: u32) {
        let Some(block) = self.blocks.last_mut() else {
            return;
        };
        let at = packet as usize;
        if at >= self.carried.len() {
            self.carried.resize(at + 1, 0);
        }
        let carried = &mut self.carried[at];
        let is_retransmission = offset + bytes <= *carried;
        self.has_copies |= offset < *carried;
        *carried = (*carried).max(offset + bytes);
        self.parts.push(Part { packet, offset, bytes, is_retransmission });
        block.parts.1 += 1;
    }

    /// Sent at `at`.
    pub fn frame(&mut self, at: Time, arrives: Time, units: u64) {
        let end = self.frames.last().map_or(0, |frame| frame.end) + units;
        self.frames.push(Frame { at, arrives, end });
    }

    /// Discarded units count as sent, so that the search for a later block's frame does not find a discarded
    /// one.
    pub fn hand_over(&mut self, at: Time) {
        self.handovers.push(at);
        let arrived = self.frames.iter().rev().find(|frame| frame.arrives <= at);
        self.units = self.units.max(arrived.map_or(0, |frame| frame.end));
        self.latest.clear();
    }

    /// Except failed blocks whose retransmission may still complete a packet; `new` renumbers packets, `None`
    /// discards.
    pub fn forget(&mut self, new: impl Fn(u32) -> Option<u32>) {
        let (blocks, parts) = (std::mem::take(&mut self.blocks), std::mem::take(&mut self.parts));
        let mut waiting: Vec<_> = self.latest.drain().map(|(block, number)| (number, block)).collect();
        waiting.sort_unstable();
        for (number, block) in waiting {
            let sent = blocks[number as usize];
            let from = self.parts.len() as u32;
            let renumbered = |part: &Part| Some(Part { packet: new(part.packet)?, ..*part });
            self.parts.extend(parts_of(&parts, &sent).iter().filter_map(renumbered));
            let to = self.parts.len() as u32;
            if sent.has_failed && to > from {
                let number = self.blocks.len() as u32;
                let before = if sent.is_retransmission() { FORGOTTEN } else { NONE };
                self.latest.insert(block, number);
                self.blocks.push(Block { number, before, parts: (from, to), ..sent });
            } else {
                self.parts.truncate(from as usize);
            }
        }
        self.carried.clear();
        self.absences.clear();
        let last = self.states.pop();
        self.states.clear();
        self.states.extend(last);
    }

    /// A bearer has retransmitted bytes in new blocks.
    pub fn has_copies(&self) -> bool {
        self.has_copies
    }

    /// In the first transmission.
    pub fn parts_of(&self, block: &Block) -> &[Part] {
        parts_of(&self.parts, block)
    }

    pub fn carries(&self, block: &Block, packet: u32) -> bool {
        self.parts_of(block).iter().any(|part| part.packet == packet)
    }

    /// `None` if the block is new or the transmission not recorded.
    pub fn transmission_before(&self, block: &Block) -> Option<&Block> {
        self.blocks.get(block.before as usize)
    }

    /// Begun before `time`.
    pub fn blocks_before(&self, time: Time) -> &[Block] {
        &self.blocks[..self.blocks.partition_point(|block| block.begin < time)]
    }

    /// First one that begins exactly at `time`.
    pub fn block_at(&self, time: Time) -> Option<&Block> {
        self.blocks.get(self.blocks_before(time).len()).filter(|block| block.begin == time)
    }

    /// Last one begun before `time` with a part of the packet, and ended after `ends_after`.
    pub fn last_before(&self, time: Time, ends_after: Time, packet: u32) -> Option<&Block> {
        let late = self.blocks_before(time).iter().rev();
        let mut late = late.take_while(|block| block.begin + self.tti > ends_after);
        late.find(|block| self.carries(block, packet))
    }

    /// In the order of transmission.
    pub fn blocks_of(&self, group: &Group) -> &[Block] {
        &self.blocks[group.from as usize..group.to as usize]
    }

    /// Last TTI begun before `time`.
    pub fn group_before(&self, time: Time) -> Option<Group> {
        last_group(self.blocks_before(time))
    }

    /// Last TTI before that of `group`.
    pub fn group_before_that(&self, group: &Group) -> Option<Group> {
        last_group(&self.blocks[..group.from as usize])
    }

    /// That brought the first new unit of a block, if recorded.
    pub fn frame_of(&self, block: u32) -> Option<Frame> {
        let units = self.blocks[block as usize].first;
        let at = self.frames.partition_point(|frame| frame.end <= units);
        self.frames.get(at).copied()
    }

    pub fn absence_before(&self, time: Time) -> Option<Absence> {
        let after = self.absences.partition_point(|absence| absence.from < time);
        self.absences[..after].last().copied()
    }

    /// Each TTI counts once.
    pub fn busy(&self, begun: Time, ended: Time) -> Duration {
        let mut until = begun;
        let mut busy = 0;
        for block in &self.blocks {
            let end = block.begin + self.tti;
            busy += end.min(ended).since(block.begin.max(until)).0;
            until = until.max(end);
        }
        Duration(busy)
    }

    /// With the state's start time.
    pub fn state_before(&self, time: Time) -> Option<(Time, u8)> {
        let after = self.states.partition_point(|(since, _)| *since < time);
        self.states[..after].last().copied()
    }
}

fn parts_of<'a>(parts: &'a [Part], block: &Block) -> &'a [Part] {
    &parts[block.parts.0 as usize..block.parts.1 as usize]
}

fn last_group(blocks: &[Block]) -> Option<Group> {
    let begin = blocks.last()?.begin;
    let alike = blocks.iter().rev().take_while(|block| block.begin == begin).count();
    Some(Group { from: (blocks.len() - alike) as u32, to: blocks.len() as u32, begin })
}

#[cfg(test)]
mod tests;
