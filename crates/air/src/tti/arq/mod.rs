//! `wang`, 2004, section 8. One user is served per TTI: first failed blocks that are due, one per channel,
//! then new PDUs. A failed block may be retransmitted when the delay has passed since the start of its TTI,
//! but not before the next TTI; a packet arrives at the end of the TTI that completes it. If a single user's
//! PDUs fill every channel, no arrival can change the next TTIs, so they are simulated at once; with
//! independent errors and constant blocks, in a single step. Not modelled: ACK/NACK errors, control channels,
//! and a limit on outstanding blocks (`wang`, section 8.3).

pub mod remedies;

use std::ops::Range;

use nodeb_base::context::{Context, Sent};
use nodeb_base::event::{Cause, Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;

use super::ahead::Ahead;
use super::grid::Grid;
use super::{Air, Mac};
use crate::channel::ci::BlockSize;
use crate::error::ErrorModel;
use crate::error::blocks::{BlockErrors, Failures, Resource};
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
        }
    }

    fn choose(&mut self, tti: u64) -> Option<Candidate> {
        let Self { users, channel, .. } = self;
        channel.choose(tti, users, |user, state| {
            let is_ready = state.buffer.eligible().is_some_and(|from| from <= tti);
            is_ready.then(|| state.block_size.candidate(user, tti))
        })
    }
}

impl Mac for ArqMac {
    fn accept(&mut self, _: &mut Context, _: &Grid, user: usize, packet: Packet) -> bool {
        self.users[user].buffer.push(packet)
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
        self.ahead.catch_up(ctx, grid);
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

    /// And, unless a listener subscribes to TTIs or blocks, those following TTIs that no arrival can change.
    fn serve(&mut self, ctx: &mut Context, grid: &mut Grid, tti: u64) {
        let Some(Candidate { user, rate, .. }) = self.choose(tti) else {
            return;
        };
        let Self { air, users, channel, errors, ahead, retransmission_ttis, .. } = self;
        let is_alone = users.len() == 1;
        let User { buffer, block_size } = &mut users[user];
        let (air, retransmission_ttis) = (&*air, *retransmission_ttis);
        let ahead = (is_alone && !ctx.wants(Mask::TTIS.or(Mask::BLOCKS))).then_some(ahead);
        let sent = match errors {
            BlockErrors::Independent(errors) => {
                Sender { air, buffer, block_size, errors: &mut **errors, user, retransmission_ttis }
                    .run(ctx, grid, tti, rate, ahead)
            }
            BlockErrors::Modelled(errors) => {
                Sender { air, buffer, block_size, errors, user, retransmission_ttis }
                    .run(ctx, grid, tti, rate, ahead)
            }
        };
        channel.served(tti, user, sent.units);
        self.completed = users[user].buffer.has_complete().then_some(user);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.users[user].buffer.backlog()
    }
}

struct Sender<'a, E> {
    air: &'a Air,
    buffer: &'a mut Buffer,
    block_size: &'a BlockSize,
    errors: &'a mut E,
    user: usize,
    retransmission_ttis: u64,
}

