//! TTIs with an RLC mode that is a protocol: scheduling, blocks and their errors, and the way of PDUs
//! between the two ends.
//!
//! On a DCH each PDU has a checksum of its own and goes once; on an HS-DSCH a block has one, and hybrid ARQ
//! sends it again before RLC hears of it. What a TTI brings arrives at its end; what the phone says takes
//! the time that RLC's parameters give it.

use super::grid::Grid;
use super::{Air, Mac};
use crate::channel::ci::CiProcess;
use crate::context::{Context, Sent};
use crate::error::ErrorModel;
use crate::error::blocks::{BlockErrors, Place};
use crate::event::{Cause, Event, Mask};
use crate::mac::harq::entity::{Block, HarqEntity};
use crate::mac::sched::{Candidate, Scheduler};
use crate::packet::Packet;
use crate::rlc::Peers;
use crate::rng::Streams;
use crate::units::Time;
use crate::{Backlog, UserRadio};

/// What a checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Each PDU; no hybrid ARQ.
    Pdu,
    /// A block, which hybrid ARQ repeats.
    Block,
}

#[derive(Debug)]
struct Station<R: Peers> {
    rlc: R,
    ci: Option<CiProcess>,
    harq: HarqEntity<R::Pdu>,
}

/// A block on the air: its number, what it is, and which of its PDUs are wrong.
#[derive(Debug)]
struct Flying<P> {
    number: u64,
    block: Block<P>,
    wrong: Vec<bool>,
}

/// The blocks of one TTI.
#[derive(Debug)]
struct OnAir<P> {
    user: usize,
    tti: u64,
    blocks: Vec<Flying<P>>,
}

/// TTIs of users whose RLC is `R`.
#[derive(Debug)]
pub struct RlcMac<R: Peers> {
    air: Air,
    checksum: Checksum,
    users: Vec<Station<R>>,
    scheduler: Box<dyn Scheduler>,
    errors: BlockErrors,
    on_air: Option<OnAir<R::Pdu>>,
    candidates: Vec<Candidate>,
}

impl<R: Peers> RlcMac<R> {
    /// Users who have the RLC that `rlc` makes for each.
    pub fn new(
        air: Air,
        checksum: Checksum,
        errors: Option<&ErrorModel>,
        users: &[UserRadio],
        scheduler: Box<dyn Scheduler>,
        streams: &Streams,
        rlc: impl Fn(&UserRadio) -> R,
    ) -> Self {
        let ids: Vec<u64> = users.iter().map(|user| user.id).collect();
        let errors = BlockErrors::new(errors, air.blocks(), &ids, streams);
        let station = |user: &UserRadio| Station {
            rlc: rlc(user),
            ci: CiProcess::of_user(user, streams),
            harq: HarqEntity::default(),
        };
        Self {
            air,
            checksum,
            users: users.iter().map(station).collect(),
            scheduler,
            errors,
            on_air: None,
            candidates: Vec::new(),
        }
    }

    /// Who gets TTI number `tti`, if anybody has something to send.
    fn choose(&mut self, tti: u64) -> Option<Candidate> {
        self.candidates.clear();
        for (user, station) in self.users.iter().enumerate() {
            if station.rlc.is_ready() || station.harq.eligible().is_some_and(|from| from <= tti) {
                let pdus_per_block = station.ci.as_ref().map_or(self.air.pdus_per_block, |ci| ci.value(tti));
                self.candidates.push(Candidate::at_rate(user, pdus_per_block));
            }
        }
        match &self.candidates[..] {
            [] => None,
            [only] if self.users.len() == 1 => Some(*only),
            candidates => Some(candidates[self.scheduler.pick(tti, candidates)]),
        }
    }

    fn run_tti(&mut self, ctx: &mut Context, tti: u64) {
        let Some(chosen) = self.choose(tti) else {
            return;
        };
        let blocks = self.send_blocks(ctx.now, tti, chosen);
        if blocks.is_empty() {
            return;
        }
        let units = blocks.iter().map(|flying| flying.block.pdus.len() as u32).sum();
        let failed = blocks.iter().filter(|flying| flying.wrong.contains(&true)).count() as u32;
        let quality = if self.users[chosen.user].ci.is_some() { chosen.rate } else { 0 };
        let sent = Sent { blocks: blocks.len() as u32, failed, units };
        if ctx.wants(Mask::BLOCKS) {
            self.tell(ctx, chosen.user, &blocks);
        }
        ctx.tti(ctx.now, chosen.user, quality, sent);
        self.scheduler.served(tti, chosen.user, units);
        self.on_air = Some(OnAir { user: chosen.user, tti, blocks });
    }

