//! A link that sends when a recording says that it could: mahimahi's `mm-link`.
//!
//! At each opportunity so many bytes go, of the packet first in line and then of those behind it: a packet may take
//! several opportunities, and an opportunity may finish several packets. A packet is there when its last byte has gone.
//! It takes part in opportunities after its arrival only, not in one at the very same time. What is left of an
//! opportunity when nothing waits is lost, as are those that find nothing: they cost no event, and are counted
//! together when the next packet comes.

use std::collections::VecDeque;

use nodeb_base::context::Context;
use nodeb_base::engine::Key;
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::table;
use nodeb_base::units::{Duration, Time};

use super::ingress::{Ingress, LinkCounts};
use super::opportunities::{Recording, Turns};
use super::propagation::Propagation;

/// A recording knows milliseconds: what is delivered in one was sent in it.
const RESOLUTION: Duration = Duration::from_millis(1);

/// What has become of a link's opportunities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Opportunities that have been.
    pub offered: u64,
    /// Those that carried something.
    pub used: u64,
    /// Those that carried nothing.
    pub wasted: u64,
    /// Bytes of all of them.
    pub offered_bytes: u64,
    /// Bytes of packets and their headers.
    pub used_bytes: u64,
    /// Bytes that nobody used, those left over of used opportunities included.
    pub wasted_bytes: u64,
}

/// The opportunities of one user's link.
#[derive(Clone, Copy, Debug)]
pub struct UsageRow {
    /// Number of the user.
    pub user: usize,
    /// `down` or `up`.
    pub way: &'static str,
    /// What has become of them.
    pub usage: Usage,
}

table! {
    /// One row per user and way that follows a recording of delivery opportunities: what has become of these.
    pub static OPPORTUNITIES: "opportunities" of UsageRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user as u64;
        /// `down` to the phone, or `up` from it.
        "way" [""] Text = |row| row.way.into();
        /// Delivery opportunities up to the end of the run.
        "offered" [""] U64 = |row| row.usage.offered;
        /// Those that carried a part of a packet at least.
        "used" [""] U64 = |row| row.usage.used;
        /// Those that found nothing to send.
        "wasted" [""] U64 = |row| row.usage.wasted;
        /// Bytes of all of them.
        "offered_bytes" ["bytes"] U64 = |row| row.usage.offered_bytes;
        /// Bytes of packets, and of what the recording adds to each, that they carried.
        "used_bytes" ["bytes"] U64 = |row| row.usage.used_bytes;
        /// Bytes that nobody used: of those wasted, and what was left over of others.
        "wasted_bytes" ["bytes"] U64 = |row| row.usage.wasted_bytes;
    }
}

/// A packet that is being sent.
#[derive(Clone, Copy, Debug)]
struct First {
    packet: Packet,
    /// Bytes of it that have still to go.
    left: u64,
}

/// One direction of a link that follows a recording.
#[derive(Debug)]
pub struct TracedLink {
    turns: Turns,
    size: u64,
    header: u64,
    delay: Duration,
    ingress: Ingress,
    first: Option<First>,
    /// When the next opportunity is used, if something waits for it.
    resume: Option<Key>,
    propagation: Propagation,
    /// The last time at which something was sent.
    sent: Time,
    /// What came within the last ms, where somebody wants to know since when it is sent.
    recent: VecDeque<(PacketId, Time)>,
    usage: Usage,
    /// Bytes of packets that have gone.
    bytes: u64,
}

impl TracedLink {
    /// An idle link.
    pub fn new(recording: &Recording, delay: Duration, ingress: Ingress, propagation: Propagation) -> Self {
        Self {
            turns: Turns::new(recording),
            size: recording.size.0,
            header: recording.header.0,
            delay,
            ingress,
            first: None,
            resume: None,
            propagation,
            sent: Time::ZERO,
            recent: VecDeque::new(),
            usage: Usage::default(),
            bytes: 0,
        }
    }

