//! TTIs with the simple ARQ: scheduling, block errors, retransmission, delivery (`wang`, section 8).
//!
//! In a TTI one user may send: first the failed blocks that may go again, one per channel, then new
//! PDUs. A block fails as a whole; it may be sent again at the first TTI boundary at least the
//! retransmission delay after the beginning of the TTI that failed. Packets arrive at the end of the TTI
//! that completes them. A bearer whose only user fills every channel runs on, TTI after TTI, until a packet
//! is complete: nothing that arrives before could change those TTIs. Where errors are independent and no
//! block waits to go again, TTIs up to the next error are one step. A block whose errors follow a model
//! has failed when any of its PDUs is wrong. Left out: ACK/NACK errors, control channels, and a limit on
//! how many blocks may be outstanding (`wang`, section 8.3).

use std::ops::Range;

use super::ahead::{Ahead, tell_together};
use super::grid::Grid;
use super::{Air, Mac};
use crate::blocks::Blocks;
use crate::channel::ci::BlockSize;
use crate::context::{Context, Sent};
use crate::error::ErrorModel;
use crate::error::blocks::{BlockErrors, Resource};
use crate::event::{Cause, Event, Mask};
use crate::mac::sched::shared::SharedChannel;
use crate::mac::sched::{Candidate, Scheduler};
use crate::packet::Packet;
use crate::rlc::{Buffer, FailedBlock};
use crate::rng::Streams;
use crate::units::Time;
use crate::{Backlog, UserRadio};

/// Plain TTIs that are worth a step of their own.
const FEWEST_AT_ONCE: u64 = 4;

#[derive(Debug)]
struct User {
    buffer: Buffer,
    block_size: BlockSize,
}

/// The simple ARQ in TTIs.
#[derive(Debug)]
pub struct ArqMac {
    air: Air,
    users: Vec<User>,
    channel: SharedChannel,
    errors: BlockErrors,
    /// TTIs from one in which a block failed to the first in which it may go again.
    retransmission_ttis: u64,
    /// Who was sent packets' last PDUs, which arrive when the last TTI that was run ends.
    completed: Option<usize>,
    ahead: Ahead,
    /// Whether it may run ahead; only tests forbid it.
    runs_ahead: bool,
}

impl ArqMac {
    /// Empty buffers, whose blocks fail by `errors` if they are given.
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

    /// The same that runs every TTI when it comes.
    #[cfg(test)]
    fn without_running_ahead(self) -> Self {
        Self { runs_ahead: false, ..self }
    }

    /// Who gets TTI number `tti`, if anybody has something to send.
    fn choose(&mut self, tti: u64) -> Option<Candidate> {
        let Self { users, channel, .. } = self;
        channel.choose(tti, users, |user, state| {
            let is_ready = state.buffer.eligible().is_some_and(|from| from <= tti);
            is_ready.then(|| state.block_size.candidate(user, tti))
        })
    }

    /// Runs one TTI, which begins `at`; returns whether it completes packets. `TOGETHER` says whether its blocks are
    /// told together, for which nobody else shall pay.
    fn run_tti<const TOGETHER: bool>(&mut self, ctx: &mut Context, at: Time, tti: u64) -> bool {
        let Some(chosen) = self.choose(tti) else {
            return false;
        };
        let (sent, blocks) = self.send_blocks::<TOGETHER>(ctx, at, tti, chosen);
        self.channel.served(tti, chosen.user, sent.units);
        let state = &self.users[chosen.user];
        let quality = state.block_size.quality(chosen.rate);
        if at <= ctx.now {
            if TOGETHER {
                tell_together(ctx, at, chosen.user as u32, blocks);
            }
            ctx.blocks(at, chosen.user, quality, sent);
        } else {
            self.ahead.run(tti, 1, quality, sent);
            if TOGETHER {
                self.ahead.run_blocks(tti, &blocks);
            }
        }
        let completes = state.buffer.has_complete();
        self.completed = completes.then_some(chosen.user);
        completes
    }

