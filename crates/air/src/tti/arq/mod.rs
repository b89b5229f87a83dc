//! `wang`, 2004, section 8. One user is served per TTI: first failed blocks that are due, one per channel,
//! then new PDUs. A failed block may be retransmitted when the delay has passed since the start of its TTI,
//! but not before the next TTI; a packet arrives at the end of the TTI that completes it. If a single user's
//! PDUs fill every channel, no arrival can change the next TTIs, so they are simulated at once; with
//! independent errors and constant blocks, in a single step. Not modelled: ACK/NACK errors, control channels,
//! and a limit on outstanding blocks (`wang`, section 8.3).

pub mod remedies;

use std::ops::Range;

use nodeb_base::Blocks;
use nodeb_base::context::{Context, Sent};
use nodeb_base::event::{Cause, Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;

use super::ahead::{Ahead, emit_run};
use super::grid::Grid;
use super::{Air, Mac};
use crate::channel::ci::BlockSize;
use crate::error::ErrorModel;
use crate::error::blocks::{BlockErrors, Resource};
use crate::mac::sched::shared::SharedChannel;
use crate::mac::sched::{Candidate, Scheduler};
use crate::rlc::{Buffer, FailedBlock};
use crate::{Backlog, UserRadio};

/// Fewer TTIs take less time one by one.
const FEWEST_AT_ONCE: u64 = 4;

#[derive(Debug)]
struct User {
    buffer: Buffer,
    block_size: BlockSize,
}

#[derive(Debug)]
pub struct ArqMac {
    air: Air,
    users: Vec<User>,
    channel: SharedChannel,
    errors: BlockErrors,
    /// From the TTI in which a block fails.
    retransmission_ttis: u64,
    /// Their packets arrive at the end of the last simulated TTI.
    completed: Option<usize>,
    ahead: Ahead,
    /// False only in tests.
    runs_ahead: bool,
}

impl ArqMac {
    /// `errors` replaces the BLER.
    pub fn new(
        air: Air,
        errors: Option<&ErrorModel>,
        users: &[UserRadio],
        scheduler: Box<dyn Scheduler>,
        streams: &Streams,
    ) -> Self {
        let ids: Vec<u64> = users.iter().map(|user| user.id).collect();
        let errors = BlockErrors::new(errors, air.blocks(), &ids, streams);
        let state = |user: &UserRadio| User {
            buffer: Buffer::new(air.pdu_bytes, air.buffer, air.delivered),
            block_size: BlockSize::of_user(user, air.pdus_per_block, streams),
        };
        Self {
            users: users.iter().map(state).collect(),
            retransmission_ttis: air.retransmission_ttis(),
            air,
            channel: SharedChannel::new(scheduler),
            errors,
            completed: None,
            ahead: Ahead::default(),
            runs_ahead: true,
        }
    }

    #[cfg(test)]
    fn without_running_ahead(self) -> Self {
        Self { runs_ahead: false, ..self }
    }

    fn choose(&mut self, tti: u64) -> Option<Candidate> {
        let Self { users, channel, .. } = self;
        channel.choose(tti, users, |user, state| {
            let is_ready = state.buffer.eligible().is_some_and(|from| from <= tti);
            is_ready.then(|| state.block_size.candidate(user, tti))
        })
    }

    /// The event must have a bit for each block, and no block may be given up, so that failed blocks are
    /// retransmitted in order.
    fn emits_runs(&self) -> bool {
        self.air.channels <= Blocks::MAX && self.air.max_transmissions.is_none()
    }

    /// And those following TTIs that no arrival can change. `EACH` emits each block, `TOGETHER` those of a
    /// TTI as one event; both are constants, so that a run without listeners has no code for them.
    fn run<const EACH: bool, const TOGETHER: bool>(
        &mut self,
        ctx: &mut Context,
        grid: &mut Grid,
        mut tti: u64,
    ) {
        let Some(Candidate { user, mut rate, .. }) = self.choose(tti) else {
            return;
        };
        let is_alone = self.runs_ahead && self.users.len() == 1;
        let Self { air, users, channel, errors, ahead, retransmission_ttis, .. } = self;
        let User { buffer, block_size } = &mut users[user];
        let mut sender =
            Sender { air, buffer, errors, ahead, user, retransmission_ttis: *retransmission_ttis };
        let in_steps = block_size.is_constant() && !(EACH && ctx.wants(Mask::BLOCKS));
        // If a single user has enough PDUs to fill every channel, packets that arrive later do not
        // change the blocks that are sent.
        let all_full = if is_alone { u64::from(air.channels) * u64::from(block_size.most) } else { u64::MAX };
        let mut goes_on = sender.buffer.new_pdus() >= all_full;
        let mut is_now = true;
        let is_silent = in_steps && !EACH && !TOGETHER && sender.air.max_transmissions.is_none();
        let runs_full = is_silent && sender.errors.good_blocks().is_some();
        let completes = loop {
            let plain = if goes_on && in_steps { sender.plain_ttis(tti, grid, ctx.horizon) } else { 0 };
            if plain > 1 {
                sender.run_plain(ctx, tti, plain);
                tti += plain;
            } else if goes_on && runs_full && !is_now {
                tti = sender.run_full(tti, grid.begun_by(ctx.horizon));
            } else {
                let (sent, blocks) = sender.send_blocks::<EACH, TOGETHER>(ctx, grid, tti, rate);
                let quality = block_size.quality(rate);
                if is_now {
                    let at = ctx.now;
                    if TOGETHER {
                        emit_run(ctx, at, user as u32, blocks);
                    }
                    ctx.blocks(at, user, quality, sent);
                    channel.served(tti, user, sent.units);
                } else {
                    sender.ahead.run(tti, 1, quality, sent);
                    if TOGETHER {
                        sender.ahead.run_blocks(tti, &blocks);
                    }
                }
                tti += 1;
            }
            is_now = false;
            let completes = sender.buffer.has_complete();
            goes_on =
                !completes && sender.buffer.new_pdus() >= all_full && grid.beginning(tti) <= ctx.horizon;
            if !goes_on {
                break completes;
            }
            rate = block_size.in_tti(tti);
        };
        grid.next = tti;
        self.completed = completes.then_some(user);
    }
}

impl Mac for ArqMac {
    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool {
        // Without listeners, deferred results only change counters, so they can wait. With listeners
        // they are emitted first, to keep events in the order of time.
        if !ctx.sink.is_deaf() {
            self.catch_up(ctx, grid);
        }
        let Some(pdus) = self.users[user].buffer.push(packet) else {
            return false;
        };
        if ctx.wants(Mask::RUNS) {
            let (bearer, user) = (ctx.place.index, user as u32);
            let (packet, first, end) = (packet.id, pdus.start, pdus.end);
            ctx.emit(Event::Segmented { bearer, user, packet, first, end });
        }
        true
    }

    fn due_after(&self, grid: &Grid, now: Time) -> Option<Time> {
        Some(grid.next_beginning(now))
    }

    fn due(&self, grid: &Grid, _: Time) -> Option<Time> {
        let from = match self.completed {
            Some(_) => Some(0),
            None => self.users.iter().filter_map(|user| user.buffer.eligible()).min(),
        };
        from.map(|from| grid.beginning(from.max(grid.next)))
    }

    fn catch_up(&mut self, ctx: &mut Context, grid: &Grid) {
        self.ahead.emit_due(ctx, grid);
    }

    fn complete(&mut self, ctx: &mut Context, _: u64) {
        let Some(user) = self.completed.take() else {
            return;
        };
        self.users[user].buffer.release(|packet, intact| {
            if intact {
                ctx.deliver(user, packet);
            } else {
                ctx.lose(user, packet, Cause::RadioLoss);
            }
        });
    }

    fn serve(&mut self, ctx: &mut Context, grid: &mut Grid, tti: u64) {
        let (blocks, runs) = (ctx.wants(Mask::BLOCKS), ctx.wants(Mask::RUNS));
        if blocks || runs && !self.emits_runs() {
            self.run::<true, false>(ctx, grid, tti);
        } else if runs {
            self.run::<false, true>(ctx, grid, tti);
        } else {
            self.run::<false, false>(ctx, grid, tti);
        }
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.users[user].buffer.backlog()
    }
}

struct Sender<'a> {
    air: &'a Air,
    buffer: &'a mut Buffer,
    errors: &'a mut BlockErrors,
    ahead: &'a mut Ahead,
    user: usize,
    retransmission_ttis: u64,
}

