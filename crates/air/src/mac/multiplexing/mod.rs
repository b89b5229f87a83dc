//! Multiplexing of a phone's logical channels into its transport blocks (TS 36.321, 5.4.3).

pub mod prioritization;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::{Cause, Part};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::{Duration, Rate, Time};
use nodeb_net::queue::QueueCounts;

use crate::Backlog;
use crate::bearer::{Bearer, MAX_BEARERS};
use crate::rlc::lte::{Entity, Filled, Outcome, earlier};
use prioritization::{Bucket, Demand, claims, prioritize};

/// By logical channel, in order of decreasing priority; 0 beyond a phone's channels.
pub type ByChannel = [u32; MAX_BEARERS];

/// Octets of headers that RLC's estimate of its data lacks, so that a short remainder gets room for them.
pub const HEADERS: u32 = 8;

/// Of one direction of a bearer; `rlc` has both ends.
#[derive(Debug)]
pub struct LogicalChannel {
    /// Of the phone.
    pub bearer: u8,
    pub rules: ChannelRules,
    pub rlc: Entity,
    bucket: Bucket,
    /// PDCP number of the first packet not yet taken by [`LogicalChannels::take_numbers`].
    numbered: u64,
}

impl LogicalChannel {
    fn demand(&mut self, now: Time, room: u32) -> Demand {
        let sendable = self.rlc.sendable().min(u64::from(room)) as u32;
        let waiting = if sendable > 0 { sendable.saturating_add(HEADERS) } else { 0 };
        let packet = self.rlc.next_octets() + HEADERS;
        let prioritized = self.bucket.prioritized(now, waiting, packet);
        Demand { priority: self.rules.priority, waiting, prioritized, share: 0 }
    }

    /// Without other channels.
    fn fill_at_rate(&mut self, now: Time, room: u32) -> Filled {
        let prioritized = self.demand(now, room).prioritized;
        let filled = self.rlc.fill(now, room);
        self.bucket.take(filled.payload.min(prioritized));
        filled
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ChannelRules {
    /// 1 is the highest.
    pub priority: u8,
    /// In TTIs.
    pub delay_budget: u64,
    pub prioritized_rate: Rate,
}

impl ChannelRules {
    pub fn new(bearer: &Bearer, tti: Duration) -> Self {
        Self {
            priority: bearer.priority(),
            delay_budget: bearer.delay_budget().0 / tti.0,
            prioritized_rate: bearer.prioritized_rate(),
        }
    }
}

/// PDUs of a block that belong to one channel.
#[derive(Clone, Debug)]
struct Section {
    /// Numbers in the block.
    units: Range<u64>,
    channel: usize,
    /// Number in the channel of the first.
    first: u64,
}

/// Of a STATUS PDU.
#[derive(Clone, Copy, Debug)]
pub struct StatusNumber {
    channel: usize,
    number: u64,
}

/// What a phone's channels have or need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attention {
    pub has_outcomes: bool,
    /// As [`Entity::sendable`].
    pub sendable: u64,
    /// Next call of [`LogicalChannels::on_time`].
    pub due: Option<Time>,
}

impl Attention {
    fn with(self, other: Self) -> Self {
        Self {
            has_outcomes: self.has_outcomes || other.has_outcomes,
            sendable: self.sendable + other.sendable,
            due: earlier(self.due, other.due),
        }
    }
}

#[inline(always)] // As `LogicalChannels::attend`.
fn attend(channel: usize, rlc: &mut Entity, now: Time, send: &mut impl FnMut(StatusNumber)) -> Attention {
    if rlc.report_waiting(now) > 0
        && let Some(report) = rlc.take_report(now, u32::MAX)
    {
        send(StatusNumber { channel, number: report.number });
    }
    Attention { has_outcomes: rlc.has_outcomes(), sendable: rlc.sendable(), due: rlc.due() }
}

/// Of a phone in one direction; PDUs are numbered in the order in which blocks take them.
#[derive(Debug)]
pub struct LogicalChannels {
    /// In order of decreasing priority.
    channels: Vec<LogicalChannel>,
    /// Of blocks in flight; none if there is only one channel, whose numbers are those of the blocks.
    sections: VecDeque<Section>,
    next_unit: u64,
    /// Of the last packet.
    pushed: usize,
}

impl LogicalChannels {
    /// Each bearer with its RLC, in the order of their numbers.
    pub fn new(bearers: impl Iterator<Item = (ChannelRules, Entity)>) -> Self {
        let channel = |(bearer, (rules, rlc)): (u8, (ChannelRules, Entity))| LogicalChannel {
            bearer,
            bucket: Bucket::new(rules.prioritized_rate),
            rules,
            rlc,
            numbered: 0,
        };
        let mut channels: Vec<_> = (0..).zip(bearers).map(channel).collect();
        channels.sort_by_key(|channel| channel.rules.priority);
        Self { channels, sections: VecDeque::new(), next_unit: 0, pushed: 0 }
    }

