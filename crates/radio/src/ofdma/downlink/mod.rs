mod earliest;
mod rrc_waits;
mod serving;
#[cfg(test)]
mod tests;
mod user;

use std::collections::VecDeque;

use nodeb_air::cell::channel::ends::Ends;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::plan::Cell;
use nodeb_air::cell::tally::PHONES;
use nodeb_air::mac::allocation::{GroupAllocator, Part, Spans};
use nodeb_air::mac::band::{Band, MAX_GROUPS, Row};
use nodeb_air::mac::harq::block::{Decided, Rules, SentBlock};
use nodeb_air::mac::multiplexing::{Attention, LogicalChannels, StatusNumber};
use nodeb_air::mac::outer_loop::OuterLoop;
use nodeb_air::mac::sched::{Candidate, Scheduler, SchedulerSpec, View};
use nodeb_air::mac::user_set::UserSet;
use nodeb_air::numerology::Numerology;
use nodeb_air::rlc::lte::Outcome;
use nodeb_air::tti::Mac;
use nodeb_air::tti::grid::Grid;
use nodeb_air::{Backlog, UserRadio};
use nodeb_base::context::{Context, Sent};
use nodeb_base::event::{Cause, Direction, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};

use super::Standard;
use super::channel::{Carrier, Responses};
use super::layers::Antennas;
use super::queues;
use super::recorded::Steps;
use super::reports::ReportRules;
use crate::ofdma::drx::states::DrxStates;
use crate::ofdma::shared::Shared;
use earliest::Earliest;
use rrc_waits::RrcWaits;
use user::{HEADERS, User};

#[derive(Clone, Copy, Debug)]
struct Status {
    at: Time,
    user: usize,
    number: StatusNumber,
}

/// Read in every TTI, so stored apart from the user's other state, which is large.
#[derive(Clone, Debug)]
struct UserCache {
    /// First TTI with something to send, `u64::MAX` if there is nothing.
    ready: u64,
    /// First TTI with a new block, `u64::MAX` if there is nothing.
    fresh: u64,
    /// First TTI with a retransmission, or an ACK or NACK that the outer loop has not received; else
    /// `u64::MAX`.
    answers: u64,
    /// First TTI with another CQI report than that of `rate`, `cqi` and the rows of [`UserCaches`].
    valid_until: u64,
    /// Bytes of all groups in a TTI; an upper bound if the report is not measured.
    rate: u32,
    /// Mean of all groups; an upper bound if the report is not measured.
    cqi: f32,
}

impl UserCache {
    const NOTHING: Self =
        Self { ready: u64::MAX, fresh: u64::MAX, answers: u64::MAX, valid_until: 0, rate: 0, cqi: 0.0 };

    fn cancel(&mut self) {
        (self.ready, self.fresh, self.answers) = (u64::MAX, u64::MAX, u64::MAX);
    }

    /// `ready`, `fresh` and `answers`.
    fn postpone(&mut self, until: u64) {
        self.ready = self.ready.max(until);
        self.fresh = self.fresh.max(until);
        self.answers = self.answers.max(until);
    }
}

/// Read in every TTI; one entry per user.
#[derive(Debug)]
struct UserCaches {
    by_user: Vec<UserCache>,
    due: Earliest,
    /// All users with a finite `answers`, and others until they are looked at.
    answering: UserSet,
    /// Bytes by the CQI in use at the base station; NaN for CQI 0.
    rates: Vec<Row>,
    /// NaN for CQI 0; filled only if the scheduler compares qualities.
    qualities: Vec<Row>,
    /// Of the list that the scheduler compares.
    spans: Vec<Spans>,
    /// Bytes with an estimate of their headers.
    waiting: Vec<f32>,
}

impl UserCaches {
    fn new(count: usize) -> Self {
        Self {
            by_user: vec![UserCache::NOTHING; count],
            due: Earliest::new(count),
            answering: UserSet::new(count),
            rates: vec![[f32::NAN; MAX_GROUPS]; count],
            qualities: vec![[f32::NAN; MAX_GROUPS]; count],
            spans: vec![Spans::UNUSABLE; count],
            waiting: vec![HEADERS; count],
        }
    }

