//! What a bearer that works in TTIs sent to the user, block by block, and what happened to its channel.

use std::collections::{HashMap, VecDeque};

use nodeb_sim::units::{Duration, Time};

use super::near::Near;
use super::packets::NONE;

/// A block on the air, or new blocks alike that follow each other in one TTI, or in several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tx {
    pub begin: Time,
    /// Whether it was sent before.
    pub is_repeat: bool,
    pub failed: bool,
    /// In a TTI.
    pub units: u32,
    /// In a block.
    pub per_block: u32,
    /// In so many TTIs, one after the other.
    pub ttis: u32,
    /// Its first unit where the bearer tells into which units it cuts packets; else units of the user that were
    /// sent for the first time before it.
    pub unit: u64,
    /// Blocks that were sent before it; counts in a circle.
    number: u32,
    /// The transmission of the block before this one, and the one after.
    pub before: u32,
    pub after: u32,
    /// Its first transmission.
    pub first: u32,
    /// What it carries: places in the list of parts.
    pub parts: (u32, u32),
}

/// A part of a packet that a block carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub packet: u32,
    pub offset: u32,
    pub bytes: u32,
    /// Whether another block had carried it before.
    pub again: bool,
}

impl Tx {
    /// Blocks in a TTI.
    fn blocks(&self) -> u32 {
        self.units.div_ceil(self.per_block.max(1)).max(1)
    }

    /// One past its last unit.
    fn end(&self) -> u64 {
        self.unit + u64::from(self.units) * u64::from(self.ttis)
    }

    /// Those of its TTIs that begin before `time`, which is after it began.
    fn ttis_before(&self, time: Time, tti: Duration) -> u64 {
        if self.ttis == 1 { 1 } else { time.since(self.begin).0.div_ceil(tti.0).min(self.ttis.into()) }
    }

    /// The first block of its TTI number `tti`, each of which lasts for `length`.
    fn first_of(&self, number: u32, tti: u64, length: Duration) -> Block {
        let begin = Time(self.begin.0 + tti * length.0);
        Block { tx: number, begin, unit: self.unit + tti * u64::from(self.units) }
    }
}

