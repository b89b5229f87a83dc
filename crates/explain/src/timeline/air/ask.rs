use nodeb_base::Blocks;
use nodeb_base::units::{Duration, Time};

use super::super::packets::NONE;
use super::tx::{Attempt, Block, FORGOTTEN, Tx};
use super::{Air, Cut, Frame, Group, NEVER, Part, Sent, new_block};

impl Air {
    pub(super) fn block(&self, tx: u32, place: u32) -> Block {
        let sent = &self.tx[tx as usize];
        let (begin, before) = (sent.begin_of(place, self.tti), sent.before(place));
        let (unit, units) = match self.attempts.get(before as usize) {
            Some(attempt) if self.is_cut() => (attempt.block, attempt.units),
            _ if self.is_cut() && before == NONE => {
                new_block(&sent.blocks, place, sent.blocks.again_before(place))
            }
            _ => (sent.blocks.first, sent.blocks.units),
        };
        Block { tx, place, begin, unit, units, before }
    }

    /// Only for bearers that report blocks one by one.
    pub fn single(&self, tx: u32) -> Block {
        self.block(tx, 0)
    }

    /// In the order of transmission.
    pub fn blocks_of(&self, group: &Group) -> impl DoubleEndedIterator<Item = Block> + '_ {
        let tti = group.tti;
        let places = move |tx: u32| {
            let per_tti = self.tx[tx as usize].blocks.per_tti;
            (tti * per_tti..(tti + 1) * per_tti).map(move |place| self.block(tx, place))
        };
        (group.from..group.to).flat_map(places)
    }

    pub fn has_failed(&self, block: &Block) -> bool {
        self.tx[block.tx as usize].blocks.has_failed(block.place)
    }

    #[inline]
    pub fn sent_in(&self, group: &Group) -> Sent {
        let mut all = Sent::default();
        for tx in group.from..group.to {
            let sent = &self.tx[tx as usize];
            let blocks = &sent.blocks;
            let place = group.tti * blocks.per_tti;
            let (earlier, again) = blocks.again_before_and_in(group.tti);
            let unit = blocks.first + u64::from(place - earlier) * u64::from(blocks.per_block);
            let new = blocks.per_tti - again;
            all.new += (unit + u64::from(new) * u64::from(blocks.per_block)).min(blocks.end()) - unit;
            if again > 0 {
                // The previous transmissions of these blocks are adjacent in `attempts`, so one
                // range contains them all.
                let from =
                    if self.is_cut() { sent.retransmission(earlier) as usize } else { self.attempts.len() };
                let before = self.attempts.get(from..).unwrap_or_default();
                let before = &before[..before.len().min(again as usize)];
                all.retransmitted += before.iter().map(|before| u64::from(before.units)).sum::<u64>();
                all.retransmitted += u64::from(again - before.len() as u32) * u64::from(blocks.units);
            }
            if new > 0 && all.first_new.is_none() {
                let (place, begin, before) = (place + again, group.begin, NONE);
                let (unit, units) = if self.is_cut() {
                    new_block(blocks, place, earlier + again)
                } else {
                    (blocks.first, blocks.units)
                };
                all.first_new = Some(Block { tx, place, begin, unit, units, before });
            }
        }
        all
    }

    /// In its first transmission; with [`Self::is_cut`], offset and bytes of a part are unknown (0).
    pub fn parts_of(&self, block: &Block) -> impl Iterator<Item = Part> + '_ {
        let cut = |cut: &Cut| Part { packet: cut.packet, offset: 0, bytes: 0, is_retransmission: false };
        let cuts = self.cuts_in(block.unit, block.unit + u64::from(block.units)).iter().map(cut);
        self.reported_parts(self.first_transmission(block)).iter().copied().chain(cuts)
    }

    /// `None` with units of several packets or none, for a retransmission, or if the bearer does not report
    /// units (see [`Self::is_cut`]).
    #[inline]
    pub fn only_packet(&self, block: &Block) -> Option<u32> {
        if !self.is_cut() || block.is_retransmission() {
            return None;
        }
        let end = block.unit + u64::from(block.units);
        // Usually the packet is the one that the last search found, and the search can be skipped.
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

    /// Index in [`Self::tx`], or [`FORGOTTEN`].
    fn first_transmission(&self, block: &Block) -> u32 {
        let (mut tx, mut before) = (block.tx, block.before);
        while let Some(attempt) = self.attempts.get(before as usize) {
            (tx, before) = (attempt.tx, attempt.before);
        }
        tx
    }

    /// Empty with [`Self::is_cut`], where units are reported instead.
    fn reported_parts(&self, tx: u32) -> &[Part] {
        let Some(&from) = self.carries.get(tx as usize) else {
            return &[];
        };
        let to = self.carries.get(tx as usize + 1).map_or(self.parts.len(), |to| *to as usize);
        &self.parts[from as usize..to]
    }

    /// Without `end`.
    fn cuts_in(&self, first: u64, end: u64) -> &[Cut] {
        let from = self.near_cut.partition_point(&self.cuts, |cut| cut.end <= first);
        let to = self.cuts[from..].iter().take_while(|cut| cut.first < end).count();
        &self.cuts[from..from + to]
    }

    pub fn carries(&self, block: &Block, packet: u32) -> bool {
        self.parts_of(block).any(|part| part.packet == packet)
    }

    /// In element `tx` of [`Self::tx`], begun before `time`.
    fn last_with(&self, tx: u32, time: Time, packet: u32) -> Option<Block> {
        let sent = &self.tx[tx as usize];
        let end = sent.ttis_before(time, self.tti) * sent.blocks.per_tti;
        let has_part = |block: &Block| self.carries(block, packet);
        if sent.blocks.count() <= Blocks::MAX {
            return (0..end).rev().map(|place| self.block(tx, place)).find(has_part);
        }
        // An element with more than `Blocks::MAX` blocks contains new blocks only, so the number of a unit
        // determines the block that carries the unit.
        let first = sent.blocks.first;
        let past = sent.blocks.unit(end).min(sent.blocks.end());
        let cuts = self.cuts_in(first, past);
        let last = cuts.iter().find(|cut| cut.packet == packet)?.end.min(past) - 1;
        Some(self.block(tx, ((last - first) / u64::from(sent.blocks.per_block)) as u32))
    }

    /// Without elements of [`Self::tx`] that end at or before `ends_after`.
    pub fn last_before(&self, time: Time, ends_after: Time, packet: u32) -> Option<Block> {
        let end = self.before(time);
        let ends = |tx: &u32| {
            let tx = &self.tx[*tx as usize];
            tx.begin + Duration(u64::from(tx.ttis_before(time, self.tti)) * self.tti.0)
        };
        let mut late = (0..end as u32).rev().take_while(|tx| ends(tx) > ends_after);
        late.find_map(|tx| self.last_with(tx, time, packet))
    }

    /// That brought the first new unit of element `tx`, if recorded.
    pub fn frame_of(&self, tx: u32) -> Option<Frame> {
        let units = self.tx[tx as usize].blocks.first;
        let at = self.frames.partition_point(|frame| frame.end <= units);
        self.frames.get(at).copied()
    }

    fn before(&self, time: Time) -> usize {
        self.near_tx.partition_point(&self.tx, |tx| tx.begin < time)
    }

    /// First element that begins exactly at `time`.
    pub fn tx_at(&self, time: Time) -> Option<u32> {
        let at = self.before(time);
        self.tx.get(at).filter(|tx| tx.begin == time).map(|_| at as u32)
    }

    /// Start of the longest series of adjacent TTIs in one element that ends with `group`, each with new
    /// blocks only and beginning with a unit of `packet`: one span of the critical path.
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

    /// Last TTI begun before `time`.
    pub fn group_before(&self, time: Time) -> Option<Group> {
        self.last_group(self.before(time), time)
    }

    /// Last TTI before that of `group`.
    #[inline]
    pub fn group_before_that(&self, group: &Group) -> Option<Group> {
        match group.tti.checked_sub(1) {
            Some(tti) => Some(Group { tti, begin: Time(group.begin.0 - self.tti.0), ..*group }),
            None => self.last_group(group.from as usize, group.begin),
        }
    }

    /// Among the first `end` elements of [`Self::tx`].
    fn last_group(&self, end: usize, time: Time) -> Option<Group> {
        let last = self.tx[..end].last()?;
        let tti = last.ttis_before(time, self.tti) - 1;
        let alike = self.tx[..end].iter().rev().take_while(|tx| tti == 0 && tx.begin == last.begin).count();
        let begin = Time(last.begin.0 + u64::from(tti) * self.tti.0);
        Some(Group { from: (end - alike.max(1)) as u32, to: end as u32, begin, tti })
    }

    /// Of the failed blocks among the last `most` before `time`, latest first.
    pub fn next_attempts_of_failed(&self, time: Time, most: u32) -> impl Iterator<Item = Option<Time>> + '_ {
        let sent =
            |tx: &Tx| tx.number.wrapping_add(tx.blocks.per_tti.wrapping_mul(tx.ttis_before(time, self.tti)));
        let sent = self.tx[..self.before(time)].last().map_or(0, sent);
        let entry = |attempt: &Attempt| self.tx.get(attempt.tx as usize);
        let is_before =
            |attempt: &Attempt| entry(attempt).is_none_or(|tx| tx.begin_of(attempt.place, self.tti) < time);
        let end = self.near_attempt.partition_point(&self.attempts, is_before);
        let attempts = self.attempts[..end].iter().rev();
        let attempts = attempts.filter_map(move |attempt| Some((attempt, entry(attempt)?)));
        let is_late = move |(attempt, tx): &(&Attempt, &Tx)| {
            sent.wrapping_sub(tx.number.wrapping_add(attempt.place)) <= most
        };
        let failed = attempts.take_while(is_late).filter(|(attempt, tx)| tx.blocks.has_failed(attempt.place));
        failed.map(|(attempt, _)| (attempt.next < NEVER).then_some(attempt.next))
    }

    /// `None` if the block is new or the transmission not recorded.
    pub fn transmission_before(&self, block: &Block) -> Option<Block> {
        let before = self.attempts.get(block.before as usize)?;
        (before.tx != FORGOTTEN).then(|| self.block(before.tx, before.place))
    }

    /// Each TTI counts once.
    pub fn busy(&self, begun: Time, ended: Time) -> Duration {
        let mut until = begun;
        let mut busy = 0;
        for tx in &self.tx {
            let end = tx.begin + Duration(u64::from(tx.blocks.ttis) * self.tti.0);
            busy += end.min(ended).since(tx.begin.max(until)).0;
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