    /// If several users are ready by `tti`, the TTI of any of them.
    fn first_ready(&self, tti: u64) -> Option<u64> {
        let mut first = u64::MAX;
        for cache in &self.by_user {
            first = first.min(cache.ready);
            if first <= tti {
                break;
            }
        }
        (first < u64::MAX).then_some(first)
    }
}

#[derive(Debug)]
pub struct DownlinkUser {
    pub bearers: LogicalChannels,
    /// Index among the cell's.
    pub formats: usize,
    /// Of the largest block.
    pub block_bits: u32,
    /// Largest number of bits in a TTI.
    pub tti_bits: u32,
    pub antennas: Antennas,
}

#[derive(Debug)]
pub struct DownlinkSetup<S> {
    pub numerology: Numerology,
    pub cell: Cell,
    pub formats: Vec<S>,
    pub users: Vec<DownlinkUser>,
    pub scheduler: SchedulerSpec,
    pub users_per_tti: usize,
    /// Most layers sent to a phone.
    pub layers: u8,
    pub links: LinkRules,
    pub rules: Rules,
    /// From the creation of a STATUS PDU to its arrival.
    pub status_delay: Duration,
    /// A packet that a phone sends counts as a new block.
    pub has_plain_uplink: bool,
    pub shared: Shared,
}

/// Of each user.
#[derive(Clone, Debug)]
pub struct LinkRules {
    pub reports: ReportRules,
    pub outer_loop: Option<OuterLoop>,
    /// Of HARQ.
    pub processes: u32,
}

#[derive(Debug)]
pub struct DownlinkMac<S> {
    rules: Rules,
    users_per_tti: usize,
    layers: u8,
    status_delay: Duration,
    has_plain_uplink: bool,
    has_prioritized_rates: bool,
    formats: Vec<S>,
    band: Band,
    sequence: JakesSequence,
    users: Vec<User>,
    ends: Ends,
    caches: UserCaches,
    scheduler: Box<dyn Scheduler>,
    view: View,
    allocator: GroupAllocator,
    candidates: Vec<Candidate>,
    /// Kept between TTIs only to reuse the memory, as the next two.
    due: Vec<usize>,
    parts: Vec<Part>,
    sent: Vec<SentBlock>,
    decided: Vec<Decided>,
    /// In order of arrival.
    statuses: VecDeque<Status>,
    /// Without DRX all phones listen in every TTI.
    drx: Option<DrxStates>,
    /// `None` if all phones are always connected.
    rrc_waits: Option<RrcWaits>,
}

impl<S: Standard> DownlinkMac<S> {
    pub fn new(setup: DownlinkSetup<S>, users: &[UserRadio], streams: &Streams) -> Self {
        let sequence = if users.iter().any(|user| user.ue.channel.facts().fades) {
            JakesSequence::new(&mut streams.stream("cell", 0, "fading"))
        } else {
            JakesSequence::silent()
        };
        let DownlinkSetup { numerology, cell, formats, links, .. } = setup;
        let (band, antennas) = (formats[0].band().clone(), Antennas::ONE);
        let carrier = Carrier { cell: &cell, band: &band, numerology, antennas, steps: None, fading: "user" };
        let count = users.len();
        let mut responses = Responses::default();
        let users: Vec<User> = users
            .iter()
            .zip(setup.users)
            .map(|(user, setup)| {
                let steps = Steps::of_user(user, || &formats[setup.formats]);
                let carrier = Carrier { steps, antennas: setup.antennas, ..carrier };
                User::new(setup, &links, user, carrier, *streams, &mut responses)
            })
            .collect();
        let scheduler = setup.scheduler.build(count, S::TTI);
        let Shared { connections, drx } = setup.shared;
        Self {
            rules: setup.rules,
            users_per_tti: setup.users_per_tti,
            layers: setup.layers,
            status_delay: setup.status_delay,
            has_plain_uplink: setup.has_plain_uplink,
            has_prioritized_rates: users.iter().any(|user| user.bearers.has_prioritized_rate()),
            view: scheduler.view(),
            allocator: GroupAllocator::default(),
            formats,
            band,
            sequence,
            ends: Ends::new(users.iter().map(|user| user.channel.ends())),
            users,
            caches: UserCaches::new(count),
            scheduler,
            due: Vec::new(),
            parts: Vec::new(),
            candidates: Vec::new(),
            sent: Vec::new(),
            decided: Vec::new(),
            statuses: VecDeque::new(),
            drx,
            rrc_waits: connections.map(|connections| RrcWaits::new(connections, count, S::TTI)),
        }
    }

