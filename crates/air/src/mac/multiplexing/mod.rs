//! Multiplexing of a phone's logical channels into its transport blocks (TS 36.321, 5.4.3).

pub mod prioritization;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::{Cause, Part};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::{Duration, Time};
use nodeb_net::queue::QueueCounts;

use crate::Backlog;
use crate::bearer::{Bearer, MAX_BEARERS};
use crate::rlc::lte::{Entity, Filled, Outcome};
use prioritization::{Bucket, Demand, prioritize};

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

#[derive(Clone, Copy, Debug)]
pub struct ChannelRules {
    /// 1 is the highest.
    pub priority: u8,
    /// In TTIs.
    pub delay_budget: u64,
    pub bucket: Bucket,
}

impl ChannelRules {
    pub fn new(bearer: &Bearer, tti: Duration) -> Self {
        Self {
            priority: bearer.priority(),
            delay_budget: bearer.delay_budget().0 / tti.0,
            bucket: Bucket::new(bearer.prioritized_rate()),
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

/// Of a phone in one direction; PDUs are numbered in the order in which blocks take them.
#[derive(Debug)]
pub struct LogicalChannels {
    /// In order of decreasing priority.
    all: Vec<LogicalChannel>,
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
            bucket: rules.bucket,
            rules,
            rlc,
            numbered: 0,
        };
        let mut all: Vec<_> = (0..).zip(bearers).map(channel).collect();
        all.sort_by_key(|channel| channel.rules.priority);
        Self { all, sections: VecDeque::new(), next_unit: 0, pushed: 0 }
    }

    pub fn iter(&self) -> impl Iterator<Item = &LogicalChannel> {
        self.all.iter()
    }

    #[inline]
    fn place(&self, bearer: u8) -> usize {
        self.all.iter().position(|channel| channel.bearer == bearer).unwrap_or(0)
    }

    fn by_channel(&self, octets: impl Fn(&LogicalChannel) -> u64) -> ByChannel {
        let mut by_channel = [0; MAX_BEARERS];
        for (of, channel) in by_channel.iter_mut().zip(&self.all) {
            *of = u32::try_from(octets(channel)).unwrap_or(u32::MAX);
        }
        by_channel
    }

    // --- Methods of the sending end ---

    /// May be sent from TTI `since`; false if the bearer's queue drops it.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        self.pushed = self.place(packet.bearer);
        self.all[self.pushed].rlc.push(now, packet, since)
    }

    /// Cause of the last packet that [`Self::push`] did not accept.
    pub fn refused(&self) -> Cause {
        self.all[self.pushed].rlc.refused()
    }

    pub fn queue_counts(&self) -> QueueCounts {
        self.all.iter().map(|channel| channel.rlc.queue_counts()).sum()
    }

    /// As [`Entity::waiting`].
    pub fn waiting(&self) -> u64 {
        self.all.iter().map(|channel| channel.rlc.waiting()).sum()
    }

    /// Place of the first channel with data; [`MAX_BEARERS`] if there are none.
    pub fn highest_waiting(&self) -> usize {
        self.all.iter().position(|channel| channel.rlc.waiting() > 0).unwrap_or(MAX_BEARERS)
    }

    pub fn waiting_by_channel(&self) -> ByChannel {
        self.by_channel(|channel| channel.rlc.waiting())
    }

    /// As [`Entity::sendable`].
    #[inline]
    pub fn sendable(&self) -> u64 {
        self.all.iter().map(|channel| channel.rlc.sendable()).sum()
    }

    pub fn has_prioritized_rate(&self) -> bool {
        self.all.iter().any(|channel| channel.bucket.has_rate())
    }

    /// Octets within prioritized rates, and their highest priority; `None` without any.
    pub fn prioritized(&mut self, now: Time) -> Option<(u8, u32)> {
        let mut prioritized: Option<(u8, u32)> = None;
        for channel in self.all.iter_mut().filter(|channel| channel.bucket.has_rate()) {
            let octets = u64::from(channel.bucket.octets(now)).min(channel.rlc.sendable()) as u32;
            if octets > 0 {
                let (priority, total) = prioritized.unwrap_or((channel.rules.priority, 0));
                prioritized = Some((priority, total + octets));
            }
        }
        prioritized
    }

    /// A PDU is only added if its header and at least one octet of data fit. Channels get their shares, and
    /// what other channels leave.
    #[inline]
    pub fn fill(&mut self, now: Time, room: u32) -> Filled {
        let [only] = &mut self.all[..] else { return self.multiplex(now, room) };
        let filled = only.rlc.fill(now, room);
        if only.bucket.has_rate() {
            let prioritized = only.bucket.octets(now);
            only.bucket.take(filled.bytes().min(prioritized));
        }
        filled
    }

