//! Stays at bearers that work in TTIs, block by block.
//!
//! The path goes back from the block that completed the packet: its repetitions, its first transmission, and then
//! TTI by TTI through what was sent to the user before, until a packet had only just come. What was sent before
//! belongs to the packets ahead, with which the path goes on.

use nodeb_base::event::Site;
use nodeb_base::units::{Duration, Time};

use super::Walk;
use crate::cause::{Cause, Step};
use crate::timeline::{Air, Block, Frame, Group, Hop, NONE, Part, Sent};

/// Blocks before a time among which one is looked for that waits to go again.
const LOOK_BACK: u32 = 256;

impl Walk<'_> {
    fn air(&self) -> &Air {
        &self.timeline.air
    }

    fn tti(&self) -> Duration {
        self.timeline.radio.tti.unwrap_or_default()
    }

    /// When a block ends.
    fn end_of(&self, block: &Block) -> Time {
        block.begin + self.tti()
    }

    /// The cause of what failed blocks cost.
    fn repair(&self) -> Cause {
        if self.timeline.radio.has_harq { Cause::Harq } else { Cause::Rlc }
    }

    /// A packet's stay at the bearer, back to when it came, or another one's ahead of it.
    pub(super) fn stay_on_air(&mut self, packet: u32, hop: u32) -> (u32, u32) {
        let stay = self.hop_at(hop);
        let (mut packet, mut hop) = (packet, hop);
        if self.packet_at(packet).left() <= self.now {
            let Some(block) = self.completing(packet, stay) else {
                self.not_sent(stay.entered, stay, None);
                return (packet, hop);
            };
            let block = self.block(block, packet, stay);
            (packet, hop) = self.older_of(&block, packet, hop);
            self.follow(packet);
        }
        self.ttis_before(packet, hop)
    }

    /// The block with which a packet was complete: one that ended just then; what was sent last before where it had
    /// to wait for something else.
    fn completing(&mut self, packet: u32, stay: &Hop) -> Option<Block> {
        let left = self.now;
        let group = self.air().group_before(left)?;
        let ends_now = group.begin + self.tti() == left;
        if ends_now {
            let arrived = || self.air().blocks_of(&group).filter(|block| !self.air().has_failed(block));
            let is_repeated = |block: &Block| block.is_repeat() && self.whose(block, packet).is_some();
            let found = arrived().find(|block| self.air().carries(block, packet));
            let found = found.or_else(|| arrived().find(is_repeated));
            let found = found.or_else(|| arrived().find(|block| self.sent_before(block, packet).is_some()));
            if found.is_some() {
                return found;
            }
        }
        let last = self.air().last_before(left, stay.entered, packet)?;
        let (cause, step) = if self.timeline.radio.has_harq || self.air().is_cut() {
            // A timer let it go, or what was ahead of it was given up.
            (Cause::Reordering, Step::Held)
        } else if ends_now {
            // Its last frames, whose repetition is not told by number.
            (Cause::Rlc, Step::Repeats)
        } else {
            (Cause::Rlc, Step::ReportAwaited)
        };
        self.to(self.end_of(&last), cause, step, stay.place);
        Some(last)
    }

    /// A block's transmissions and what was between them, back to the beginning of the first; which that is.
    fn block(&mut self, mut block: Block, packet: u32, stay: &Hop) -> Block {
        let place = stay.place;
        loop {
            let begin = block.begin;
            self.follow(self.whose(&block, packet).unwrap_or(packet));
            if block.is_repeat() {
                self.to(begin, self.repair(), Step::Repeats, place);
                let Some(before) = self.air().transmission_before(&block) else {
                    return block;
                };
                self.wait_to_repeat(&before, stay);
                block = before;
                continue;
            }
            let Some(earlier) = self.sent_before(&block, packet) else {
                self.fixed(begin, Cause::Transmission, Step::Sends, place);
                return block;
            };
            self.to(begin, Cause::Rlc, Step::Repeats, place);
            self.to(self.end_of(&earlier), Cause::Rlc, Step::ReportAwaited, place);
            block = earlier;
        }
    }

    /// The packet that a block was on the way of: the given one, if it carries a part of that, else one that came no
    /// later, and had not left before the block ended.
    fn whose(&self, block: &Block, packet: u32) -> Option<u32> {
        if self.air().carries(block, packet) {
            return Some(packet);
        }
        let came = self.entered_bearer(packet);
        let is_ahead = |other: &u32| {
            let entered = self.entered_bearer(*other);
            entered.is_some() && self.packet_at(*other).left() >= self.end_of(block) && entered <= came
        };
        self.air().parts_of(block).map(|part| part.packet).find(is_ahead)
    }

    /// Back from a repetition to the end of the transmission before it: until it could go again its answer was
    /// awaited, and after that others may have been served.
    fn wait_to_repeat(&mut self, before: &Block, stay: &Hop) {
        let (grid, end) = (self.tti().0.max(1), self.end_of(before));
        let eligible = before.begin + self.timeline.radio.retransmits_after;
        let eligible = Time(eligible.0.div_ceil(grid) * grid).max(end).min(self.now);
        self.others_or(eligible, self.repair(), Step::RepeatWaits, stay);
        self.to(end, self.repair(), Step::RepeatWaits, stay.place);
    }

    /// The block in which a part of what a block carries was sent before, which RLC sends again.
    fn sent_before(&self, block: &Block, packet: u32) -> Option<Block> {
        if self.air().is_cut() {
            // The simple ARQ sends whole blocks again.
            return None;
        }
        let whose = self.whose(block, packet)?;
        let part = self.air().parts_of(block).find(|part| part.packet == whose)?;
        let entered = self.entered_bearer(part.packet)?;
        let is_same = |other: &Block| {
            let mut parts = self.air().parts_of(other);
            let overlaps = |earlier: Part| {
                earlier.packet == part.packet
                    && earlier.offset < part.offset + part.bytes
                    && part.offset < earlier.offset + earlier.bytes
            };
            !other.is_repeat() && parts.any(overlaps)
        };
        let earlier = (0..block.tx).rev().map(|tx| self.air().single(tx));
        let earlier = earlier.take_while(|other| self.end_of(other) > entered);
        // The last that a repetition of its own followed ends when that did.
        earlier.filter(|other| self.end_of(other) <= block.begin).find(is_same)
    }

    fn entered_bearer(&self, packet: u32) -> Option<Time> {
        self.stay_at_bearer(packet).map(|hop| self.hop_at(hop).entered)
    }

    fn stay_at_bearer(&self, packet: u32) -> Option<u32> {
        let hop = self.packet_at(packet).hop;
        (hop != NONE && self.hop_at(hop).place.site == Site::Bearer).then_some(hop)
    }

    /// The oldest packet of a block that came before the given one, or that one, with its stay.
    fn older_of(&self, block: &Block, packet: u32, hop: u32) -> (u32, u32) {
        let stay = |packet: u32| Some((packet, self.stay_at_bearer(packet)?));
        let oldest = match self.air().only_packet(block) {
            Some(only) if only == packet => return (packet, hop),
            Some(only) => stay(only),
            None => {
                let stays = self.air().parts_of(block).filter_map(|part| stay(part.packet));
                stays.min_by_key(|(_, hop)| self.hop_at(*hop).entered)
            }
        };
        oldest.filter(|(_, hop)| self.hop_at(*hop).entered <= block.begin).unwrap_or((packet, hop))
    }

    /// TTI by TTI back to when a packet came, going over to those ahead of it.
    fn ttis_before(&mut self, mut packet: u32, mut hop: u32) -> (u32, u32) {
        let own = packet;
        let mut later: Option<Group> = None;
        loop {
            let stay = self.hop_at(hop);
            if self.now <= stay.entered.max(self.floor) {
                return (packet, hop);
            }
            let sent = later.map(|group| group.from);
            let group = match &later {
                Some(later) if later.begin == self.now => self.air().group_before_that(later),
                _ => self.air().group_before(self.now),
            };
            let Some(group) = group.filter(|group| group.begin >= self.could_go(stay, sent)) else {
                // What has come during a TTI could not have gone in it, whatever it carried.
                self.not_sent(stay.entered, stay, sent);
                return (packet, hop);
            };
            let begin = group.begin;
            if self.now > begin + self.tti() {
                self.not_sent(begin + self.tti(), stay, sent);
            }
            if self.is_of_others(&group) {
                let begin = begin.max(stay.entered);
                self.to(begin, Cause::QueueBehindOthers, Step::OthersServed, stay.place);
                later = Some(group);
                continue;
            }
            let all = self.sent_in(&group);
            if let Some(new) = &all.first_new
                && self.air().only_packet(new) != Some(packet)
            {
                (packet, hop) = self.older_of(new, packet, hop);
                self.follow(packet);
            }
            // Together with others goes what is all new.
            let since = if all.again > 0 { begin } else { self.air().alike_since(&group, packet) };
            let begin = since.max(self.hop_at(hop).entered);
            self.share(&all, begin, stay, packet == own);
            later = Some(group);
        }
    }

    /// Whether RLC may send again what blocks carry without telling it of each block.
    fn hides_repeats(&self) -> bool {
        !self.air().is_cut() && !self.timeline.radio.has_harq
    }

    /// Whether a block is a repetition, or RLC sends again all that it carries.
    fn is_again(&self, block: &Block) -> bool {
        let is_hidden = || block.units > 0 && self.air().parts_of(block).all(|part| part.again);
        block.is_repeat() || is_hidden()
    }

    /// What is sent in a TTI.
    fn sent_in(&self, group: &Group) -> Sent {
        if !self.hides_repeats() {
            return self.air().sent_in(group);
        }
        let mut all = Sent::default();
        for block in self.air().blocks_of(group) {
            if self.is_again(&block) {
                all.again += u64::from(block.units);
            } else {
                let new = self.new_units(&block);
                all.new += new;
                all.again += u64::from(block.units) - new;
                all.first_new.get_or_insert(block);
            }
        }
        all
    }

    /// The units of a block that are sent for the first time: all, unless frames that failed share it with new ones.
    fn new_units(&self, block: &Block) -> u64 {
        let units = u64::from(block.units);
        let Some(size) = self.timeline.radio.frame_bytes else {
            return units;
        };
        let new = self.air().parts_of(block).filter(|part| !part.again);
        new.map(|part| u64::from(part.bytes.div_ceil(size))).sum::<u64>().min(units)
    }

    /// Divides a TTI between what was sent for the first time and what was repeated, as their units are.
    fn share(&mut self, &Sent { new, again, .. }: &Sent, begin: Time, stay: &Hop, is_own: bool) {
        let begin = begin.max(self.floor);
        if self.now <= begin {
            return;
        }
        if again > 0 {
            let lasts = u128::from(self.now.since(begin).0);
            let repeated = lasts * u128::from(again) / u128::from(new + again);
            self.to(Time(self.now.0 - repeated as u64), self.repair(), Step::Repeats, stay.place);
        }
        if is_own {
            self.fixed(begin, Cause::Transmission, Step::Sends, stay.place);
        } else {
            self.to(begin, self.cause_of_own_ahead(self.packet), Step::OwnAhead, stay.place);
        }
    }

    /// Back to `begin`, nothing having been sent to the user; `sent` was sent next.
    fn not_sent(&mut self, begin: Time, stay: &Hop, sent: Option<u32>) {
        let begin = begin.max(stay.entered).max(self.floor);
        if self.now <= begin {
            return;
        }
        if let Some(frame) = self.frame_before(sent) {
            self.not_served_at_node_b(frame.arrives.max(begin), frame.arrives.max(stay.entered), stay);
            self.crosses_iub(frame, begin, stay);
        } else {
            self.not_served_at_node_b(begin, stay.entered, stay);
        }
    }

    /// The frame that has brought what is sent next to the Node B, if one has.
    fn frame_before(&self, sent: Option<u32>) -> Option<Frame> {
        let next = sent.or_else(|| self.air().tx_at(self.now))?;
        self.air().frame_of(next).filter(|frame| frame.arrives <= self.now)
    }

    /// When a packet could have gone on the air first, `sent` being sent next: what crossed the Iub as soon as it came
    /// did not wait for what was sent meanwhile.
    fn could_go(&self, stay: &Hop, sent: Option<u32>) -> Time {
        match self.frame_before(sent) {
            Some(frame) if frame.at <= stay.entered => frame.arrives,
            _ => stay.entered,
        }
    }

    /// Back from a frame's arrival over the Iub to `begin`. Had the packet not waited for credits, it would have crossed
    /// in any case, from when it came: only what of that lies behind `begin` is always there. The rest of the
    /// crossing belongs to the round trip of the credits.
    fn crosses_iub(&mut self, frame: Frame, begin: Time, stay: &Hop) {
        let arrives_at_once = stay.entered + frame.arrives.since(frame.at);
        let fixed = arrives_at_once.since(begin);
        let credited = Time(frame.arrives.0.saturating_sub(fixed.0));
        self.fixed(credited.max(frame.at).max(begin), Cause::Propagation, Step::Iub, stay.place);
        self.to(frame.at.max(begin), Cause::Credits, Step::Iub, stay.place);
        self.to(begin, Cause::Credits, Step::NoCredits, stay.place);
    }

    /// Back to `begin`, the Node B having had something to send to the user since it was `there`.
    fn not_served_at_node_b(&mut self, begin: Time, there: Time, stay: &Hop) {
        let lasts = self.timeline.radio.interruption;
        while self.now > begin {
            let before = |at: &&Time| **at < self.now && **at + lasts > begin;
            match self.air().handovers.iter().rev().find(before).copied() {
                Some(at) => {
                    self.unserved(at + lasts, there, stay);
                    self.to(at.max(begin), Cause::Handover, Step::CellChanges, stay.place);
                }
                None => self.unserved(begin, there, stay),
            }
        }
    }

    fn unserved(&mut self, begin: Time, there: Time, stay: &Hop) {
        if begin >= self.now {
            return;
        }
        let grid = self.tti().0.max(1);
        // What has come waits for the next TTI in any case.
        let aligned = Time(there.0.div_ceil(grid) * grid).max(begin).min(self.now);
        let (cause, step) = if self.awaits_repetition() {
            (self.repair(), Step::RepeatWaits)
        } else if self.timeline.radio.has_channels {
            (Cause::Scheduler, Step::NotServed)
        } else {
            (Cause::Rlc, Step::ReportAwaited)
        };
        self.others_or(aligned, cause, step, stay);
        self.to(begin, Cause::Segmentation, Step::TtiBegins, stay.place);
    }

    /// Whether a block that had failed waits to go again just before now.
    fn awaits_repetition(&self) -> bool {
        let waits = |again: Option<Time>| again.is_some_and(|again| again >= self.now);
        self.air().failed_lately(self.now, LOOK_BACK).any(waits)
    }

    /// Back to `begin`: others were served, and where nobody was it is `cause`.
    fn others_or(&mut self, begin: Time, cause: Cause, step: Step, stay: &Hop) {
        let begin = begin.max(self.floor);
        while self.now > begin {
            let lane = self.timeline.lanes.get(stay.place);
            match lane.and_then(|lane| lane.others_before(self.now, begin)) {
                Some(others) => {
                    self.to(others.sent, cause, step, stay.place);
                    self.to(others.from, Cause::Scheduler, Step::OthersServed, stay.place);
                }
                None => self.to(begin, cause, step, stay.place),
            }
        }
    }
}