    /// After a change of the queue, HARQ or RLC; also passes on packets and sends a STATUS PDU if due.
    fn refresh(&mut self, ctx: &mut Context, user: usize) {
        let state = &mut self.users[user];
        let now = ctx.now;
        let at = now + self.status_delay;
        let send = |number| self.statuses.push_back(Status { at, user, number });
        let Attention { has_outcomes, sendable, due } = state.bearers.attend(now, send);
        if has_outcomes {
            pass_on(ctx, user, state);
        }
        let (caches, processes) = (&mut self.caches, &state.processes);
        let cache = &mut caches.by_user[user];
        cache.fresh = if sendable > 0 { processes.free_at() } else { u64::MAX };
        cache.ready = processes.ready(sendable > 0);
        cache.answers = processes.attention_at();
        if cache.answers < u64::MAX {
            caches.answering.insert(user);
        }
        caches.waiting[user] = sendable as f32 + HEADERS;
        caches.due.set(user, due.unwrap_or(Time(u64::MAX)));
        let next = || now.0.div_ceil(S::TTI.0);
        if let Some(rrc_waits) = &mut self.rrc_waits {
            let since = rrc_waits.waits(user, next(), state.bearers.backlog().packets > 0);
            cache.postpone(since);
        }
        if self.ends.precede(user, cache.ready) {
            cache.cancel();
        }
        if self.drx.is_some() {
            self.wait_for_listening(user, next());
        }
    }

    /// In TTI `next` at the earliest.
    fn wait_for_listening(&mut self, user: usize, next: u64) {
        let (Some(drx), cache) = (&self.drx, &mut self.caches.by_user[user]) else { return };
        if cache.ready < u64::MAX {
            let until = drx.wake(user, next.max(cache.ready));
            cache.postpone(until);
        } else {
            drx.has_nothing(user);
        }
    }

    fn record(&mut self, ctx: &mut Context, tti: u64, user: usize) {
        let (mut total, mut is_new, mut is_pending) = (Sent::default(), false, false);
        if ctx.wants(Mask::PDCP) {
            self.users[user].emit_numbers(ctx, user);
        }
        for sent in &self.sent {
            let state = &mut self.users[user];
            if ctx.wants(Mask::BLOCKS) {
                sent.emit(ctx, user, |units| state.bearers.carried(units));
            }
            total.blocks += 1;
            total.failed += u32::from(sent.failed);
            total.units += sent.size;
            is_new |= sent.is_new;
            is_pending |= sent.failed && sent.settled.is_none();
            if sent.settled == Some(false) {
                state.tally.gave_up();
            }
            if let Some(decided) = sent.decided(user) {
                self.decided.push(decided);
            }
        }
        self.sent.clear();
        if total.blocks == 0 {
            return;
        }
        let quality = self.users[user].report.cqi.round() as u32;
        ctx.blocks(ctx.now, user, quality, total);
        if let Some(rrc_waits) = &mut self.rrc_waits {
            rrc_waits.sent(ctx, user);
        }
        if let Some(drx) = &self.drx {
            drx.sent(ctx, user, tti, is_new);
            if is_pending {
                drx.failed(user, tti, tti + S::DOWN_RETRANSMISSION_AFTER);
            }
        }
        self.scheduler.served(tti, user, total.units);
    }
}

fn pass_on(ctx: &mut Context, user: usize, state: &mut User) {
    for outcome in state.bearers.outcomes() {
        match outcome {
            Outcome::Delivered { packet, .. } => state.tally.deliver(ctx, user, packet),
            Outcome::Lost { packet, cause } => state.tally.lose(ctx, user, packet, cause),
        }
    }
}