    /// Fills the channels: blocks that may go again, then new ones.
    fn send_blocks(&mut self, now: Time, tti: u64, to: Candidate) -> Vec<Flying<R::Pdu>> {
        let channels = u64::from(self.air.channels);
        let Self { users, errors, checksum, .. } = self;
        let Station { rlc, harq, .. } = &mut users[to.user];
        let mut blocks = Vec::new();
        for channel in 0..channels {
            let place = Place { user: to.user, tti, channel };
            let (number, mut block) = if let Some(again) = harq.take(tti) {
                again
            } else {
                let pdus: Vec<_> = (0..to.rate).map_while(|_| rlc.send(now)).collect();
                if pdus.is_empty() {
                    break;
                }
                let of_place = tti * channels + channel;
                let number = if *checksum == Checksum::Block { harq.begin() } else { of_place };
                (number, Block { pdus, transmissions: 0 })
            };
            let size = block.pdus.len();
            let mut wrong = vec![false; size];
            match (*checksum, block.transmissions) {
                (Checksum::Pdu, _) => errors.wrong_pdus(place, &mut wrong),
                (_, 0) => wrong.fill(errors.first_failure(place, 1, to.rate).is_some()),
                (_, times) => wrong.fill(errors.fails_again(place, size as u32, times)),
            }
            block.transmissions += 1;
            blocks.push(Flying { number, block, wrong });
        }
        blocks
    }

    /// Tells of blocks that have been sent.
    #[cold]
    fn tell(&self, ctx: &mut Context, user: usize, blocks: &[Flying<R::Pdu>]) {
        let rlc = &self.users[user].rlc;
        let (bearer, user) = (ctx.place.index, user as u32);
        for &Flying { number, ref block, ref wrong } in blocks {
            let (units, failed) = (block.pdus.len() as u32, wrong.contains(&true));
            let transmission = block.transmissions;
            ctx.emit(Event::Block { bearer, user, block: number, units, transmission, failed });
            if transmission == 1 {
                for part in block.pdus.iter().flat_map(|pdu| rlc.carried(pdu)) {
                    ctx.emit(Event::Carries { bearer, user, block: number, part });
                }
            }
        }
    }

    /// What is on the air arrives.
    fn receive(&mut self, ctx: &mut Context) {
        let now = ctx.now;
        let Some(OnAir { user, tti, blocks }) = self.on_air.take() else {
            return;
        };
        let Station { rlc, harq, .. } = &mut self.users[user];
        for Flying { number, block, wrong } in blocks {
            if self.checksum == Checksum::Pdu {
                for (pdu, wrong) in block.pdus.into_iter().zip(wrong) {
                    rlc.arrive(now, pdu, !wrong);
                }
            } else if wrong.contains(&true) && self.air.may_send_again(block.transmissions) {
                harq.keep(number, block, self.air.eligible_after(tti));
            } else {
                let intact = !wrong.contains(&true);
                if !intact {
                    let (bearer, user) = (ctx.place.index, user as u32);
                    ctx.emit(Event::GivenUp { bearer, user, block: number });
                }
                harq.end(number, block, intact);
            }
        }
        while let Some((pdus, intact)) = harq.pop() {
            for pdu in pdus {
                rlc.arrive(now, pdu, intact);
            }
        }
    }

    fn release(&mut self, ctx: &mut Context) {
        for (user, station) in self.users.iter_mut().enumerate() {
            let ledger = station.rlc.ledger();
            for packet in ledger.dropped.drain(..) {
                ctx.lose(user, packet, Cause::RadioLoss);
            }
            for packet in ledger.delivered.drain(..) {
                ctx.deliver(user, packet);
            }
        }
    }
}

impl<R: Peers> Mac for RlcMac<R> {
    fn accept(&mut self, ctx: &mut Context, _: &Grid, user: usize, packet: Packet) -> bool {
        self.users[user].rlc.push(ctx.now, packet)
    }

    fn due(&self, grid: &Grid, now: Time) -> Option<Time> {
        let landing = self.on_air.as_ref().map(|on_air| grid.beginning(on_air.tti + 1));
        let first = grid.from(now);
        let of_user = |station: &Station<R>| {
            let tti = if station.rlc.is_ready() {
                Some(first)
            } else {
                station.harq.eligible().map(|from| from.max(first))
            };
            let sends = tti.map(|tti| grid.beginning(tti));
            sends.into_iter().chain(station.rlc.due()).min()
        };
        let due = self.users.iter().filter_map(of_user).chain(landing).min();
        due.map(|at| at.max(now))
    }

    fn land(&mut self, ctx: &mut Context, _: u64) {
        self.receive(ctx);
    }

    fn run_timers(&mut self, ctx: &mut Context) {
        for station in &mut self.users {
            if station.rlc.due().is_some_and(|at| at <= ctx.now) {
                station.rlc.on_time(ctx.now);
            }
        }
        self.release(ctx);
    }

    fn serve(&mut self, ctx: &mut Context, _: &mut Grid, tti: u64) {
        self.run_tti(ctx, tti);
        self.release(ctx);
    }

    fn backlog(&self, user: usize) -> Backlog {
        let (packets, bytes) = self.users[user].rlc.backlog();
        Backlog { packets, bytes }
    }
}