    pub fn iter(&self) -> impl Iterator<Item = &LogicalChannel> {
        self.channels.iter()
    }

    #[inline]
    fn place(&self, bearer: u8) -> usize {
        self.channels.iter().position(|channel| channel.bearer == bearer).unwrap_or(0)
    }

    /// After any change; `send` gets the STATUS PDUs that the receiving end sends now.
    #[inline(always)] // Called after each block and packet.
    pub fn attend(&mut self, now: Time, mut send: impl FnMut(StatusNumber)) -> Attention {
        match &mut self.channels[..] {
            [only] => attend(0, &mut only.rlc, now, &mut send),
            several => {
                let all = several.iter_mut().enumerate();
                let all =
                    all.map(|(channel, LogicalChannel { rlc, .. })| attend(channel, rlc, now, &mut send));
                all.fold(Attention::default(), Attention::with)
            }
        }
    }

    // --- Methods of the sending end ---

    /// May be sent from TTI `since`; false if the bearer's queue drops it.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        self.pushed = self.place(packet.bearer);
        self.channels[self.pushed].rlc.push(now, packet, since)
    }

    /// Cause of the last packet that [`Self::push`] did not accept.
    pub fn refused(&self) -> Cause {
        self.channels[self.pushed].rlc.refused()
    }

    pub fn queue_counts(&self) -> QueueCounts {
        self.channels.iter().map(|channel| channel.rlc.queue_counts()).sum()
    }

    /// Highest priority with data.
    pub fn highest_waiting(&self) -> Option<u8> {
        let waiting = self.channels.iter().find(|channel| channel.rlc.waiting() > 0);
        waiting.map(|channel| channel.rules.priority)
    }

    /// As [`Entity::waiting`].
    pub fn waiting(&self) -> ByChannel {
        let mut waiting = [0; MAX_BEARERS];
        for (octets, channel) in waiting.iter_mut().zip(&self.channels) {
            *octets = u32::try_from(channel.rlc.waiting()).unwrap_or(u32::MAX);
        }
        waiting
    }

    /// As [`Entity::sendable`].
    #[inline]
    pub fn sendable(&self) -> u64 {
        match &self.channels[..] {
            [only] => only.rlc.sendable(),
            several => several.iter().map(|channel| channel.rlc.sendable()).sum(),
        }
    }

    pub fn has_prioritized_rate(&self) -> bool {
        self.channels.iter().any(|channel| channel.bucket.has_rate())
    }

    /// Octets within prioritized rates, each with its priority.
    pub fn claims(&mut self, now: Time) -> impl Iterator<Item = (u8, u32)> {
        claims(self.channels.iter_mut().map(move |channel| channel.demand(now, u32::MAX)))
    }

    /// A PDU is only added if its header and at least one octet of data fit.
    #[inline(always)] // Called for each block.
    pub fn fill(&mut self, now: Time, room: u32) -> Filled {
        match &mut self.channels[..] {
            [only] if !only.bucket.has_rate() => only.rlc.fill(now, room),
            [only] => only.fill_at_rate(now, room),
            _ => self.multiplex(now, room),
        }
    }