impl<S: Standard> Mac for DownlinkMac<S> {
    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool {
        if let Some(rrc_waits) = &mut self.rrc_waits {
            let next = grid.from(ctx.now);
            rrc_waits.arrive(user, Direction::Down, next, self.drx.as_ref());
        }
        let state = &mut self.users[user];
        let taken = state.bearers.push(ctx.now, packet, grid.from(ctx.now));
        if !taken {
            state.tally.dropped();
        }
        self.refresh(ctx, user);
        taken
    }

    fn on_uplink(&mut self, ctx: &mut Context, grid: &Grid, user: usize) {
        let next = grid.from(ctx.now);
        if let Some(rrc_waits) = &mut self.rrc_waits {
            rrc_waits.arrive(user, Direction::Up, next, self.drx.as_ref());
        }
        if let Some(drx) = self.drx.as_ref().filter(|_| self.has_plain_uplink) {
            drx.active(user, next);
        }
        if self.drx.is_some() || self.rrc_waits.is_some() {
            self.refresh(ctx, user);
        }
    }

    fn on_listening(&mut self, ctx: &mut Context, _: &Grid, user: usize) {
        self.refresh(ctx, user);
    }

    fn refused(&self, user: usize) -> Cause {
        self.users[user].bearers.refused()
    }

    fn due(&self, grid: &Grid, now: Time) -> Option<Time> {
        let next = grid.from(now);
        let timer = Some(self.caches.due.first()).filter(|at| at.0 < u64::MAX);
        let status = self.statuses.front().map(|status| status.at);
        let ready = if self.decided.is_empty() { self.caches.first_ready(next) } else { Some(next) };
        let tti = ready.map(|tti| grid.beginning(tti.max(next)));
        [tti, timer, status].into_iter().flatten().min()
    }

    fn complete(&mut self, ctx: &mut Context, _tti: u64) {
        let mut decided = std::mem::take(&mut self.decided);
        for Decided { user, units, decoded, .. } in decided.drain(..) {
            self.users[user].bearers.receive(ctx.now, units, !decoded);
            self.refresh(ctx, user);
        }
        self.decided = decided;
    }

    fn run_timers(&mut self, ctx: &mut Context) {
        let now = ctx.now;
        while let Some(status) = self.statuses.front().copied().filter(|status| status.at <= now) {
            self.statuses.pop_front();
            self.users[status.user].bearers.on_status(status.number);
            self.refresh(ctx, status.user);
        }
        if self.caches.due.first() > now {
            return;
        }
        for user in 0..self.users.len() {
            if self.caches.due.of(user) <= now {
                self.users[user].bearers.on_time(now);
                self.refresh(ctx, user);
            }
        }
    }

    fn serve(&mut self, ctx: &mut Context, _: &mut Grid, tti: u64) {
        self.serve_users(ctx, tti);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.users[user].bearers.backlog()
    }

    fn cqi(&mut self, ctx: &mut Context, grid: &Grid, user: usize) -> Option<f32> {
        let tti = grid.begun_by(ctx.now) - 1;
        self.measure(user, tti);
        Some(self.users[user].report.cqi)
    }

    fn tables(&mut self, now: Time) -> Vec<Table> {
        let tti = now.0 / S::TTI.0;
        let row = |(user, state): (usize, &mut User)| {
            let place = state.channel.place(tti);
            state.tally.row(user, place, f64::NAN)
        };
        let rows: Vec<_> = self.users.iter_mut().enumerate().map(row).collect();
        let connections = self.rrc_waits.as_ref().map(|rrc_waits| &rrc_waits.connections);
        let ends = |user| connections.map_or(u64::MAX, |connections| connections.ends(user));
        let drx = self.drx.as_ref().map(|drx| drx.table(tti, ends));
        let connections = connections.map(|connections| connections.table(tti));
        let queues =
            queues::table(Direction::Down, self.users.iter().map(|state| state.bearers.queue_counts()));
        std::iter::once(PHONES.table(&rows)).chain(drx).chain(connections).chain([queues]).collect()
    }
}