    /// Fills the channels of a TTI: failed blocks that may go again, then new ones. What was sent, and where blocks are
    /// told together, these.
    #[inline]
    fn send_blocks<const TOGETHER: bool>(
        &mut self,
        ctx: &mut Context,
        at: Time,
        tti: u64,
        to: Candidate,
    ) -> (Sent, Blocks) {
        let Self { air, users, errors, ahead, retransmission_ttis, .. } = self;
        let (listens, buffer) = (Listens::of::<TOGETHER>(ctx), &mut users[to.user].buffer);
        let again_from = tti + *retransmission_ttis;
        let mut blocks = BlockWriter { air, buffer, ahead, user: to.user, at, again_from, listens };
        let all = u64::from(air.channels);
        let mut channels = all;
        let resource = |left: u64| Resource { user: to.user, tti, channel: all - left };
        let mut sent = Sent::default();
        let mut told = Blocks { per_block: to.rate, ttis: 1, ..Blocks::default() };
        while channels > 0
            && let Some(block) = blocks.buffer.take_failed(tti)
        {
            let on = resource(channels);
            channels -= 1;
            sent.units += block.pdus;
            let fails = errors.fails_again(on, block.pdus, block.transmissions);
            let block = FailedBlock { transmissions: block.transmissions + 1, ..block };
            sent.failed += u32::from(fails);
            if TOGETHER {
                told.again |= 1 << on.channel;
                told.failed |= u64::from(fails) << on.channel;
            }
            blocks.tell(ctx, block, fails);
            if fails {
                blocks.fail(ctx, block);
            }
        }
        let per_block = u64::from(to.rate);
        let pdus = blocks.buffer.fresh().min(channels * per_block);
        let mut new = if per_block == 1 { pdus } else { pdus.div_ceil(per_block) };
        let mut first = blocks.buffer.take_fresh(pdus);
        let end = first + pdus;
        sent.blocks = (all - channels + new) as u32;
        sent.units += pdus as u32;
        (told.first, told.units, told.per_tti) = (first, pdus as u32, sent.blocks);
        while let Some(good) = errors.first_failure(resource(channels), new, to.rate) {
            channels -= good;
            let failed = first + good * per_block;
            let size = per_block.min(end - failed);
            let block = FailedBlock { first: failed, pdus: size as u32, transmissions: 1 };
            if TOGETHER {
                told.failed |= 1 << (all - channels);
            }
            channels -= 1;
            blocks.tell_new(ctx, first..failed, per_block);
            blocks.tell(ctx, block, true);
            sent.failed += 1;
            blocks.fail(ctx, block);
            first = failed + size;
            new -= good + 1;
        }
        blocks.tell_new(ctx, first..end, per_block);
        (sent, told)
    }

    /// Whether its blocks can be told together: there are bits for those of a TTI, and those that fail go again in
    /// their order.
    fn tells_together(&self) -> bool {
        self.air.channels <= Blocks::MOST && self.air.max_transmissions.is_none()
    }

    /// Whether the next TTI is the same whatever arrives before it: one user alone on the bearer
    /// who can fill every channel.
    fn is_foreseeable(&self) -> bool {
        match &self.users[..] {
            [alone] => {
                self.runs_ahead
                    && alone.buffer.fresh() >= u64::from(self.air.channels) * u64::from(alone.block_size.most)
            }
            _ => false,
        }
    }

    /// TTIs from number `tti` on that are full and without error and in which nothing else happens, up to
    /// the one that completes a packet; none where the run ends before.
    fn plain_ttis(&self, tti: u64, grid: &Grid, horizon: Time) -> u64 {
        let ([User { buffer, block_size }], Some(good)) = (&self.users[..], self.errors.good_blocks()) else {
            return 0;
        };
        let channels = u64::from(self.air.channels);
        let per_tti = channels * u64::from(self.air.pdus_per_block);
        // A step costs three divisions, which fewer TTIs are not worth.
        let is_worth_it = good >= FEWEST_AT_ONCE * channels && buffer.fresh() >= FEWEST_AT_ONCE * per_tti;
        if !is_worth_it || !block_size.is_constant() {
            return 0;
        }
        let quiet = buffer.ttis_until_change(tti, per_tti);
        let ttis =
            quiet.min(buffer.fresh() / per_tti).min(good / channels).min(u64::from(u32::MAX) / per_tti);
        if grid.beginning(tti + ttis) <= horizon { ttis } else { 0 }
    }

    /// Runs so many plain TTIs in one step; returns whether the last completes packets.
    fn run_plain(&mut self, ctx: &Context, tti: u64, ttis: u64) -> bool {
        let (per_tti, per_block) = (self.air.channels, self.air.pdus_per_block);
        let units = per_tti * per_block;
        self.errors.pass_good(ttis * u64::from(per_tti));
        let buffer = &mut self.users[0].buffer;
        let first = buffer.take_fresh(ttis * u64::from(units));
        self.ahead.run(tti, ttis, 0, Sent { blocks: per_tti, failed: 0, units });
        if ctx.wants(Mask::RUNS) {
            let ttis = ttis as u32;
            let plain = Blocks { first, units: units * ttis, per_block, per_tti, ttis, failed: 0, again: 0 };
            self.ahead.run_blocks(tti, &plain);
        }
        let completes = buffer.has_complete();
        self.completed = completes.then_some(0);
        completes
    }
}

