//! What a bearer that works in TTIs sent to the user, block by block, and what happened to its channel.

mod tx;

use std::collections::HashMap;

use nodeb_sim::units::{Duration, Time};

use super::near::Near;
use super::packets::NONE;
pub(crate) use tx::{Block, Tx};
use tx::{FORGOTTEN, Failed};

/// A part of a packet that a block carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub packet: u32,
    pub offset: u32,
    pub bytes: u32,
    /// Whether another block had carried it before.
    pub again: bool,
}

/// New blocks that are told together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub unit: u64,
    pub units: u32,
    pub per_block: u32,
    pub ttis: u32,
    /// Bit `n` says that block number `n` failed.
    pub failed: u32,
}

/// The blocks of a TTI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Their places in the list.
    pub from: u32,
    pub to: u32,
    pub begin: Time,
    /// Which TTI it is of those that were told together.
    tti: u64,
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
    /// Of each transmission, where the parts begin that it carries; of those that follow them, nothing.
    carries: Vec<u32>,
    /// Blocks that failed, in order.
    failed: Vec<Failed>,
    /// Where only blocks that have failed come again, in the order in which they failed: the first that may.
    waiting: usize,
    tti: Duration,
    /// The user's states, since when.
    pub states: Vec<(Time, u8)>,
    pub handovers: Vec<Time>,
    pub frames: Vec<Frame>,
    /// Bytes of each packet that blocks have carried: first transmissions come in order.
    carried: HashMap<u32, u32>,
    /// The last transmission of each block that may come again, and its place among those that failed.
    latest: HashMap<u64, (u32, u32)>,
    /// Units sent for the first time.
    units: u64,
    near_tx: Near,
    near_cut: Near,
    near_failed: Near,
}

