//! Trace-driven link: sends at recorded delivery opportunities, like mahimahi's `mm-link`.
//!
//! An opportunity transmits a given number of bytes of the first waiting packets. A packet may take
//! several opportunities, and an opportunity may complete several packets. A packet leaves when its
//! last byte is transmitted. A packet uses only opportunities after its arrival, and none at the
//! time of its arrival.
//!
//! Opportunities that find no packet are wasted, and so are the bytes that an opportunity has left
//! when the queue becomes empty. Wasted opportunities take no events: they are counted when the
//! next packet arrives or the usage is read.
//!
//! With a second recording, of [`Trains`], the link alternates between two recordings as CellReplay does (Sentosa
//! et al., NSDI 2025; `get_pkt_release_time_from_trace` of its source): a packet that finds the link idle begins a
//! train, which uses opportunities of the second recording; once they have carried as much as a recorded
//! train, the link is busy and uses those of the first recording until it has been idle again. CellReplay stores each
//! train with a delay and with times relative to its begin; here both recordings have absolute times, and
//! opportunities that find no packet do not count as parts of a train.

use std::collections::VecDeque;

use nodeb_base::context::Context;
use nodeb_base::engine::{Instant, Phase};
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};

use super::ingress::{Ingress, LinkCounts};
use super::opportunities::{Recording, Schedule, Trains};
use super::propagation::Propagation;

/// Resolution of a recording: a packet is assumed to have been transmitted within the millisecond before its
/// delivery opportunity.
const RESOLUTION: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub offered: u64,
    pub used: u64,
    pub wasted: u64,
    pub offered_bytes: u64,
    pub used_bytes: u64,
    /// Including those left over in used opportunities.
    pub wasted_bytes: u64,
}

/// Delivery opportunities of one user's link in one direction and their use.
#[derive(Clone, Copy, Debug)]
pub struct UsageRow {
    user: usize,
    direction: &'static str,
    usage: Usage,
}

table! {
    /// One row per user and direction with recorded delivery opportunities: number and bytes of the
    /// opportunities, used and wasted.
    pub static OPPORTUNITIES: "opportunities" of UsageRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Direction: `down` to the phone or `up` from it.
        "way" [""] Text = |row| row.direction.into();
        /// Number of recorded delivery opportunities from the start to the end of the run.
        "offered" [""] U64 = |row| row.usage.offered;
        /// Opportunities that carried at least a part of a packet.
        "used" [""] U64 = |row| row.usage.used;
        /// Opportunities that found no packet to send.
        "wasted" [""] U64 = |row| row.usage.wasted;
        /// Bytes that all opportunities up to the end of the run could have carried.
        "offered_bytes" ["bytes"] U64 = |row| row.usage.offered_bytes;
        /// Bytes used by packets, including the additional header of each packet.
        "used_bytes" ["bytes"] U64 = |row| row.usage.used_bytes;
        /// Bytes not used: those of wasted opportunities, and the rest of partly used ones.
        "wasted_bytes" ["bytes"] U64 = |row| row.usage.wasted_bytes;
    }
}

/// Has left the queue but is not completely transmitted yet.
#[derive(Clone, Copy, Debug)]
struct First {
    packet: Packet,
    /// Bytes, including the additional header.
    left: u64,
}

/// Alternation of two recordings.
#[derive(Debug)]
struct Alternation {
    /// The recording that is not in use.
    other: Schedule,
    length: u32,
    gap: Duration,
    /// Opportunities that the train can still use; 0 if the link is busy.
    left: u32,
}

#[derive(Debug)]
pub struct TracedLink {
    direction: &'static str,
    schedule: Schedule,
    /// `None` if there is one recording.
    alternation: Option<Alternation>,
    size: u64,
    header: u64,
    delay: Duration,
    ingress: Ingress,
    first: Option<First>,
    resume: Option<Time>,
    propagation: Propagation,
    /// Time of the last opportunity that carried a part of a packet; 0 before the first one.
    sent: Time,
    /// Packets that arrived within the millisecond before the last arrival, each with its arrival time. They
    /// are stored only if a listener subscribes to transmissions ([`Mask::SERVICE`]).
    recent: VecDeque<(PacketId, Time)>,
    usage: Usage,
    /// Transmitted completely, without additional headers.
    bytes: u64,
}

