//! Plain links in a row, each with a drop-tail queue and without jitter, reordering or outages; the last can be
//! a link for each user. A packet takes one event, its arrival at the far end, which is computed when the packet
//! enters the first link.
//!
//! Counters are updated at once; [`Chain::apply_deferred`] takes back what was counted too early when a run ends. A chain
//! emits no start times of transmissions, does not know how many packets wait, and reports losses when
//! the packet enters the first link. So chains are only for runs without listeners to single links.

use std::collections::VecDeque;
use std::mem::take;

use nodeb_base::context::{Context, Counts, Output};
use nodeb_base::engine::{Instant, Order, Phase};
use nodeb_base::event::Cause;
use nodeb_base::packet::Packet;
use nodeb_base::rng::{Indexed, Streams};
use nodeb_base::units::{Duration, Time};

use super::ingress::LinkCounts;
use super::loss::Loss;
use super::queue::drop_tail::Limits;
use super::transmitter::Transmitter;

#[derive(Debug, Default)]
pub struct Chain {
    /// From the end where packets enter.
    links: Vec<PlainLink>,
    /// At the far end, with the user, in the order of time.
    arrivals: VecDeque<(Time, u32, Packet)>,
    fork: Option<Fork>,
}

/// A link of each user after those of all users.
#[derive(Debug)]
struct Fork {
    branches: Vec<Branch>,
    /// See [`Order`].
    ties: Indexed,
}

#[derive(Debug)]
struct Branch {
    link: PlainLink,
    counts: Counts,
}

impl Chain {
    pub(crate) fn of(link: PlainLink) -> Self {
        Self { links: vec![link], ..Self::default() }
    }

    /// One hop of a link for each user, in the order of their numbers.
    #[must_use]
    pub fn fork(links: Vec<Self>, streams: &Streams) -> Self {
        let links = links.into_iter().flat_map(|chain| chain.links);
        let branches = links.map(|link| Branch { link, counts: Counts::default() }).collect();
        Self { fork: Some(Fork { branches, ties: Order::ties(streams) }), ..Self::default() }
    }

    /// Packets enter `next` where they leave this chain; none has entered either yet.
    #[must_use]
    pub fn then(mut self, mut next: Self) -> Self {
        self.links.append(&mut next.links);
        Self { links: self.links, ..next }
    }

    #[inline]
    pub fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool {
        let now = ctx.now;
        let mut passed = self.links.iter_mut().try_fold(now, |at, link| link.pass(now, at, &packet));
        if let Some(fork) = &mut self.fork {
            passed = passed.and_then(|at| fork.branches[user].link.pass(now, at, &packet));
        }
        match passed {
            Ok(at) => self.depart(at, user, packet),
            Err(cause) => ctx.out.push(Output::Lost { user, packet, cause }),
        }
        passed.is_ok()
    }

    #[inline]
    fn depart(&mut self, at: Time, user: usize, packet: Packet) {
        let arrival = (at, user as u32, packet);
        match &self.fork {
            Some(fork) if self.arrivals.back().is_some_and(|(last, ..)| *last >= at) => {
                self.arrivals.insert(fork.place(&self.arrivals, at, user), arrival);
            }
            _ => self.arrivals.push_back(arrival),
        }
    }

    #[inline]
    pub fn next_wake(&self) -> Option<Instant> {
        self.arrivals.front().map(|(at, ..)| Instant::new(*at, Phase::Arrival))
    }

    #[inline]
    pub fn wake(&mut self, ctx: &mut Context) {
        if let Some((_, user, packet)) = self.arrivals.pop_front() {
            if let Some(fork) = &mut self.fork {
                let counts = &mut fork.branches[user as usize].counts;
                counts.packets_delivered += 1;
                counts.bytes_delivered += u64::from(packet.size);
            }
            ctx.deliver(user as usize, packet);
        }
    }

    /// The counts of the context are those of the last link.
    pub fn apply_deferred(&mut self, ctx: &mut Context) {
        for link in &mut self.links {
            link.apply_deferred(ctx.now);
        }
        if let Some(link) = self.links.last() {
            link.count(ctx.counts);
        }
        for Branch { link, counts } in self.fork.iter_mut().flat_map(|fork| &mut fork.branches) {
            link.apply_deferred(ctx.now);
            link.count(counts);
        }
    }

    /// Of all links, those of users last.
    pub fn counts(&self) -> Vec<LinkCounts> {
        let branches = self.fork.iter().flat_map(|fork| &fork.branches);
        self.links.iter().chain(branches.map(|branch| &branch.link)).map(|link| link.counts).collect()
    }

    /// Of the user's own link; `None` without a fork.
    pub fn counts_of(&self, user: usize) -> Option<Counts> {
        self.fork.as_ref().map(|fork| fork.branches[user].counts)
    }
}