/// One block of those that are told together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Its place in the list.
    pub tx: u32,
    pub begin: Time,
    /// Its first unit.
    pub unit: u64,
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
    /// Places in the list of the blocks that failed.
    failed: Vec<u32>,
    tti: Duration,
    /// The user's states, since when.
    pub states: Vec<(Time, u8)>,
    pub handovers: Vec<Time>,
    pub frames: Vec<Frame>,
    /// Bytes of each packet that blocks have carried: first transmissions come in order.
    carried: HashMap<u32, u32>,
    /// The last transmission of each block that may come again.
    latest: HashMap<u64, u32>,
    /// The same where only blocks that have failed come again, which they do nearly in order.
    waiting: VecDeque<(u64, u32)>,
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
        let number = self.tx.len() as u32;
        let is_repeat = transmission > 1;
        let before = if is_repeat { self.take_latest(block).unwrap_or(NONE) } else { NONE };
        let mut first = number;
        if let Some(earlier) = self.tx.get_mut(before as usize) {
            earlier.after = number;
            first = earlier.first;
        }
        if comes_again && self.is_cut() {
            self.waiting.push_back((block, number));
        } else if comes_again {
            self.latest.insert(block, number);
        }
        let parts = (self.parts.len() as u32, self.parts.len() as u32);
        let unit = if self.is_cut() { block } else { self.units };
        self.units += if is_repeat { 0 } else { u64::from(units) };
        if failed {
            self.failed.push(number);
        }
        let blocks = self.blocks();
        self.tx.push(Tx {
            begin,
            is_repeat,
            failed,
            units,
            per_block: units,
            ttis: 1,
            unit,
            number: blocks,
            before,
            after: NONE,
            first,
            parts,
        });
    }

    /// The transmission of a block before this one.
    fn take_latest(&mut self, block: u64) -> Option<u32> {
        if !self.is_cut() {
            return self.latest.remove(&block);
        }
        let at = self.waiting.iter().position(|(waiting, _)| *waiting == block)?;
        self.waiting.remove(at).map(|(_, number)| number)
    }

    /// New blocks of `per_block` units, from number `unit` on, are sent without error in `ttis` TTIs.
    pub fn send_run(&mut self, begin: Time, unit: u64, units: u32, per_block: u32, ttis: u32) {
        let first = self.tx.len() as u32;
        let (before, after, parts) = (NONE, NONE, (0, 0));
        let tx = Tx {
            begin,
            is_repeat: false,
            failed: false,
            units,
            per_block,
            ttis,
            unit,
            number: self.blocks(),
            before,
            after,
            first,
            parts,
        };
        self.tx.push(tx);
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
        if let Some(tx) = self.tx.last_mut() {
            let carried = self.carried.entry(packet).or_default();
            let again = offset + bytes <= *carried;
            *carried = (*carried).max(offset + bytes);
            self.parts.push(Part { packet, offset, bytes, again });
            tx.parts.1 = self.parts.len() as u32;
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
        // That of a repetition whose first transmission has been forgotten is not known.
        let units = if tx.is_repeat && tx.first == block.tx { 0 } else { tx.per_block };
        let cut = |cut: &Cut| Part { packet: cut.packet, offset: 0, bytes: 0, again: false };
        let (from, to) = self.tx[tx.first as usize].parts;
        let told = &self.parts[from as usize..to as usize];
        let end = (block.unit + u64::from(units)).min(tx.end());
        told.iter().copied().chain(self.cuts_in(block.unit, end).iter().map(cut))
    }

    /// The packets of which there are units from one up to another.
    fn cuts_in(&self, first: u64, end: u64) -> &[Cut] {
        let from = self.near_cut.partition_point(&self.cuts, |cut| cut.end <= first);
        let to = self.cuts[from..].iter().take_while(|cut| cut.first < end).count();
        &self.cuts[from..from + to]
    }

    /// The first block with a part of a packet, of those that are told at a place in the list and sent in a TTI.
    pub fn first_with(&self, group: &Group, tx: u32, packet: u32) -> Option<Block> {
        let first = self.first_in(group, tx);
        if !self.is_cut() || self.tx[tx as usize].is_repeat {
            return self.parts_of(first).any(|part| part.packet == packet).then_some(first);
        }
        let Tx { units, per_block, .. } = self.tx[tx as usize];
        let cuts = self.cuts_in(first.unit, first.unit + u64::from(units));
        let cut = cuts.iter().find(|cut| cut.packet == packet)?;
        let before = cut.first.saturating_sub(first.unit) / u64::from(per_block.max(1));
        Some(Block { unit: first.unit + before * u64::from(per_block), ..first })
    }

    /// Whether any packet that is known has a part in the blocks of a TTI that are told at a place in the list.
    pub fn carries_any(&self, group: &Group, tx: u32) -> bool {
        let first = self.first_in(group, tx);
        let Tx { units, is_repeat, .. } = self.tx[tx as usize];
        if !self.is_cut() || is_repeat {
            return self.parts_of(first).next().is_some();
        }
        !self.cuts_in(first.unit, first.unit + u64::from(units)).is_empty()
    }

    /// The last block with a part of a packet, of those that are told at a place in the list and begin before a
    /// time.
    fn last_with(&self, tx: u32, time: Time, packet: u32) -> Option<Block> {
        let sent = &self.tx[tx as usize];
        let first = self.block(tx);
        if !self.is_cut() || sent.is_repeat {
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

    /// Those that failed of the last blocks before a time, of which so many are looked at.
    pub fn failed_lately(&self, time: Time, most: u32) -> impl Iterator<Item = &Tx> {
        let end = self.before(time);
        let sent = |tx: &Tx| tx.number.wrapping_add(tx.blocks() * tx.ttis_before(time, self.tti) as u32);
        let sent = self.tx[..end].last().map_or(0, sent);
        let failed = self.near_failed.partition_point(&self.failed, |tx| (*tx as usize) < end);
        let failed = self.failed[..failed].iter().rev().map(|tx| &self.tx[*tx as usize]);
        failed.take_while(move |tx| sent.wrapping_sub(tx.number) <= most)
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
        self.latest.clear();
        self.waiting.clear();
        self.carried.clear();
        let last = self.states.pop();
        self.states.clear();
        self.states.extend(last);
    }
}
