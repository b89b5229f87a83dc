//! RLC modes that are protocols between sender and phone. On a DCH each PDU has its own checksum, and only
//! RLC retransmits it; on an HS-DSCH hybrid ARQ retransmits blocks, and RLC detects a loss only if it gives
//! up. Blocks arrive at the end of their TTI.

use nodeb_base::context::{Context, Sent};
use nodeb_base::event::{Cause, Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;

use super::grid::Grid;
use super::{Air, Mac};
use crate::channel::ci::BlockSize;
use crate::error::ErrorModel;
use crate::error::blocks::{BlockErrors, Failures, Resource};
use crate::mac::harq::retransmissions::Retransmissions;
use crate::mac::reordering::ReorderingQueue;
use crate::mac::sched::shared::SharedChannel;
use crate::mac::sched::{Candidate, Scheduler};
use crate::rlc::RlcPair;
use crate::{Backlog, UserRadio};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Without hybrid ARQ.
    Pdu,
    /// Hybrid ARQ retransmits the block.
    Block,
}

#[derive(Debug)]
struct UserQueue<R: RlcPair> {
    rlc: R,
    block_size: BlockSize,
    /// Without retransmissions.
    begun: u64,
    failed: Retransmissions<Block<R::Pdu>>,
    /// By block number, received or given up; the flag is true if the PDUs are intact.
    reordering: ReorderingQueue<(Vec<R::Pdu>, bool)>,
}

#[derive(Debug)]
struct Block<P> {
    number: u64,
    pdus: Vec<P>,
    transmissions: u32,
    /// By PDU.
    wrong: Vec<bool>,
}

#[derive(Debug)]
struct OnAir<P> {
    user: usize,
    tti: u64,
    blocks: Vec<Block<P>>,
}

#[derive(Debug)]
pub struct RlcMac<R: RlcPair> {
    air: Air,
    checksum: Checksum,
    users: Vec<UserQueue<R>>,
    channel: SharedChannel,
    errors: BlockErrors,
    on_air: Option<OnAir<R::Pdu>>,
}