impl Fork {
    /// Among the arrivals, of an arrival that is computed after them.
    fn place(&self, arrivals: &VecDeque<(Time, u32, Packet)>, at: Time, user: usize) -> usize {
        let later = |(other_at, other, _): &&(Time, u32, Packet)| {
            at < *other_at || at == *other_at && self.turn(at, user as u32) < self.turn(at, *other)
        };
        arrivals.len() - arrivals.iter().rev().take_while(later).count()
    }

    fn turn(&self, at: Time, user: u32) -> (u32, u64) {
        Order { rank: 0, user }.at(Instant::new(at, Phase::Arrival), &self.ties)
    }
}

#[derive(Debug)]
struct Passage {
    entry: Time,
    begin: Time,
    bytes: u32,
}

#[derive(Debug)]
pub(crate) struct PlainLink {
    transmitter: Transmitter,
    delay: Duration,
    loss: Loss,
    limits: Limits,
    /// Packets whose transmission has not started, in the order of time. Before them are earlier
    /// packets that [`Self::forget`] has not discarded yet.
    passages: VecDeque<Passage>,
    waiting: usize,
    waiting_bytes: u64,
    /// Not before the current time.
    lost: VecDeque<(Time, Cause)>,
    counts: LinkCounts,
}

impl PlainLink {
    /// That has carried nothing yet.
    pub fn new(transmitter: Transmitter, delay: Duration, loss: Loss, limits: Limits) -> Self {
        Self {
            transmitter,
            delay,
            loss,
            limits,
            passages: VecDeque::new(),
            waiting: 0,
            waiting_bytes: 0,
            lost: VecDeque::new(),
            counts: LinkCounts::default(),
        }
    }

    /// Arrival of a packet that enters at `entry`, now or later, but not before the previous packet.
    #[inline]
    fn pass(&mut self, now: Time, entry: Time, packet: &Packet) -> Result<Time, Cause> {
        self.advance(entry);
        let position = self.counts.packets;
        self.counts.packets += 1;
        if self.loss.loses(position, packet.payload) {
            return Err(self.lose(now, entry, Cause::LinkLoss));
        }
        let free_at = self.transmitter.free_at();
        let waits = free_at > entry || self.waiting > 0;
        if waits && !self.limits.have_room(self.waiting, self.waiting_bytes, packet.size) {
            return Err(self.lose(now, entry, Cause::Overflow));
        }
        let begin = if waits { free_at } else { entry };
        if waits {
            self.waiting += 1;
            self.waiting_bytes += u64::from(packet.size);
        }
        // A transmission that starts in the current event is never taken back.
        if waits || entry != now {
            self.record(now, Passage { entry, begin, bytes: packet.size });
        }
        self.counts.bytes += u64::from(packet.size);
        Ok(self.transmitter.occupy(begin, packet.size) + self.delay)
    }

    /// A transmission at the same time has started: transmissions end before packets arrive ([`Phase`]).
    #[inline]
    fn advance(&mut self, entry: Time) {
        while self.waiting > 0 {
            let next = &self.passages[self.passages.len() - self.waiting];
            if next.begin > entry {
                break;
            }
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(next.bytes);
        }
    }

    #[inline]
    fn record(&mut self, now: Time, passage: Passage) {
        if self.passages.len() == self.passages.capacity() {
            self.forget(now);
        }
        self.passages.push_back(passage);
    }

    /// Discards the records of transmissions that started at or before `now`. It is called only
    /// when the memory for records is used up, since discarding many records at once takes less
    /// time than looking at the oldest record with each packet.
    #[cold]
    fn forget(&mut self, now: Time) {
        let started = self.passages.partition_point(|passage| passage.begin <= now);
        self.passages.drain(..started);
    }

    /// Stored for [`Self::apply_deferred`] only if `entry` is after `now`, because an earlier loss is never taken back.
    fn lose(&mut self, now: Time, entry: Time, cause: Cause) -> Cause {
        *self.losses(cause) += 1;
        while self.lost.front().is_some_and(|(entry, _)| *entry <= now) {
            self.lost.pop_front();
        }
        if entry > now {
            self.lost.push_back((entry, cause));
        }
        cause
    }

    fn losses(&mut self, cause: Cause) -> &mut u64 {
        if cause == Cause::LinkLoss { &mut self.counts.lost } else { &mut self.counts.overflowed }
    }

    fn count(&self, counts: &mut Counts) {
        counts.packets_dropped = self.counts.lost + self.counts.overflowed;
        counts.packets_in = self.counts.packets - counts.packets_dropped;
    }

    fn apply_deferred(&mut self, end: Time) {
        for Passage { entry, begin, bytes } in take(&mut self.passages) {
            self.counts.packets -= u64::from(entry > end);
            self.counts.bytes -= if begin > end { u64::from(bytes) } else { 0 };
        }
        for (_, cause) in take(&mut self.lost).into_iter().filter(|(entry, _)| *entry > end) {
            self.counts.packets -= 1;
            *self.losses(cause) -= 1;
        }
    }
}