impl Sender<'_> {
    /// First failed blocks that are due, then new blocks of `rate` PDUs.
    #[inline]
    fn send_blocks<const EACH: bool, const TOGETHER: bool>(
        &mut self,
        ctx: &mut Context,
        grid: &Grid,
        tti: u64,
        rate: u32,
    ) -> (Sent, Blocks) {
        let all = u64::from(self.air.channels);
        let mut channels = all;
        let user = self.user;
        let resource = |left: u64| Resource { user, tti, channel: all - left };
        let mut sent = Sent::default();
        let mut blocks = Blocks { per_block: rate, ttis: 1, ..Blocks::default() };
        while channels > 0
            && let Some(block) = self.buffer.take_failed(tti)
        {
            let on = resource(channels);
            channels -= 1;
            sent.units += block.pdus;
            let fails = self.errors.retransmission_fails(on, block.pdus, block.transmissions);
            let block = FailedBlock { transmissions: block.transmissions + 1, ..block };
            if TOGETHER {
                blocks.again |= 1 << on.channel;
                blocks.failed |= u64::from(fails) << on.channel;
            }
            if EACH {
                self.emit_block(ctx, grid.beginning(tti), block, fails);
            }
            if fails {
                sent.failed += 1;
                self.fail(ctx, grid, tti, block);
            }
        }
        let per_block = u64::from(rate);
        let pdus = self.buffer.new_pdus().min(channels * per_block);
        let mut new = if per_block == 1 { pdus } else { pdus.div_ceil(per_block) };
        let mut first = self.buffer.take_new(pdus);
        let end = first + pdus;
        sent.blocks = (all - channels + new) as u32;
        sent.units += pdus as u32;
        (blocks.first, blocks.units, blocks.per_tti) = (first, pdus as u32, sent.blocks);
        while let Some(good) = self.errors.first_failure(resource(channels), new, rate) {
            channels -= good;
            let failed = first + good * per_block;
            let size = per_block.min(end - failed);
            let block = FailedBlock { first: failed, pdus: size as u32, transmissions: 1 };
            if TOGETHER {
                blocks.failed |= 1 << (all - channels);
            }
            channels -= 1;
            if EACH {
                self.emit_new(ctx, grid.beginning(tti), first..failed, rate);
                self.emit_block(ctx, grid.beginning(tti), block, true);
            }
            sent.failed += 1;
            self.fail(ctx, grid, tti, block);
            first = failed + size;
            new -= good + 1;
        }
        if EACH {
            self.emit_new(ctx, grid.beginning(tti), first..end, rate);
        }
        (sent, blocks)
    }

    /// Until a packet is complete, a channel would stay unused, or enough TTIs without errors follow for a
    /// single step; the next TTI. As [`Self::send_blocks`] for a constant rate, unlimited transmissions,
    /// independent errors and no listeners, at half the cost.
    #[inline(never)]
    fn run_full(&mut self, mut tti: u64, end: u64) -> u64 {
        let BlockErrors::Independent(errors) = &mut *self.errors else {
            return tti;
        };
        let Air { channels, pdus_per_block: pdus, .. } = *self.air;
        let (all, per_block) = (u64::from(channels), u64::from(pdus));
        loop {
            let from = tti + self.retransmission_ttis;
            let (mut new, mut sent) = (all, Sent { blocks: channels, failed: 0, units: 0 });
            while new > 0
                && let Some(mut block) = self.buffer.take_failed(tti)
            {
                new -= 1;
                sent.units += block.pdus;
                if errors.of_retransmission(block.transmissions).next_is_error() {
                    block.transmissions += 1;
                    sent.failed += 1;
                    self.buffer.keep_failed(from, block);
                }
            }
            sent.units += new as u32 * pdus;
            let mut first = self.buffer.take_new(new * per_block);
            while let Some(good) = errors.first.next_error_within(new) {
                first += good * per_block;
                sent.failed += 1;
                self.buffer.keep_failed(from, FailedBlock { first, pdus, transmissions: 1 });
                first += per_block;
                new -= good + 1;
            }
            self.ahead.run(tti, 1, 0, sent);
            tti += 1;
            let is_full =
                self.buffer.new_pdus() >= all * per_block && errors.first.good() < FEWEST_AT_ONCE * all;
            if !is_full || tti >= end || self.buffer.has_complete() {
                return tti;
            }
        }
    }

    /// Given up at the limit of transmissions.
    #[inline]
    fn fail(&mut self, ctx: &mut Context, grid: &Grid, tti: u64, block: FailedBlock) {
        if self.air.may_retransmit(block.transmissions) {
            self.buffer.keep_failed(tti + self.retransmission_ttis, block);
        } else {
            self.give_up(ctx, grid.beginning(tti), block);
        }
    }

    #[cold]
    fn give_up(&mut self, ctx: &mut Context, at: Time, FailedBlock { first, pdus, .. }: FailedBlock) {
        let (bearer, user) = (ctx.place.index, self.user as u32);
        self.ahead.emit(ctx, at, Event::GivenUp { bearer, user, block: first });
        self.buffer.give_up(first..first + u64::from(pdus));
    }

    /// Without errors; the last block may have fewer than `rate` PDUs.
    #[cold]
    fn emit_new(&mut self, ctx: &mut Context, at: Time, pdus: Range<u64>, rate: u32) {
        for first in pdus.clone().step_by(rate as usize) {
            let pdus = u64::from(rate).min(pdus.end - first) as u32;
            self.emit_block(ctx, at, FailedBlock { first, pdus, transmissions: 1 }, false);
        }
    }

    /// Identified by its first PDU; also the parts of packets in a new block, if a listener subscribes to
    /// single blocks.
    #[cold]
    fn emit_block(&mut self, ctx: &mut Context, at: Time, block: FailedBlock, failed: bool) {
        let (bearer, user) = (ctx.place.index, self.user as u32);
        let FailedBlock { first, pdus, transmissions: transmission } = block;
        self.ahead.emit(
            ctx,
            at,
            Event::Block { bearer, user, block: first, units: pdus, transmission, failed },
        );
        if transmission == 1 && ctx.wants(Mask::BLOCKS) {
            for part in self.buffer.carried(first, pdus) {
                self.ahead.emit(ctx, at, Event::Carries { bearer, user, block: first, part });
            }
        }
    }

    /// TTIs whose channels all carry new blocks, none of which fails, and of which only the last may complete
    /// a packet; 0 if they end after `horizon`.
    #[inline]
    fn plain_ttis(&self, tti: u64, grid: &Grid, horizon: Time) -> u64 {
        let channels = u64::from(self.air.channels);
        // Computing the number of TTIs takes three divisions, which only pays off if several TTIs
        // are free of errors.
        match self.errors.good_blocks() {
            Some(good) if good >= FEWEST_AT_ONCE * channels => self.plain_ttis_of(good, tti, grid, horizon),
            _ => 0,
        }
    }

    /// The next `good` new blocks have no error.
    fn plain_ttis_of(&self, good: u64, tti: u64, grid: &Grid, horizon: Time) -> u64 {
        let per_tti = u64::from(self.air.channels * self.air.pdus_per_block);
        let new = self.buffer.new_pdus();
        if new < FEWEST_AT_ONCE * per_tti {
            return 0;
        }
        let quiet = self.buffer.ttis_until_change(tti, per_tti);
        if quiet < 2 {
            return quiet;
        }
        let good = good / u64::from(self.air.channels);
        let ttis = quiet.min(new / per_tti).min(good).min(u64::from(u32::MAX) / per_tti);
        if grid.beginning(tti + ttis) <= horizon { ttis } else { 0 }
    }

    /// `ttis` is the result of [`Self::plain_ttis`].
    fn run_plain(&mut self, ctx: &Context, tti: u64, ttis: u64) {
        let (per_tti, per_block) = (self.air.channels, self.air.pdus_per_block);
        let units = per_tti * per_block;
        self.errors.pass_good(ttis * u64::from(per_tti));
        let first = self.buffer.take_new(ttis * u64::from(units));
        self.ahead.run(tti, ttis, 0, Sent { blocks: per_tti, failed: 0, units });
        if ctx.wants(Mask::RUNS) {
            let ttis = ttis as u32;
            let plain = Blocks { first, units: units * ttis, per_block, per_tti, ttis, failed: 0, again: 0 };
            self.ahead.run_blocks(tti, &plain);
        }
    }
}

#[cfg(test)]
mod tests;