impl<R: RlcPair> RlcMac<R> {
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
        let station = |user: &UserRadio| UserQueue {
            rlc: rlc(user),
            block_size: BlockSize::of_user(user, air.pdus_per_block, streams),
            begun: 0,
            failed: Retransmissions::default(),
            reordering: ReorderingQueue::without_timer(),
        };
        Self {
            users: users.iter().map(station).collect(),
            air,
            checksum,
            channel: SharedChannel::new(scheduler),
            errors,
            on_air: None,
        }
    }

    fn choose(&mut self, tti: u64) -> Option<Candidate> {
        let Self { users, channel, .. } = self;
        channel.choose(tti, users, |user, station| {
            let is_ready =
                station.rlc.is_ready() || station.failed.eligible().is_some_and(|from| from <= tti);
            is_ready.then(|| station.block_size.candidate(user, tti))
        })
    }

    fn run_tti(&mut self, ctx: &mut Context, tti: u64) {
        let Some(chosen) = self.choose(tti) else {
            return;
        };
        let blocks = self.send_blocks(ctx.now, tti, chosen);
        if blocks.is_empty() {
            return;
        }
        let units = blocks.iter().map(|block| block.pdus.len() as u32).sum();
        let failed = blocks.iter().filter(|block| block.wrong.contains(&true)).count() as u32;
        let quality = self.users[chosen.user].block_size.quality(chosen.rate);
        let sent = Sent { blocks: blocks.len() as u32, failed, units };
        if ctx.wants(Mask::BLOCKS) {
            self.emit_blocks(ctx, chosen.user, &blocks);
        }
        ctx.blocks(ctx.now, chosen.user, quality, sent);
        self.channel.served(tti, chosen.user, units);
        self.on_air = Some(OnAir { user: chosen.user, tti, blocks });
    }

    /// First blocks due for retransmission.
    fn send_blocks(&mut self, now: Time, tti: u64, to: Candidate) -> Vec<Block<R::Pdu>> {
        let channels = u64::from(self.air.channels);
        let Self { users, errors, checksum, .. } = self;
        let UserQueue { rlc, begun, failed, .. } = &mut users[to.user];
        let mut blocks = Vec::new();
        for channel in 0..channels {
            let on = Resource { user: to.user, tti, channel };
            let mut block = if let Some(failed) = failed.take(tti) {
                failed
            } else {
                let pdus: Vec<_> = (0..to.rate).map_while(|_| rlc.send(now)).collect();
                if pdus.is_empty() {
                    break;
                }
                let number = if *checksum == Checksum::Block { *begun } else { tti * channels + channel };
                *begun += 1;
                Block { number, transmissions: 0, wrong: vec![false; pdus.len()], pdus }
            };
            let (size, wrong) = (block.pdus.len() as u32, &mut block.wrong);
            match (*checksum, block.transmissions) {
                (Checksum::Pdu, _) => errors.wrong_pdus(on, wrong),
                (_, 0) => wrong.fill(errors.first_failure(on, 1, to.rate).is_some()),
                (_, times) => wrong.fill(errors.retransmission_fails(on, size, times)),
            }
            block.transmissions += 1;
            blocks.push(block);
        }
        blocks
    }

    /// Also the parts of packets in new blocks.
    #[cold]
    fn emit_blocks(&self, ctx: &mut Context, user: usize, blocks: &[Block<R::Pdu>]) {
        let rlc = &self.users[user].rlc;
        let (bearer, user) = (ctx.place.index, user as u32);
        for &Block { number: block, ref pdus, transmissions: transmission, ref wrong } in blocks {
            let (units, failed) = (pdus.len() as u32, wrong.contains(&true));
            ctx.emit(Event::Block { bearer, user, block, units, transmission, failed });
            if transmission == 1 {
                for part in pdus.iter().flat_map(|pdu| rlc.carried(pdu)) {
                    ctx.emit(Event::Carries { bearer, user, block, part });
                }
            }
        }
    }

    /// Failed blocks that hybrid ARQ may retransmit are stored.
    fn receive(&mut self, ctx: &mut Context) {
        let now = ctx.now;
        let Some(OnAir { user, tti, blocks }) = self.on_air.take() else {
            return;
        };
        let UserQueue { rlc, failed, reordering, .. } = &mut self.users[user];
        for block in blocks {
            let fails = block.wrong.contains(&true);
            if self.checksum == Checksum::Pdu {
                for (pdu, wrong) in block.pdus.into_iter().zip(block.wrong) {
                    rlc.arrive(now, pdu, !wrong);
                }
            } else if fails && self.air.may_retransmit(block.transmissions) {
                failed.keep(tti + self.air.retransmission_ttis(), block);
            } else {
                if fails {
                    let (bearer, user) = (ctx.place.index, user as u32);
                    ctx.emit(Event::GivenUp { bearer, user, block: block.number });
                }
                let is_new = reordering.receive(tti, block.number, (block.pdus, !fails), |(pdus, intact)| {
                    for pdu in pdus {
                        rlc.arrive(now, pdu, intact);
                    }
                });
                debug_assert!(is_new, "each block is completed once");
            }
        }
    }

    fn release(&mut self, ctx: &mut Context) {
        for (user, station) in self.users.iter_mut().enumerate() {
            let sdus = station.rlc.sdus();
            for packet in sdus.dropped.drain(..) {
                ctx.lose(user, packet, Cause::RadioLoss);
            }
            for packet in sdus.delivered.drain(..) {
                ctx.deliver(user, packet);
            }
        }
    }
}

impl<R: RlcPair> Mac for RlcMac<R> {
    fn accept(&mut self, ctx: &mut Context, _: &Grid, user: usize, packet: Packet) -> bool {
        self.users[user].rlc.push(ctx.now, packet)
    }

    fn due(&self, grid: &Grid, now: Time) -> Option<Time> {
        let landing = self.on_air.as_ref().map(|on_air| grid.beginning(on_air.tti + 1));
        let first = grid.from(now);
        let of_user = |station: &UserQueue<R>| {
            let tti = if station.rlc.is_ready() {
                Some(first)
            } else {
                station.failed.eligible().map(|from| from.max(first))
            };
            let sends = tti.map(|tti| grid.beginning(tti));
            sends.into_iter().chain(station.rlc.due()).min()
        };
        let due = self.users.iter().filter_map(of_user).chain(landing).min();
        due.map(|at| at.max(now))
    }

    fn complete(&mut self, ctx: &mut Context, _: u64) {
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
        self.users[user].rlc.backlog()
    }
}