    /// Hands a packet to the link; `false` means that it is lost.
    pub fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
        if !self.ingress.admit(ctx, &packet) {
            return false;
        }
        // An opportunity at this very time was before the packet.
        if self.turns.next_time().is_some_and(|at| at <= ctx.now) {
            self.serve(ctx);
            if self.is_idle() {
                self.skip(self.turns.until(ctx.now));
            }
        }
        if !self.ingress.push(ctx, &packet) {
            return false;
        }
        if ctx.wants(Mask::SERVICE) {
            self.note(ctx.now, packet.id);
        }
        if self.resume.is_none() {
            self.resume = self.turns.next_time().map(|at| ctx.key(at));
        }
        true
    }

    fn is_idle(&self) -> bool {
        self.first.is_none() && self.ingress.is_empty()
    }

    /// Opportunities up to number `next` have found nothing.
    fn skip(&mut self, next: u64) {
        let passed = next.saturating_sub(self.turns.next);
        self.turns.next += passed;
        self.usage.wasted += passed;
        self.usage.wasted_bytes += passed * self.size;
    }

    fn note(&mut self, now: Time, packet: PacketId) {
        while self.recent.front().is_some_and(|(_, at)| *at + RESOLUTION < now) {
            self.recent.pop_front();
        }
        self.recent.push_back((packet, now));
    }

    /// Uses the opportunities that are due, as long as something waits.
    fn serve(&mut self, ctx: &mut Context) {
        while let Some(at) = self.turns.next_time().filter(|at| *at <= ctx.now) {
            if self.is_idle() {
                break;
            }
            self.turns.next += 1;
            let left = self.use_up(ctx, at);
            *(if left < self.size { &mut self.usage.used } else { &mut self.usage.wasted }) += 1;
            self.usage.used_bytes += self.size - left;
            self.usage.wasted_bytes += left;
        }
        let next = self.turns.next_time().filter(|_| !self.is_idle());
        self.resume = next.map(|at| ctx.key(at));
    }

    /// Sends what an opportunity has room for; the bytes that are left.
    fn use_up(&mut self, ctx: &mut Context, at: Time) -> u64 {
        let mut room = self.size;
        while room > 0 {
            let Some(First { packet, left }) = self.first.take().or_else(|| self.next_packet(ctx)) else {
                break;
            };
            let sent = left.min(room);
            room -= sent;
            if ctx.wants(Mask::SERVICE) {
                self.emit_part(ctx, at, packet.id, sent == left);
            }
            self.sent = at;
            if sent < left {
                self.first = Some(First { packet, left: left - sent });
            } else {
                self.bytes += u64::from(packet.size);
                self.propagation.depart(at + self.delay, packet, &mut ctx.stamps);
            }
        }
        room
    }

    fn next_packet(&mut self, ctx: &mut Context) -> Option<First> {
        if self.ingress.is_empty() {
            return None;
        }
        self.ingress.pop(ctx).map(|packet| First { packet, left: u64::from(packet.size) + self.header })
    }

    /// Emits a part of a packet that is sent; with the last one also when the packet arrives.
    fn emit_part(&self, ctx: &mut Context, sent: Time, packet: PacketId, is_last: bool) {
        let entered = self.recent.iter().find(|(id, _)| *id == packet).map_or(Time::ZERO, |(_, at)| *at);
        let from = Time(sent.0.saturating_sub(RESOLUTION.0)).max(self.sent).max(entered);
        let arrives = if is_last { sent + self.delay } else { Time(u64::MAX) };
        let place = ctx.place;
        ctx.emit(Event::Served { place, channel: 0, packet, from, sent, arrives });
    }

    /// When [`Self::wake`] must be called next.
    pub fn next_wake(&self) -> Option<Key> {
        match (self.propagation.next(), self.resume) {
            (Some(arrival), Some(resume)) => Some(arrival.min(resume)),
            (arrival, resume) => arrival.or(resume),
        }
    }

    /// Does what is due under `key`; the packet that has come through, if one has.
    pub fn wake(&mut self, ctx: &mut Context, key: Key) -> Option<Packet> {
        let mut key = key;
        if self.resume == Some(key) {
            self.serve(ctx);
            // Without a delay the first packet is there at once: one event for both.
            key = self.propagation.next().filter(|(at, _)| *at <= ctx.now)?;
        }
        let arrived = self.propagation.arrive(key)?;
        ctx.pass(&arrived);
        Some(arrived)
    }

    /// Packets waiting, one that has gone in part included.
    pub fn waiting(&self) -> usize {
        self.ingress.waiting() + usize::from(self.first.is_some())
    }

    /// Their bytes.
    pub fn waiting_bytes(&self) -> u64 {
        self.ingress.waiting_bytes() + self.first.map_or(0, |first| u64::from(first.packet.size))
    }

    /// What the link has done.
    pub fn counts(&self) -> LinkCounts {
        self.ingress.counts(self.bytes)
    }

    /// What has become of the opportunities before `now`, and of those at that time which were used.
    pub fn usage(&mut self, now: Time) -> Usage {
        self.skip(self.turns.before(now));
        let offered = self.turns.next;
        Usage { offered, offered_bytes: offered * self.size, ..self.usage }
    }

    /// Bytes that could have gone up to `now` in packets that each fill an opportunity.
    pub fn offered_by(&self, now: Time) -> u64 {
        self.turns.until(now) * self.size.saturating_sub(self.header)
    }
}

#[cfg(test)]
mod tests;