    fn multiplex(&mut self, now: Time, room: u32) -> Filled {
        let demand = |channel: &mut LogicalChannel| {
            let waiting = channel.rlc.sendable().min(u64::from(room)) as u32;
            let waiting = if waiting > 0 { waiting + HEADERS } else { 0 };
            let prioritized = channel.bucket.octets(now);
            Demand { priority: channel.rules.priority, waiting, prioritized, share: 0 }
        };
        let mut demands: Vec<Demand> = self.all.iter_mut().map(demand).collect();
        prioritize(room, &mut demands);
        let (mut block, mut left) = (Filled::empty(self.next_unit), room);
        let mut planned: u32 = demands.iter().map(|demand| demand.share).sum();
        for ((index, channel), demand) in self.all.iter_mut().enumerate().zip(demands) {
            planned -= demand.share;
            let filled = channel.rlc.fill(now, left - planned);
            channel.bucket.take(filled.bytes().min(demand.prioritized));
            left -= filled.bytes();
            let units = block.append(&filled);
            if !units.is_empty() {
                self.sections.push_back(Section { units, channel: index, first: filled.units.start });
            }
        }
        self.next_unit = block.units.end;
        block
    }

    /// Channel and numbers in the channel of PDUs in flight.
    fn sections(&self, units: &Range<u64>) -> impl Iterator<Item = (usize, Range<u64>)> {
        let whole = (self.all.len() == 1).then(|| (0, units.clone()));
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
        self.sections(&units).flat_map(|(channel, units)| self.all[channel].rlc.carried(units)).collect()
    }

    /// Bearer, PDCP number and packet, of those that RLC has begun to send since the last call.
    pub fn take_numbers(&mut self) -> impl Iterator<Item = (u8, u64, PacketId)> {
        self.all.iter_mut().flat_map(|channel| {
            let LogicalChannel { bearer, rlc, numbered, .. } = channel;
            let numbers = *numbered..rlc.next_number();
            *numbered = numbers.end;
            numbers.filter_map(|number| Some((*bearer, number, rlc.packet(number)?)))
        })
    }

    /// In TTIs, of the packet whose delay budget ends first.
    pub fn deadline(&self) -> u64 {
        let sending = self.all.iter().filter(|channel| channel.rlc.sendable() > 0);
        let deadline =
            |channel: &LogicalChannel| channel.rlc.waits_since().unwrap_or(0) + channel.rules.delay_budget;
        sending.map(deadline).min().unwrap_or(u64::MAX)
    }

    pub fn backlog(&self) -> Backlog {
        self.all.iter().map(|channel| channel.rlc.backlog()).sum()
    }

    #[inline]
    pub fn due(&self) -> Option<Time> {
        self.all.iter().filter_map(|channel| channel.rlc.due()).min()
    }

    pub fn on_time(&mut self, now: Time) {
        for channel in self.all.iter_mut().filter(|channel| channel.rlc.due().is_some_and(|at| at <= now)) {
            channel.rlc.on_time(now);
        }
    }

    // --- Methods of the receiving end ---

    /// PDUs of one block; `lost` if HARQ has given them up.
    pub fn receive(&mut self, now: Time, units: Range<u64>, lost: bool) {
        if let [only] = &mut self.all[..] {
            return only.rlc.receive(now, units, lost);
        }
        let sections: Vec<_> = self.sections(&units).collect();
        self.sections.retain(|section| !units.contains(&section.units.start));
        for (channel, units) in sections {
            self.all[channel].rlc.receive(now, units, lost);
        }
    }

    #[inline]
    pub fn has_outcomes(&self) -> bool {
        self.all.iter().any(|channel| channel.rlc.has_outcomes())
    }

    /// As [`Entity::outcomes`].
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        self.all.iter_mut().flat_map(|channel| channel.rlc.outcomes())
    }

    /// Of a STATUS PDU that the receiving end sends now, if one is due.
    #[inline]
    pub fn take_status(&mut self, now: Time) -> Option<StatusNumber> {
        self.all.iter_mut().enumerate().find_map(|(channel, LogicalChannel { rlc, .. })| {
            let report = if rlc.report_waiting(now) > 0 { rlc.take_report(now, u32::MAX) } else { None };
            Some(StatusNumber { channel, number: report?.number })
        })
    }

    pub fn on_status(&mut self, StatusNumber { channel, number }: StatusNumber) {
        self.all[channel].rlc.on_report(number, false);
    }
}