    /// Channels get their shares, and those that have more data get what the others leave.
    fn multiplex(&mut self, now: Time, room: u32) -> Filled {
        let mut demands: Vec<Demand> =
            self.channels.iter_mut().map(|channel| channel.demand(now, room)).collect();
        prioritize(room, &mut demands);
        let mut order: Vec<usize> = (0..demands.len()).collect();
        order.sort_by_key(|place| (demands[*place].share < demands[*place].waiting, Reverse(*place)));
        let (mut block, mut left) = (Filled::empty(self.next_unit), room);
        let mut planned: u32 = demands.iter().map(|demand| demand.share).sum();
        for place in order {
            let (channel, demand) = (&mut self.channels[place], demands[place]);
            planned -= demand.share;
            let filled = channel.rlc.fill(now, left - planned);
            channel.bucket.take(filled.payload.min(demand.prioritized));
            left -= filled.bytes();
            let units = block.append(&filled);
            if !units.is_empty() {
                self.sections.push_back(Section { units, channel: place, first: filled.units.start });
            }
        }
        self.next_unit = block.units.end;
        block
    }

    /// Channel and numbers in the channel of PDUs in flight.
    fn sections(&self, units: &Range<u64>) -> impl Iterator<Item = (usize, Range<u64>)> {
        let whole = (self.channels.len() == 1).then(|| (0, units.clone()));
        let Range { start, end } = *units;
        let part = move |section: &Section| {
            let units = start.max(section.units.start)..end.min(section.units.end);
            let first = section.first + units.start.saturating_sub(section.units.start);
            (!units.is_empty()).then(|| (section.channel, first..first + (units.end - units.start)))
        };
        whole.into_iter().chain(self.sections.iter().filter_map(part))
    }

    /// The PDUs must be in flight.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        self.sections(&units).flat_map(|(channel, units)| self.channels[channel].rlc.carried(units)).collect()
    }

    /// Bearer, PDCP number and packet, of those that RLC has begun to send since the last call.
    pub fn take_numbers(&mut self) -> impl Iterator<Item = (u8, u64, PacketId)> {
        self.channels.iter_mut().flat_map(|channel| {
            let LogicalChannel { bearer, rlc, numbered, .. } = channel;
            let numbers = *numbered..rlc.next_number();
            *numbered = numbers.end;
            numbers.filter_map(|number| Some((*bearer, number, rlc.packet(number)?)))
        })
    }

    /// In TTIs, of the packet whose delay budget ends first.
    pub fn deadline(&self) -> u64 {
        let sending = self.channels.iter().filter(|channel| channel.rlc.sendable() > 0);
        let deadline =
            |channel: &LogicalChannel| channel.rlc.waits_since().unwrap_or(0) + channel.rules.delay_budget;
        sending.map(deadline).min().unwrap_or(u64::MAX)
    }

    pub fn backlog(&self) -> Backlog {
        self.channels.iter().map(|channel| channel.rlc.backlog()).sum()
    }

    pub fn due(&self) -> Option<Time> {
        self.channels.iter().filter_map(|channel| channel.rlc.due()).min()
    }

    pub fn on_time(&mut self, now: Time) {
        for channel in
            self.channels.iter_mut().filter(|channel| channel.rlc.due().is_some_and(|at| at <= now))
        {
            channel.rlc.on_time(now);
        }
    }

    // --- Methods of the receiving end ---

    /// PDUs of one block; `lost` if HARQ has given them up.
    #[inline(always)] // Called for each block.
    pub fn receive(&mut self, now: Time, units: Range<u64>, lost: bool) {
        match &mut self.channels[..] {
            [only] => only.rlc.receive(now, units, lost),
            _ => self.receive_sections(now, units, lost),
        }
    }

    fn receive_sections(&mut self, now: Time, units: Range<u64>, lost: bool) {
        let sections: Vec<_> = self.sections(&units).collect();
        self.sections.retain(|section| !units.contains(&section.units.start));
        for (channel, units) in sections {
            self.channels[channel].rlc.receive(now, units, lost);
        }
    }

    /// As [`Entity::outcomes`].
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        self.channels.iter_mut().flat_map(|channel| channel.rlc.outcomes())
    }

    pub fn on_status(&mut self, StatusNumber { channel, number }: StatusNumber) {
        self.channels[channel].rlc.on_report(number, false);
    }
}