impl Mac for ArqMac {
    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool {
        // What is only counted can wait until somebody looks.
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
        self.ahead.tell(ctx, grid);
    }

    fn land(&mut self, ctx: &mut Context, _: u64) {
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

    fn serve(&mut self, ctx: &mut Context, grid: &mut Grid, mut tti: u64) {
        let listens = ctx.wants(Mask::BLOCKS);
        let together = !listens && ctx.wants(Mask::RUNS) && self.tells_together();
        let mut goes_on = self.is_foreseeable();
        loop {
            let plain = if goes_on && !listens { self.plain_ttis(tti, grid, ctx.horizon) } else { 0 };
            let completes = if plain > 1 {
                tti += plain - 1;
                self.run_plain(ctx, tti + 1 - plain, plain)
            } else if together {
                self.run_tti::<true>(ctx, grid.beginning(tti), tti)
            } else {
                self.run_tti::<false>(ctx, grid.beginning(tti), tti)
            };
            tti += 1;
            grid.next = tti;
            goes_on = !completes && grid.beginning(tti) <= ctx.horizon && self.is_foreseeable();
            if !goes_on {
                break;
            }
        }
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.users[user].buffer.backlog()
    }
}

/// Writes down what becomes of the blocks of one TTI, and tells it.
struct BlockWriter<'a> {
    air: &'a Air,
    buffer: &'a mut Buffer,
    ahead: &'a mut Ahead,
    user: usize,
    at: Time,
    /// The TTI from which those that fail may go again.
    again_from: u64,
    listens: Listens,
}

/// How those who listen hear of blocks here, one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listens {
    /// Not at all.
    No,
    /// Of each.
    ToBlocks,
    /// Of each and what it carries.
    ToParts,
}

impl Listens {
    #[inline]
    fn of<const TOGETHER: bool>(ctx: &Context) -> Self {
        if TOGETHER {
            Self::No
        } else if ctx.wants(Mask::BLOCKS) {
            Self::ToParts
        } else if ctx.wants(Mask::RUNS) {
            Self::ToBlocks
        } else {
            Self::No
        }
    }
}

impl BlockWriter<'_> {
    /// A block has failed: it waits to go again, or is given up.
    #[inline]
    fn fail(&mut self, ctx: &mut Context, block: FailedBlock) {
        if self.air.may_send_again(block.transmissions) {
            self.buffer.keep_failed(self.again_from, block);
        } else {
            self.give_up(ctx, block.first, block.pdus);
        }
    }

    #[cold]
    fn give_up(&mut self, ctx: &mut Context, first: u64, pdus: u32) {
        let (bearer, user) = (ctx.place.index, self.user as u32);
        self.ahead.emit(ctx, self.at, Event::GivenUp { bearer, user, block: first });
        self.buffer.give_up(first..first + u64::from(pdus));
    }

    /// New blocks of `per_block` PDUs have been received.
    #[inline]
    fn tell_new(&mut self, ctx: &mut Context, pdus: Range<u64>, per_block: u64) {
        if self.listens != Listens::No {
            for first in pdus.clone().step_by(per_block as usize) {
                let pdus = per_block.min(pdus.end - first) as u32;
                self.tell_listeners(ctx, first, pdus, 1, false);
            }
        }
    }

    /// A block has been sent; it is known by its first PDU.
    #[inline]
    fn tell(&mut self, ctx: &mut Context, block: FailedBlock, failed: bool) {
        if self.listens != Listens::No {
            self.tell_listeners(ctx, block.first, block.pdus, block.transmissions, failed);
        }
    }

    /// Takes the block in parts, so that it need not lie in memory where nobody listens.
    #[cold]
    fn tell_listeners(&mut self, ctx: &mut Context, first: u64, pdus: u32, transmission: u32, failed: bool) {
        let (bearer, user) = (ctx.place.index, self.user as u32);
        let Self { buffer, ahead, at, listens, .. } = self;
        ahead.emit(ctx, *at, Event::Block { bearer, user, block: first, units: pdus, transmission, failed });
        if transmission == 1 && *listens == Listens::ToParts {
            for part in buffer.carried(first, pdus) {
                ahead.emit(ctx, *at, Event::Carries { bearer, user, block: first, part });
            }
        }
    }
}

#[cfg(test)]
mod tests;
