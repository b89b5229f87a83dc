//! What a bearer that works in TTIs sent to the user, block by block, and what happened to its channel.

mod tx;

use std::collections::HashMap;

use nodeb_sim::blocks::Blocks;
use nodeb_sim::units::{Duration, Time};

use super::near::Near;
use super::packets::NONE;
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
        let (number, tx) = (self.tx.len() as u32 - 1, self.tx[self.tx.len() - 1]);
        let mut left = blocks.failed | blocks.again;
        while left > 0 {
            let place = after + left.trailing_zeros();
            left &= left - 1;
            let before = tx.before(place);
            let mut attempt = Attempt { block: 0, units: 0, tx: number, place, before, again: NEVER };
            if let Some(earlier) = self.attempts.get_mut(before as usize) {
                self.waiting += 1;
                earlier.again = tx.begin_of(place, self.tti);
                (attempt.block, attempt.units) = (earlier.block, earlier.units);
            } else {
                (attempt.block, attempt.units) = new_block(&tx.blocks, place);
            }
            if tx.blocks.has_failed(place) {
                self.attempts.push(attempt);
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

    /// Block number `place` of those that are told at a place in the list.
    fn block(&self, tx: u32, place: u32) -> Block {
        let sent = &self.tx[tx as usize];
        let (begin, before) = (sent.begin_of(place, self.tti), sent.before(place));
        let (unit, units) = match self.attempts.get(before as usize) {
            Some(attempt) if self.is_cut() => (attempt.block, attempt.units),
            _ if self.is_cut() && before == NONE => new_block(&sent.blocks, place),
            _ => (sent.blocks.first, sent.blocks.units),
        };
        Block { tx, place, begin, unit, units, before }
    }

    /// The only block that is told at a place in the list.
    pub fn single(&self, tx: u32) -> Block {
        self.block(tx, 0)
    }

    /// The blocks of a TTI.
    pub fn blocks_of(&self, group: &Group) -> impl DoubleEndedIterator<Item = Block> + '_ {
        let tti = group.tti;
        let places = move |tx: u32| {
            let per_tti = self.tx[tx as usize].blocks.per_tti;
            (tti * per_tti..(tti + 1) * per_tti).map(move |place| self.block(tx, place))
        };
        (group.from..group.to).flat_map(places)
    }

    /// Whether a block failed.
    pub fn has_failed(&self, block: &Block) -> bool {
        self.tx[block.tx as usize].blocks.has_failed(block.place)
    }

    /// The first new block of a TTI.
    pub fn first_new(&self, group: &Group) -> Option<Block> {
        (group.from..group.to).find_map(|tx| {
            let blocks = &self.tx[tx as usize].blocks;
            let again = blocks.again_in(group.tti);
            (again < blocks.per_tti).then(|| self.block(tx, group.tti * blocks.per_tti + again))
        })
    }

    /// Units of a TTI that are sent for the first time, and those that go again.
    pub fn units_of(&self, group: &Group) -> (u64, u64) {
        let (mut new, mut repeated) = (0, 0);
        for tx in group.from..group.to {
            let blocks = &self.tx[tx as usize].blocks;
            let (first, again) = (group.tti * blocks.per_tti, blocks.again_in(group.tti));
            new += blocks.unit(first + blocks.per_tti).min(blocks.end()) - blocks.unit(first);
            repeated +=
                (first..first + again).map(|place| u64::from(self.block(tx, place).units)).sum::<u64>();
        }
        (new, repeated)
    }

    /// What a block carried when it was sent for the first time. Where packets are cut into units of their own, offset
    /// and bytes are not told.
    pub fn parts_of(&self, block: &Block) -> impl Iterator<Item = Part> + '_ {
        let cut = |cut: &Cut| Part { packet: cut.packet, offset: 0, bytes: 0, again: false };
        let cuts = self.cuts_in(block.unit, block.unit + u64::from(block.units)).iter().map(cut);
        self.told_parts(self.first_transmission(block)).iter().copied().chain(cuts)
    }

    /// The packet of all that a new block carries, if it is one, where packets are cut into units of their own.
    pub fn only_packet(&self, block: &Block) -> Option<u32> {
        if !self.is_cut() || block.is_repeat() {
            return None;
        }
        let end = block.unit + u64::from(block.units);
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

    /// Where the first known transmission of a block is told.
    fn first_transmission(&self, block: &Block) -> u32 {
        let (mut tx, mut before) = (block.tx, block.before);
        while let Some(attempt) = self.attempts.get(before as usize) {
            (tx, before) = (attempt.tx, attempt.before);
        }
        tx
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

    /// Whether a block carries a part of a packet.
    pub fn carries(&self, block: &Block, packet: u32) -> bool {
        self.parts_of(block).any(|part| part.packet == packet)
    }

    /// The last block with a part of a packet, of those that are told at a place in the list and begin before a
    /// time.
    fn last_with(&self, tx: u32, time: Time, packet: u32) -> Option<Block> {
        let sent = &self.tx[tx as usize];
        let end = sent.ttis_before(time, self.tti) * sent.blocks.per_tti;
        let has_part = |block: &Block| self.carries(block, packet);
        if sent.blocks.count() <= Blocks::MOST {
            return (0..end).rev().map(|place| self.block(tx, place)).find(has_part);
        }
        // All of them are new.
        let first = sent.blocks.first;
        let past = sent.blocks.unit(end).min(sent.blocks.end());
        let cuts = self.cuts_in(first, past);
        let last = cuts.iter().find(|cut| cut.packet == packet)?.end.min(past) - 1;
        Some(self.block(tx, ((last - first) / u64::from(sent.blocks.per_block)) as u32))
    }

    /// The last block with a part of a packet that begins before a time and ends after another.
    pub fn last_before(&self, time: Time, ends_after: Time, packet: u32) -> Option<Block> {
        let end = self.before(time);
        let ends = |tx: &u32| {
            let tx = &self.tx[*tx as usize];
            tx.begin + Duration(u64::from(tx.ttis_before(time, self.tti)) * self.tti.0)
        };
        let mut late = (0..end as u32).rev().take_while(|tx| ends(tx) > ends_after);
        late.find_map(|tx| self.last_with(tx, time, packet))
    }

    /// The frame that brought the unit sent first in a block to the Node B.
    pub fn frame_of(&self, tx: u32) -> Option<Frame> {
        let units = self.tx[tx as usize].blocks.first;
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

    /// From which time on TTIs that are told together with a group, up to it, have new blocks only and begin with a unit
    /// of the same packet.
    pub fn alike_since(&self, group: &Group, packet: u32) -> Time {
        let sent = &self.tx[group.from as usize];
        let blocks = &sent.blocks;
        let since = blocks.new_since(group.tti);
        if since >= group.tti {
            return group.begin;
        }
        let [earliest, first] = [since, group.tti].map(|tti| blocks.unit(tti * blocks.per_tti));
        match self.cuts_in(first, first + 1) {
            [cut] if cut.packet == packet => {
                let units = u64::from(blocks.per_tti * blocks.per_block);
                let ttis = u64::from(since) + cut.first.saturating_sub(earliest).div_ceil(units);
                Time(sent.begin.0 + ttis * self.tti.0)
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
        let begin = Time(last.begin.0 + u64::from(tti) * self.tti.0);
        Some(Group { from: (end - alike.max(1)) as u32, to: end as u32, begin, tti })
    }

    /// When those that failed, of the last blocks before a time of which so many are looked at, were sent again, if they
    /// were; the last first.
    pub fn failed_lately(&self, time: Time, most: u32) -> impl Iterator<Item = Option<Time>> + '_ {
        let sent =
            |tx: &Tx| tx.number.wrapping_add(tx.blocks.per_tti.wrapping_mul(tx.ttis_before(time, self.tti)));
        let sent = self.tx[..self.before(time)].last().map_or(0, sent);
        let told = |attempt: &Attempt| self.tx.get(attempt.tx as usize);
        let is_before =
            |attempt: &Attempt| told(attempt).is_none_or(|tx| tx.begin_of(attempt.place, self.tti) < time);
        let end = self.near_attempt.partition_point(&self.attempts, is_before);
        let attempts = self.attempts[..end].iter().rev();
        let attempts = attempts.filter_map(move |attempt| Some((attempt, told(attempt)?)));
        let is_late = move |(attempt, tx): &(&Attempt, &Tx)| {
            sent.wrapping_sub(tx.number.wrapping_add(attempt.place)) <= most
        };
        let failed = attempts.take_while(is_late).filter(|(attempt, tx)| tx.blocks.has_failed(attempt.place));
        failed.map(|(attempt, _)| (attempt.again < NEVER).then_some(attempt.again))
    }

    /// The transmission of a block before this one, where it is known.
    pub fn transmission_before(&self, block: &Block) -> Option<Block> {
        let before = self.attempts.get(block.before as usize)?;
        (before.tx != FORGOTTEN).then(|| self.block(before.tx, before.place))
    }

    /// The user's state at a time, and since when.
    pub fn state_before(&self, time: Time) -> Option<(Time, u8)> {
        let after = self.states.partition_point(|(since, _)| *since < time);
        self.states[..after].last().copied()
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

/// The first unit of a new block, and how many it has.
fn new_block(blocks: &Blocks, place: u32) -> (u64, u32) {
    let unit = blocks.unit(place);
    (unit, blocks.per_block.min((blocks.end() - unit) as u32))
}

#[cfg(test)]
mod tests;