impl TracedLink {
    /// `direction` is `down` to the phone or `up` from it.
    pub fn new(
        direction: &'static str,
        recording: &Recording,
        delay: Duration,
        ingress: Ingress,
        propagation: Propagation,
    ) -> Self {
        let busy = Schedule::new(recording.opportunities, recording.at_end);
        let (schedule, alternation) = match recording.trains {
            None => (busy, None),
            Some(Trains { opportunities, length, gap }) => {
                let (length, gap) = (length.get(), gap);
                let alternation = Alternation { other: busy, length, gap, left: length };
                (Schedule::new(opportunities, recording.at_end), Some(alternation))
            }
        };
        Self {
            direction,
            schedule,
            alternation,
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

    pub fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
        if !self.ingress.admit(ctx, &packet) {
            return false;
        }
        // A packet cannot use an opportunity at its arrival time. So earlier packets use the
        // opportunities up to now; those that find no packet are wasted.
        if self.schedule.next_time().is_some_and(|at| at <= ctx.now) {
            self.serve(ctx);
            if self.is_idle() {
                self.skip(self.schedule.until(ctx.now));
            }
        }
        self.begin_train(ctx.now);
        if !self.ingress.push(ctx, &packet) {
            return false;
        }
        if ctx.wants(Mask::SERVICE) {
            self.record_arrival(ctx.now, packet.id);
        }
        if self.resume.is_none() {
            self.resume = self.schedule.next_time();
        }
        true
    }

    fn is_idle(&self) -> bool {
        self.first.is_none() && self.ingress.is_empty()
    }

    #[inline]
    fn begin_train(&mut self, now: Time) {
        let is_idle = self.is_idle();
        let Some(alternation) = self.alternation.as_mut().filter(|_| is_idle) else { return };
        if now <= self.sent + alternation.gap {
            return;
        }
        if alternation.left == 0 {
            alternation.change(&mut self.schedule, now);
        }
        alternation.left = alternation.length;
    }

    fn skip(&mut self, next: u64) {
        let passed = next.saturating_sub(self.schedule.next);
        self.schedule.next += passed;
        self.usage.wasted += passed;
        self.usage.wasted_bytes += passed * self.size;
    }

    fn record_arrival(&mut self, now: Time, packet: PacketId) {
        while self.recent.front().is_some_and(|(_, at)| *at + RESOLUTION < now) {
            self.recent.pop_front();
        }
        self.recent.push_back((packet, now));
    }

    fn serve(&mut self, ctx: &mut Context) {
        while let Some(at) = self.schedule.next_time().filter(|at| *at <= ctx.now) {
            if self.is_idle() {
                break;
            }
            self.schedule.next += 1;
            let left = self.use_up(ctx, at);
            *(if left < self.size { &mut self.usage.used } else { &mut self.usage.wasted }) += 1;
            self.usage.used_bytes += self.size - left;
            self.usage.wasted_bytes += left;
            if let Some(alternation) = &mut self.alternation {
                alternation.carried(&mut self.schedule, at);
            }
        }
        self.resume = self.schedule.next_time().filter(|_| !self.is_idle());
    }

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
                self.propagation.depart(at, self.delay, packet);
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

    /// The event of the last part has the packet's arrival time; for other parts this time is `u64::MAX`.
    fn emit_part(&self, ctx: &mut Context, sent: Time, packet: PacketId, is_last: bool) {
        let entered = self.recent.iter().find(|(id, _)| *id == packet).map_or(Time::ZERO, |(_, at)| *at);
        let from = Time(sent.0.saturating_sub(RESOLUTION.0)).max(self.sent).max(entered);
        let arrives = if is_last { sent + self.delay } else { Time(u64::MAX) };
        let place = ctx.place;
        ctx.emit(Event::Served { place, channel: 0, packet, from, sent, arrives });
    }

    /// `None` if no packet propagates, and no packet waits or no opportunity follows.
    pub fn next_wake(&self) -> Option<Instant> {
        let arrival = self.propagation.next().map(|at| Instant::new(at, Phase::Arrival));
        arrival.into_iter().chain(self.resume.map(|at| Instant::new(at, Phase::Sent))).min()
    }

    pub fn wake(&mut self, ctx: &mut Context, instant: Instant) {
        if instant.is(Phase::Sent) {
            self.serve(ctx);
        } else if let Some(packet) = self.propagation.arrive() {
            ctx.deliver(0, packet);
        }
    }

    /// Including a packet that is partly transmitted.
    pub fn waiting(&self) -> usize {
        self.ingress.waiting() + usize::from(self.first.is_some())
    }

    /// Including a packet that is partly transmitted.
    pub fn waiting_bytes(&self) -> u64 {
        self.ingress.waiting_bytes() + self.first.map_or(0, |first| u64::from(first.packet.size))
    }

    pub fn counts(&self) -> LinkCounts {
        self.ingress.counts(self.bytes)
    }

    /// Its delivery opportunities and their use, as the table of user 0.
    pub fn table(&mut self, now: Time) -> Table {
        OPPORTUNITIES.table(&[UsageRow { user: 0, direction: self.direction, usage: self.usage(now) }])
    }

    /// An opportunity at `now` is included only if the link has used or skipped it already.
    fn usage(&mut self, now: Time) -> Usage {
        self.skip(self.schedule.before(now));
        let offered = self.usage.used + self.usage.wasted;
        Usage { offered, offered_bytes: offered * self.size, ..self.usage }
    }

    /// Bytes of packets without additional headers, if each opportunity of the busy link had carried one packet.
    pub fn offered_by(&self, now: Time) -> f64 {
        let in_train = self.alternation.as_ref().filter(|alternation| alternation.left > 0);
        let busy = in_train.map_or(&self.schedule, |alternation| &alternation.other);
        (busy.until(now) * self.size.saturating_sub(self.header)) as f64
    }
}

impl Alternation {
    /// Opportunities up to and including `now` have passed.
    fn change(&mut self, schedule: &mut Schedule, now: Time) {
        std::mem::swap(&mut self.other, schedule);
        schedule.next = schedule.until(now);
    }

    fn carried(&mut self, schedule: &mut Schedule, at: Time) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        if self.left == 0 {
            self.change(schedule, at);
        }
    }
}

#[cfg(test)]
mod tests;