impl Air {
    /// Nothing has been sent, in TTIs of this length.
    pub fn new(tti: Duration) -> Self {
        Self { tti, ..Self::default() }
    }

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
        let before = if is_repeat { self.take_before(block) } else { NONE };
        let place = self.failed.len() as u32;
        if comes_again && !self.is_cut() {
            self.latest.insert(block, (self.tx.len() as u32, if failed { place } else { NONE }));
        }
        let unit = if self.is_cut() { block } else { self.units };
        self.units += if is_repeat { 0 } else { u64::from(units) };
        if !self.is_cut() {
            self.carries.push(self.parts.len() as u32);
        }
        if failed {
            self.failed.push(Failed { block, tx: self.tx.len() as u32, after: NONE });
        }
        let (number, failed) = (self.blocks(), failed.into());
        self.tx.push(Tx { begin, unit, units, per_block: units, ttis: 1, number, failed, before });
    }

    /// The transmission of a block before the one that is sent now, which is told to that.
    fn take_before(&mut self, block: u64) -> u32 {
        let number = self.tx.len() as u32;
        let found = if self.is_cut() {
            let waiting = &self.failed[self.waiting..];
            // Those that were given up have been passed over.
            let place = waiting.iter().position(|failed| failed.block == block);
            place.map(|place| (waiting[place].tx, (self.waiting + place) as u32))
        } else {
            self.latest.remove(&block)
        };
        let Some((before, place)) = found else {
            return FORGOTTEN;
        };
        if self.is_cut() {
            self.waiting = place as usize + 1;
        }
        if let Some(failed) = self.failed.get_mut(place as usize) {
            failed.after = number;
        }
        before
    }

    /// New blocks of `per_block` units, from number `unit` on, are sent in `ttis` TTIs; where bits of `failed` are set
    /// those blocks of the only TTI fail.
    pub fn send_run(&mut self, begin: Time, run: Run) {
        let Run { unit, units, per_block, ttis, failed } = run;
        let mut left = failed;
        while left > 0 {
            let block = unit + u64::from(left.trailing_zeros() * per_block);
            self.failed.push(Failed { block, tx: self.tx.len() as u32, after: NONE });
            left &= left - 1;
        }
        let number = self.blocks();
        self.tx.push(Tx { begin, unit, units, per_block, ttis, number, failed, before: NONE });
    }

    /// Blocks that have been sent, counted in a circle.
    fn blocks(&self) -> u32 {
        self.tx.last().map_or(0, |tx| tx.number.wrapping_add(tx.blocks().wrapping_mul(tx.ttis)))
    }

    /// A packet is cut into units.
    pub fn cut(&mut self, packet: u32, first: u64, end: u64) {
        self.is_cut = true;
        self.cuts.push(Cut { packet, first, end });
    }

    /// Whether the bearer tells into which units it cuts packets, and not what each block carries.
    pub fn is_cut(&self) -> bool {
        self.is_cut
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

    /// The first block of those that are told at a place in the list.
    pub fn block(&self, tx: u32) -> Block {
        self.tx[tx as usize].first_of(tx, 0, self.tti)
    }

    /// The first of the blocks of a TTI that are told at a place in the list.
    pub fn first_in(&self, group: &Group, tx: u32) -> Block {
        self.tx[tx as usize].first_of(tx, if tx == group.from { group.tti } else { 0 }, self.tti)
    }

    /// What a block carried when it was sent for the first time. Where packets are cut into units of their own, offset
    /// and bytes are not told.
    pub fn parts_of(&self, block: Block) -> impl Iterator<Item = Part> + '_ {
        let tx = &self.tx[block.tx as usize];
        let (first, is_known) = self.first_transmission(block.tx);
        let units = if is_known { tx.per_block } else { 0 };
        let cut = |cut: &Cut| Part { packet: cut.packet, offset: 0, bytes: 0, again: false };
        let end = (block.unit + u64::from(units)).min(tx.end());
        self.told_parts(first).iter().copied().chain(self.cuts_in(block.unit, end).iter().map(cut))
    }

    /// The packet of all that a new block carries, if it is one, where packets are cut into units of their own.
    pub fn only_packet(&self, block: Block) -> Option<u32> {
        let tx = &self.tx[block.tx as usize];
        if !self.is_cut() || tx.is_repeat() {
            return None;
        }
        let end = (block.unit + u64::from(tx.per_block)).min(tx.end());
        // Mostly it is the packet that was found before.
        if let Some(cut) = self.cuts.get(self.near_cut.last())
            && (cut.first <= block.unit && block.unit < end && end <= cut.end)
        {
            return Some(cut.packet);
        }
        match self.cuts_in(block.unit, end) {
            [cut] => Some(cut.packet),
            _ => None,
        }
    }

    /// The first known transmission of a block that is, or was, told at a place in the list, and whether that of a
    /// repetition has not been forgotten with all before it.
    fn first_transmission(&self, mut tx: u32) -> (u32, bool) {
        let is_repeat = self.tx[tx as usize].is_repeat();
        let sent = tx;
        while self.tx[tx as usize].before < FORGOTTEN {
            tx = self.tx[tx as usize].before;
        }
        (tx, !is_repeat || tx != sent)
    }

    /// The parts that the bearer told a transmission to carry.
    fn told_parts(&self, tx: u32) -> &[Part] {
        let Some(&from) = self.carries.get(tx as usize) else {
            return &[];
        };
        let to = self.carries.get(tx as usize + 1).map_or(self.parts.len(), |to| *to as usize);
        &self.parts[from as usize..to]
    }

    /// The packets of which there are units from one up to another.
    fn cuts_in(&self, first: u64, end: u64) -> &[Cut] {
        let from = self.near_cut.partition_point(&self.cuts, |cut| cut.end <= first);
        let to = self.cuts[from..].iter().take_while(|cut| cut.first < end).count();
        &self.cuts[from..from + to]
    }

    /// The first block with a part of a packet that did not fail, of those that are told at a place in the list and
    /// sent in a TTI.
    pub fn first_with(&self, group: &Group, tx: u32, packet: u32) -> Option<Block> {
        let first = self.first_in(group, tx);
        let sent = &self.tx[tx as usize];
        if !self.is_cut() || sent.is_repeat() {
            let carries = !sent.has_failed(0) && self.parts_of(first).any(|part| part.packet == packet);
            return carries.then_some(first);
        }
        let (units, per_block) = (u64::from(sent.units), u64::from(sent.per_block.max(1)));
        let cuts = self.cuts_in(first.unit, first.unit + units);
        let cut = cuts.iter().find(|cut| cut.packet == packet)?;
        let before = cut.first.saturating_sub(first.unit) / per_block;
        let after = (cut.end - first.unit).min(units).div_ceil(per_block);
        let place = (before..after).find(|place| !sent.has_failed(*place as u32))?;
        Some(Block { unit: first.unit + place * per_block, ..first })
    }

    /// Whether any packet that is known has a part in the blocks of a TTI that are told at a place in the list.
    pub fn carries_any(&self, group: &Group, tx: u32) -> bool {
        let first = self.first_in(group, tx);
        let sent = &self.tx[tx as usize];
        if !self.is_cut() || sent.is_repeat() {
            return self.parts_of(first).next().is_some();
        }
        !self.cuts_in(first.unit, first.unit + u64::from(sent.units)).is_empty()
    }

    /// The last block with a part of a packet, of those that are told at a place in the list and begin before a
    /// time.
    fn last_with(&self, tx: u32, time: Time, packet: u32) -> Option<Block> {
        let sent = &self.tx[tx as usize];
        let first = self.block(tx);
        if !self.is_cut() || sent.is_repeat() {
            return self.parts_of(first).any(|part| part.packet == packet).then_some(first);
        }
        let (units, per_block) = (u64::from(sent.units), u64::from(sent.per_block));
        let end = sent.unit + sent.ttis_before(time, self.tti) * units;
        let cut = self.cuts_in(sent.unit, end).iter().find(|cut| cut.packet == packet)?;
        let unit = cut.end.min(end) - 1 - sent.unit;
        let first = sent.first_of(tx, unit / units, self.tti);
        Some(Block { unit: first.unit + unit % units / per_block * per_block, ..first })
    }

    /// The last block with a part of a packet that begins before a time and ends after another.
    pub fn last_before(&self, time: Time, ends_after: Time, packet: u32) -> Option<Block> {
        let end = self.before(time);
        let ends = |tx: &u32| {
            let tx = &self.tx[*tx as usize];
            tx.begin + Duration(tx.ttis_before(time, self.tti) * self.tti.0)
        };
        let mut late = (0..end as u32).rev().take_while(|tx| ends(tx) > ends_after);
        late.find_map(|tx| self.last_with(tx, time, packet))
    }

    /// The frame that brought the unit sent first in a block to the Node B.
    pub fn frame_of(&self, tx: u32) -> Option<Frame> {
        let units = self.tx[tx as usize].unit;
        let at = self.frames.partition_point(|frame| frame.end <= units);
        self.frames.get(at).copied()
    }

    /// How many places in the list are before a time.
    fn before(&self, time: Time) -> usize {
        self.near_tx.partition_point(&self.tx, |tx| tx.begin < time)
    }

    /// The first place in the list for what begins at a time.
    pub fn tx_at(&self, time: Time) -> Option<u32> {
        let at = self.before(time);
        self.tx.get(at).filter(|tx| tx.begin == time).map(|_| at as u32)
    }

    /// From which time on TTIs that are told together with a group, up to it, begin with a unit of the same packet.
    pub fn alike_since(&self, group: &Group, packet: u32) -> Time {
        if group.tti == 0 {
            return group.begin;
        }
        let first = self.first_in(group, group.from).unit;
        match self.cuts_in(first, first + 1) {
            [cut] if cut.packet == packet => {
                let Tx { begin, unit, units, .. } = self.tx[group.from as usize];
                let ttis = cut.first.saturating_sub(unit).div_ceil(units.into());
                Time(begin.0 + ttis * self.tti.0)
            }
            _ => group.begin,
        }
    }

    /// The blocks in the last TTI that has begun before `time`.
    pub fn group_before(&self, time: Time) -> Option<Group> {
        let end = self.before(time);
        let last = self.tx[..end].last()?;
        let tti = last.ttis_before(time, self.tti) - 1;
        let alike = self.tx[..end].iter().rev().take_while(|tx| tti == 0 && tx.begin == last.begin).count();
        let begin = Time(last.begin.0 + tti * self.tti.0);
        Some(Group { from: (end - alike.max(1)) as u32, to: end as u32, begin, tti })
    }

    /// When those that failed, of the last blocks before a time of which so many are looked at, were sent again, if they
    /// were; the last first.
    pub fn failed_lately(&self, time: Time, most: u32) -> impl Iterator<Item = Option<Time>> + '_ {
        let end = self.before(time);
        let sent = |tx: &Tx| tx.number.wrapping_add(tx.blocks() * tx.ttis_before(time, self.tti) as u32);
        let sent = self.tx[..end].last().map_or(0, sent);
        let failed = self.near_failed.partition_point(&self.failed, |failed| (failed.tx as usize) < end);
        let number = |failed: &Failed| {
            let tx = &self.tx[failed.tx as usize];
            // Other blocks than those of runs are told by themselves.
            let place = if tx.failed == 1 { 0 } else { tx.place(failed.block) };
            tx.number.wrapping_add(place)
        };
        let failed = self.failed[..failed].iter().rev();
        let failed = failed.take_while(move |failed| sent.wrapping_sub(number(failed)) <= most);
        failed.map(|failed| self.tx.get(failed.after as usize).map(|after| after.begin))
    }

    /// The transmission of a block before this one, where it is known.
    pub fn transmission_before(&self, block: Block) -> Option<Block> {
        let before = self.tx[block.tx as usize].before;
        let sent = self.tx.get(before as usize)?;
        // Of the blocks of a run it is the one with these units.
        let unit = if self.is_cut() { block.unit } else { sent.unit };
        Some(Block { tx: before, begin: sent.begin, unit })
    }

    /// The user's state at a time, and since when.
    pub fn state_before(&self, time: Time) -> Option<(Time, u8)> {
        let after = self.states.partition_point(|(since, _)| *since < time);
        self.states[..after].last().copied()
    }

    /// Forgets the blocks that have been sent, and the packets that are not known any more; the others have new
    /// numbers.
    pub fn forget(&mut self, known: impl Fn(u32) -> Option<u32>) {
        let renumbered = |cut: &Cut| known(cut.packet).map(|packet| Cut { packet, ..*cut });
        self.cuts = self.cuts.iter().filter_map(renumbered).collect();
        self.tx.clear();
        self.failed.clear();
        self.parts.clear();
        self.carries.clear();
        self.latest.clear();
        self.waiting = 0;
        self.carried.clear();
        let last = self.states.pop();
        self.states.clear();
        self.states.extend(last);
    }
}

#[cfg(test)]
mod tests;