impl<E: Failures> Sender<'_, E> {
    /// In TTI `tti`, and in the TTIs `ahead`.
    fn run(
        &mut self,
        ctx: &mut Context,
        grid: &mut Grid,
        tti: u64,
        rate: u32,
        ahead: Option<&mut Ahead>,
    ) -> Sent {
        let sent = if ctx.wants(Mask::BLOCKS) {
            self.send::<true>(ctx, tti, rate, false)
        } else {
            self.send::<false>(ctx, tti, rate, false)
        };
        let now = ctx.now;
        ctx.blocks(now, self.user, self.block_size.quality(rate), sent);
        if let Some(ahead) = ahead {
            self.run_ahead(ctx, grid, ahead);
        }
        sent
    }

    /// While the PDUs fill every channel, so that packets that arrive later change nothing, until a packet is
    /// complete.
    #[inline(never)]
    fn run_ahead(&mut self, ctx: &mut Context, grid: &mut Grid, ahead: &mut Ahead) {
        let all_full = u64::from(self.air.channels) * u64::from(self.block_size.most);
        let end = grid.begun_by(ctx.horizon);
        let mut tti = grid.next;
        while self.buffer.new_pdus() >= all_full && tti < end && !self.buffer.has_complete() {
            let plain = self.plain_ttis(tti, end);
            if plain > 1 {
                ahead.count(plain, self.send_plain(tti, plain));
                tti += plain;
            } else {
                ahead.count(1, self.send::<false>(ctx, tti, self.block_size.in_tti(tti), true));
                tti += 1;
            }
        }
        grid.next = tti;
    }

    /// First failed blocks that are due, then new blocks of `rate` PDUs, of which the last may have fewer unless
    /// there are enough for all channels.
    #[inline(always)]
    fn send<const LISTENS: bool>(&mut self, ctx: &mut Context, tti: u64, rate: u32, is_full: bool) -> Sent {
        let all = u64::from(self.air.channels);
        let mut on = Resource { user: self.user, tti, channel: 0 };
        let mut sent = Sent::default();
        while on.channel < all
            && let Some(mut block) = self.buffer.take_failed(tti)
        {
            let fails = self.errors.retransmission_fails(on, block.pdus, block.transmissions);
            on.channel += 1;
            block.transmissions += 1;
            sent.units += block.pdus;
            if LISTENS {
                self.emit_block(ctx, block, fails);
            }
            if fails {
                sent.failed += 1;
                self.fail(ctx, tti, block);
            }
        }
        let per_block = u64::from(rate);
        let mut new = all - on.channel;
        let mut pdus = new * per_block;
        if !is_full {
            pdus = pdus.min(self.buffer.new_pdus());
            new = pdus.div_ceil(per_block);
        }
        let mut first = self.buffer.take_new(pdus);
        let end = first + pdus;
        let mut place = if LISTENS { self.buffer.place_of(first) } else { 0 };
        sent.blocks = (on.channel + new) as u32;
        sent.units += pdus as u32;
        while let Some(good) = self.errors.first_failure(on, new, rate) {
            let failed = first + good * per_block;
            if LISTENS {
                self.emit_new(ctx, &mut place, first..failed, rate);
            }
            first = end.min(failed + per_block);
            let block = FailedBlock { first: failed, pdus: (first - failed) as u32, transmissions: 1 };
            on.channel += good + 1;
            new -= good + 1;
            sent.failed += 1;
            if LISTENS {
                self.emit_first(ctx, &mut place, block, true);
            }
            self.fail(ctx, tti, block);
        }
        if LISTENS {
            self.emit_new(ctx, &mut place, first..end, rate);
        }
        sent
    }

    /// Given up at the limit of transmissions.
    #[inline]
    fn fail(&mut self, ctx: &mut Context, tti: u64, block: FailedBlock) {
        if self.air.may_retransmit(block.transmissions) {
            self.buffer.keep_failed(tti + self.retransmission_ttis, block);
        } else {
            self.give_up(ctx, block);
        }
    }

    #[cold]
    fn give_up(&mut self, ctx: &mut Context, FailedBlock { first, pdus, .. }: FailedBlock) {
        let (bearer, user) = (ctx.place.index, self.user as u32);
        ctx.emit(Event::GivenUp { bearer, user, block: first });
        self.buffer.give_up(first..first + u64::from(pdus));
    }

    /// Without errors; `place` as in [`Buffer::carried`].
    #[cold]
    fn emit_new(&self, ctx: &mut Context, place: &mut usize, pdus: Range<u64>, rate: u32) {
        let mut first = pdus.start;
        while first < pdus.end {
            let pdus = u64::from(rate).min(pdus.end - first) as u32;
            self.emit_first(ctx, place, FailedBlock { first, pdus, transmissions: 1 }, false);
            first += u64::from(pdus);
        }
    }

    /// With the parts of packets; `place` as in [`Buffer::carried`].
    fn emit_first(&self, ctx: &mut Context, place: &mut usize, block: FailedBlock, failed: bool) {
        self.emit_block(ctx, block, failed);
        let (bearer, user) = (ctx.place.index, self.user as u32);
        self.buffer.carried(place, block, |part| {
            ctx.emit(Event::Carries { bearer, user, block: block.first, part });
        });
    }

    /// Identified by its first PDU.
    fn emit_block(&self, ctx: &mut Context, block: FailedBlock, failed: bool) {
        let (bearer, user) = (ctx.place.index, self.user as u32);
        let FailedBlock { first: block, pdus: units, transmissions: transmission } = block;
        ctx.emit(Event::Block { bearer, user, block, units, transmission, failed });
    }

    /// TTIs before `end` whose channels all carry new blocks, none of which fails, and of which only the last may
    /// complete a packet; 0 if they are not worth a step.
    #[inline]
    fn plain_ttis(&self, tti: u64, end: u64) -> u64 {
        let channels = u64::from(self.air.channels);
        // Computing the number of TTIs takes three divisions, which only pays off if several TTIs
        // are free of errors.
        let good = self.errors.good_blocks();
        if good >= FEWEST_AT_ONCE * channels && self.block_size.is_constant() {
            self.plain_ttis_of(good, tti, end)
        } else {
            0
        }
    }

    /// The next `good` new blocks have no error.
    fn plain_ttis_of(&self, good: u64, tti: u64, end: u64) -> u64 {
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
        quiet.min(new / per_tti).min(good).min(end - tti)
    }

    /// `ttis` is the result of [`Self::plain_ttis`]; in each of them.
    fn send_plain(&mut self, tti: u64, ttis: u64) -> Sent {
        let (blocks, units) = (self.air.channels, self.air.channels * self.air.pdus_per_block);
        let on = Resource { user: self.user, tti, channel: 0 };
        let failed = self.errors.first_failure(on, ttis * u64::from(blocks), self.air.pdus_per_block);
        debug_assert!(failed.is_none(), "a block fails among those expected to be good");
        self.buffer.take_new(ttis * u64::from(units));
        Sent { blocks, failed: 0, units }
    }
}

#[cfg(test)]
mod tests;
