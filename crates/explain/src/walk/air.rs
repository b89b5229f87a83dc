//! TTI by TTI back from the block that completed the packet: through its retransmissions and first
//! transmission, then through earlier transmissions to the user, which belong to packets ahead, until the
//! arrival of one of them.

use nodeb_base::event::Site;
use nodeb_base::units::{Duration, Time};

use super::Walk;
use crate::timeline::{Absence, Air, Block, Frame, Group, Hop, NONE, Part};
use nodeb_base::cause::{Cause, Step};

/// Blocks searched for one that waits for its retransmission.
const LOOK_BACK: usize = 256;

/// In one TTI.
#[derive(Clone, Copy, Debug, Default)]
struct Sent<'a> {
    /// Units sent for the first time.
    new: u64,
    /// Units sent before.
    retransmitted: u64,
    /// `None` if all are retransmissions.
    first_new: Option<&'a Block>,
}

impl<'a> Walk<'a> {
    fn air(&self) -> &'a Air {
        &self.timeline.air
    }

    pub(super) fn tti(&self) -> Duration {
        self.timeline.radio.tti.unwrap_or_default()
    }

    fn end_of(&self, block: &Block) -> Time {
        block.begin + self.tti()
    }

    /// By hybrid ARQ or the simple ARQ, not by an RLC protocol.
    fn retransmits_blocks(&self) -> bool {
        self.timeline.radio.retransmits_after.is_some()
    }

    /// Hybrid ARQ if the radio has it, otherwise RLC.
    fn retransmission_cause(&self) -> Cause {
        if self.timeline.radio.has_harq { Cause::Harq } else { Cause::Rlc }
    }

    /// To the arrival of the packet or one ahead, with its [`Hop`].
    pub(super) fn stay_on_air(&mut self, packet: u32, hop: u32) -> (u32, u32) {
        let stay = self.hop_at(hop);
        let (mut packet, mut hop) = (packet, hop);
        if self.packet_at(packet).left() <= self.now {
            let Some(block) = self.completing(packet, stay) else {
                self.not_sent(stay.entered, stay, None);
                return (packet, hop);
            };
            let block = self.block(block, packet, stay);
            (packet, hop) = self.older_of(block, packet, hop);
            self.follow(packet);
        }
        self.ttis_before(packet, hop)
    }

    /// The block that ends at `now` or, after going back through the wait that followed it, the last block
    /// with a part of the packet.
    fn completing(&mut self, packet: u32, stay: &Hop) -> Option<&'a Block> {
        let left = self.now;
        let group = self.air().group_before(left)?;
        let ends_now = group.begin + self.tti() == left;
        if ends_now {
            let arrived = || self.air().blocks_of(&group).iter().filter(|block| !block.has_failed);
            let is_retransmitted =
                |block: &&Block| block.is_retransmission() && self.packet_of(block, packet).is_some();
            let found = arrived().find(|block| self.air().carries(block, packet));
            let found = found.or_else(|| arrived().find(is_retransmitted));
            let found = found.or_else(|| arrived().find(|block| self.earlier_copy(block, packet).is_some()));
            if found.is_some() {
                return found;
            }
        }
        let last = self.air().last_before(left, stay.entered, packet)?;
        let (cause, step) = if self.retransmits_blocks() {
            // The reordering timer released the packet, or a packet ahead of it was given up.
            (Cause::Reordering, Step::Held)
        } else if ends_now {
            // The last TTI retransmitted the packet's last frames, but no event says which frames
            // it carried. So the wait since the last known block is charged to RLC.
            (Cause::Rlc, Step::Retransmits)
        } else {
            (Cause::Rlc, Step::ReportAwaited)
        };
        self.to(self.end_of(last), cause, step, stay.place);
        Some(last)
    }

    /// To the start of the first recorded transmission.
    fn block(&mut self, mut block: &'a Block, packet: u32, stay: &Hop) -> &'a Block {
        let place = stay.place;
        loop {
            let begin = block.begin;
            self.follow(self.packet_of(block, packet).unwrap_or(packet));
            if block.is_retransmission() {
                self.to(begin, self.retransmission_cause(), Step::Retransmits, place);
                let Some(before) = self.air().transmission_before(block) else {
                    return block;
                };
                self.wait_for_retransmission(before, stay);
                block = before;
                continue;
            }
            let Some(earlier) = self.earlier_copy(block, packet) else {
                self.fixed(begin, Cause::Transmission, Step::Sends, place);
                return block;
            };
            self.to(begin, Cause::Rlc, Step::Retransmits, place);
            self.to(self.end_of(earlier), Cause::Rlc, Step::ReportAwaited, place);
            block = earlier;
        }
    }

    /// `packet` if the block carries a part of it, else one that arrived no later and left no earlier than
    /// the block's end.
    fn packet_of(&self, block: &Block, packet: u32) -> Option<u32> {
        if self.air().carries(block, packet) {
            return Some(packet);
        }
        let came = self.entered_bearer(packet);
        let is_ahead = |other: &u32| {
            let entered = self.entered_bearer(*other);
            entered.is_some() && self.packet_at(*other).left() >= self.end_of(block) && entered <= came
        };
        self.air().parts_of(block).iter().map(|part| part.packet).find(is_ahead)
    }

    /// Until the earliest retransmission the sender waited for the ACK or NACK; then others may have been
    /// served.
    fn wait_for_retransmission(&mut self, before: &Block, stay: &Hop) {
        let (grid, end) = (self.tti().0.max(1), self.end_of(before));
        let eligible = before.begin + self.timeline.radio.retransmits_after.unwrap_or_default();
        let eligible = Time(eligible.0.div_ceil(grid) * grid).max(end).min(self.now);
        self.others_or(eligible, self.retransmission_cause(), Step::RetransmissionAwaited, stay);
        self.to(end, self.retransmission_cause(), Step::RetransmissionAwaited, stay.place);
    }

    /// Its failure made RLC retransmit data in `block`.
    fn earlier_copy(&self, block: &Block, packet: u32) -> Option<&'a Block> {
        if !self.air().has_copies() {
            return None;
        }
        let served = self.packet_of(block, packet)?;
        let part = self.air().parts_of(block).iter().find(|part| part.packet == served)?;
        let entered = self.entered_bearer(part.packet)?;
        let is_same = |other: &&Block| {
            let mut parts = self.air().parts_of(other).iter();
            let overlaps = |earlier: &Part| {
                earlier.packet == part.packet
                    && earlier.offset < part.offset + part.bytes
                    && part.offset < earlier.offset + earlier.bytes
            };
            !other.is_retransmission() && parts.any(overlaps)
        };
        let earlier = self.air().blocks[..block.number as usize].iter().rev();
        let earlier = earlier.take_while(|other| self.end_of(other) > entered);
        // Blocks that end after `block` begins cannot have caused its transmission.
        earlier.filter(|other| self.end_of(other) <= block.begin).find(is_same)
    }

    fn entered_bearer(&self, packet: u32) -> Option<Time> {
        self.stay_at_bearer(packet).map(|hop| self.hop_at(hop).entered)
    }

    fn stay_at_bearer(&self, packet: u32) -> Option<u32> {
        let hop = self.packet_at(packet).hop;
        (hop != NONE && self.hop_at(hop).place.site == Site::Bearer).then_some(hop)
    }

    /// Entered the bearer first, with its [`Hop`]; `packet` and `hop` if none has a recorded stay begun
    /// before the block.
    fn older_of(&self, block: &Block, packet: u32, hop: u32) -> (u32, u32) {
        let stay = |packet: u32| Some((packet, self.stay_at_bearer(packet)?));
        let stays = self.air().parts_of(block).iter().filter_map(|part| stay(part.packet));
        let oldest = stays.min_by_key(|(_, hop)| self.hop_at(*hop).entered);
        oldest.filter(|(_, hop)| self.hop_at(*hop).entered <= block.begin).unwrap_or((packet, hop))
    }

    /// To the arrival of the packet or one ahead, with its [`Hop`].
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
            let Some(group) = group.filter(|group| group.begin >= self.earliest_transmission(stay, sent))
            else {
                // A packet that arrived during a TTI could not have been sent in it. So the path
                // goes back to the packet's arrival without regard to that TTI.
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
            if let Some(new) = all.first_new {
                (packet, hop) = self.older_of(new, packet, hop);
                self.follow(packet);
            }
            let begin = begin.max(self.hop_at(hop).entered);
            self.share(&all, begin, stay, packet == own);
            later = Some(group);
        }
    }

    /// Also, if RLC retransmits data in new blocks, for a block with units but without new data of the flow.
    fn carries_nothing_new(&self, block: &Block) -> bool {
        let is_hidden =
            || block.units > 0 && self.air().parts_of(block).iter().all(|part| part.is_retransmission);
        block.is_retransmission() || (!self.retransmits_blocks() && is_hidden())
    }

    fn sent_in(&self, group: &Group) -> Sent<'a> {
        let mut all = Sent::default();
        for block in self.air().blocks_of(group) {
            if self.carries_nothing_new(block) {
                all.retransmitted += u64::from(block.units);
            } else {
                let new = self.new_units(block);
                all.new += new;
                all.retransmitted += u64::from(block.units) - new;
                all.first_new.get_or_insert(block);
            }
        }
        all
    }

    /// All units, unless new and retransmitted frames can share a block.
    fn new_units(&self, block: &Block) -> u64 {
        let units = u64::from(block.units);
        let Some(size) = self.timeline.radio.frame_bytes else {
            return units;
        };
        let new = self.air().parts_of(block).iter().filter(|part| !part.is_retransmission);
        new.map(|part| u64::from(part.bytes.div_ceil(size))).sum::<u64>().min(units)
    }

    /// In proportion to the units sent; not `is_own`, new units count as a wait behind another packet of the
    /// user.
    fn share(&mut self, &Sent { new, retransmitted, .. }: &Sent<'_>, begin: Time, stay: &Hop, is_own: bool) {
        let begin = begin.max(self.floor);
        if self.now <= begin {
            return;
        }
        if retransmitted > 0 {
            let lasts = u128::from(self.now.since(begin).0);
            let of_retransmissions = lasts * u128::from(retransmitted) / u128::from(new + retransmitted);
            self.to(
                Time(self.now.0 - of_retransmissions as u64),
                self.retransmission_cause(),
                Step::Retransmits,
                stay.place,
            );
        }
        if is_own {
            self.fixed(begin, Cause::Transmission, Step::Sends, stay.place);
        } else {
            self.to(begin, self.cause_of_own_ahead(self.packet), Step::OwnAhead, stay.place);
        }
    }

    /// Or to the arrival at the bearer if later. `sent` in `Air::blocks` follows, or the transmission that begins
    /// at `now`.
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

    /// With the first new unit of `sent` (as in [`Self::not_sent`]), unless it arrived after `now`.
    fn frame_before(&self, sent: Option<u32>) -> Option<Frame> {
        let next = sent.or_else(|| Some(self.air().block_at(self.now)?.number))?;
        self.air().frame_of(next).filter(|frame| frame.arrives <= self.now)
    }

    /// Arrival at the Node B if the packet crossed the Iub at once, else at the bearer.
    fn earliest_transmission(&self, stay: &Hop, sent: Option<u32>) -> Time {
        match self.frame_before(sent) {
            Some(frame) if frame.at <= stay.entered => frame.arrives,
            _ => stay.entered,
        }
    }

    /// Without credits to await, the packet would have crossed when it arrived at the RNC: that part is a
    /// fixed latency, the rest is charged to credits.
    fn crosses_iub(&mut self, frame: Frame, begin: Time, stay: &Hop) {
        let arrives_at_once = stay.entered + frame.arrives.since(frame.at);
        let fixed = arrives_at_once.since(begin);
        let credited = Time(frame.arrives.0.saturating_sub(fixed.0));
        self.fixed(credited.max(frame.at).max(begin), Cause::Propagation, Step::Iub, stay.place);
        self.to(frame.at.max(begin), Cause::Credits, Step::Iub, stay.place);
        self.to(begin, Cause::Credits, Step::NoCredits, stay.place);
    }

    /// There were data from `there` on; changes of cell are charged to the handover.
    fn not_served_at_node_b(&mut self, begin: Time, there: Time, stay: &Hop) {
        let lasts = self.timeline.radio.interruption;
        while self.now > begin {
            let before = |at: &&Time| **at < self.now && **at + lasts > begin;
            match self.air().handovers.iter().rev().find(before).copied() {
                Some(at) => {
                    self.unserved(at + lasts, there, stay);
                    self.to(at.max(begin), Cause::Handover, Step::CellChanges, stay.place);
                }
                None => self.asleep_or_unserved(begin, there, stay),
            }
        }
    }

    /// There were data from `there` on; sleep is charged to DRX, an idle phone to the set-up of its
    /// connection.
    fn asleep_or_unserved(&mut self, begin: Time, there: Time, stay: &Hop) {
        while self.now > begin {
            match self.air().absence_before(self.now).filter(|absence| absence.until > begin) {
                Some(Absence { from, until, is_idle }) => {
                    self.unserved(until, there, stay);
                    let asleep = (Cause::Drx, Step::Sleeps);
                    let (cause, step) =
                        if is_idle { (Cause::ChannelSwitching, Step::Connects) } else { asleep };
                    self.to(from.max(begin), cause, step, stay.place);
                }
                None => self.unserved(begin, there, stay),
            }
        }
    }

    /// There were data from `there` on, and the phone could receive.
    fn unserved(&mut self, begin: Time, there: Time, stay: &Hop) {
        if begin >= self.now {
            return;
        }
        let grid = self.tti().0.max(1);
        // Data that arrive during a TTI wait for the next TTI in any case: this is charged to
        // segmentation.
        let aligned = Time(there.0.div_ceil(grid) * grid).max(begin).min(self.now);
        let (cause, step) = if self.awaits_retransmission() {
            (self.retransmission_cause(), Step::RetransmissionAwaited)
        } else if self.timeline.radio.has_channels {
            (Cause::Scheduler, Step::NotServed)
        } else {
            (Cause::Rlc, Step::ReportAwaited)
        };
        self.others_or(aligned, cause, step, stay);
        self.to(begin, Cause::Segmentation, Step::TtiBegins, stay.place);
    }

    /// A failed block just before `now` is retransmitted at `now` or later.
    fn awaits_retransmission(&self) -> bool {
        let mut last = self.air().blocks_before(self.now).iter().rev().take(LOOK_BACK);
        last.any(|block| block.has_failed && block.next().is_some_and(|next| next >= self.now))
    }

    /// Time of other users is charged to the scheduler, the rest to `cause`.
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
