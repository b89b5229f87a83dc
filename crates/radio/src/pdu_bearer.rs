//! The TTI-driven bearer behind RLC modes that are protocols: scheduling, blocks and their errors,
//! and the way of PDUs between the two ends.
//!
//! TTIs, channels and schedulers are those of [`super::tti`]. On a DCH each PDU has a checksum of its
//! own and goes once; on an HS-DSCH a block has one, and hybrid ARQ sends it again before RLC hears of
//! it. What a TTI brings arrives at its end; what the phone says takes the time that RLC's parameters
//! give it.

use super::channel::ci::CiProcess;
use super::error::ErrorModel;
use super::error::blocks::{BlockErrors, Place};
use super::mac::harq::entity::{Block, HarqEntity};
use super::mac::sched::{Candidate, Scheduler};
use super::rlc::Peers;
use super::tti::Air;
use super::{Bearer, BearerCounts, Delivery, TtiRecord, UserRadio};
use crate::engine::{Key, Stamps};
use crate::packet::Packet;
use crate::rng::Streams;
use crate::units::Time;

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

/// A bearer whose users' RLC is `R`.
#[derive(Debug)]
pub struct PduBearer<R: Peers> {
    air: Air,
    checksum: Checksum,
    users: Vec<Station<R>>,
    scheduler: Box<dyn Scheduler>,
    errors: BlockErrors,
    next_tti: u64,
    on_air: Option<OnAir<R::Pdu>>,
    wake: Option<Key>,
    candidates: Vec<Candidate>,
    keeps_discarded: bool,
    discarded: Vec<Packet>,
    counts: BearerCounts,
    records: Option<Vec<TtiRecord>>,
}

impl<R: Peers> PduBearer<R> {
    /// A bearer whose users have the RLC that `rlc` makes for each.
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
            next_tti: 0,
            on_air: None,
            wake: None,
            candidates: Vec::new(),
            keeps_discarded: false,
            discarded: Vec::new(),
            counts: BearerCounts::default(),
            records: None,
        }
    }

    // --- what happens when ---

    /// First TTI that has not been run and does not begin before `now`.
    fn tti_from(&self, now: Time) -> u64 {
        now.0.div_ceil(self.air.tti.0).max(self.next_tti)
    }

    /// When something happens next if nothing comes: the end of a TTI, the beginning of one in which
    /// somebody has something to send, or something of RLC.
    fn next_event(&self, now: Time) -> Option<Time> {
        let landing = self.on_air.as_ref().map(|on_air| self.air.beginning(on_air.tti + 1));
        let first = self.tti_from(now);
        let of_user = |station: &Station<R>| {
            let tti = if station.rlc.is_ready() {
                Some(first)
            } else {
                station.harq.eligible().map(|from| from.max(first))
            };
            let sends = tti.map(|tti| self.air.beginning(tti));
            sends.into_iter().chain(station.rlc.due()).min()
        };
        self.users.iter().filter_map(of_user).chain(landing).min()
    }

    fn set_wake(&mut self, now: Time, stamps: &mut Stamps) {
        let at = self.next_event(now).map(|at| at.max(now));
        if at != self.wake.map(|(at, _)| at) {
            self.wake = at.map(|at| stamps.key(at));
        }
    }

    // --- a TTI begins ---

    fn run_tti(&mut self, tti: u64) {
        self.next_tti = tti + 1;
        self.candidates.clear();
        for (user, station) in self.users.iter().enumerate() {
            if station.rlc.is_ready() || station.harq.eligible().is_some_and(|from| from <= tti) {
                let pdus_per_block = station.ci.as_ref().map_or(self.air.pdus_per_block, |ci| ci.value(tti));
                self.candidates.push(Candidate::at_rate(user, pdus_per_block));
            }
        }
        let chosen = match self.candidates[..] {
            [] => return,
            [only] => only,
            _ => self.candidates[self.scheduler.pick(tti, &self.candidates)],
        };
        let blocks = self.send_blocks(tti, chosen);
        if blocks.is_empty() {
            return;
        }
        let pdus = blocks.iter().map(|flying| flying.block.pdus.len() as u32).sum();
        self.count(tti, chosen, pdus, &blocks);
        self.scheduler.served(tti, chosen.user, pdus);
        self.on_air = Some(OnAir { user: chosen.user, tti, blocks });
    }

    fn count(&mut self, tti: u64, chosen: Candidate, pdus: u32, blocks: &[Flying<R::Pdu>]) {
        let failed = blocks.iter().filter(|flying| flying.wrong.contains(&true)).count();
        self.counts.ttis += 1;
        self.counts.pdus += u64::from(pdus);
        self.counts.blocks += blocks.len() as u64;
        self.counts.blocks_failed += failed as u64;
        let at = self.air.beginning(tti);
        let has_ci = self.users[chosen.user].ci.is_some();
        if let Some(records) = &mut self.records {
            let ci = if has_ci { chosen.rate } else { 0 };
            records.push(TtiRecord { at, user: chosen.user, ci, pdus, failed: failed as u32 });
        }
    }

    /// Fills the channels: blocks that may go again, then new ones.
    fn send_blocks(&mut self, tti: u64, to: Candidate) -> Vec<Flying<R::Pdu>> {
        let (now, channels) = (self.air.beginning(tti), u64::from(self.air.channels));
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
                let number = if *checksum == Checksum::Block { harq.begin() } else { 0 };
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

    // --- a TTI ends ---

    fn land(&mut self, now: Time) {
        let Some(OnAir { user, tti, blocks }) =
            self.on_air.take_if(|on_air| self.air.beginning(on_air.tti + 1) <= now)
        else {
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
                harq.end(number, block, !wrong.contains(&true));
            }
        }
        while let Some((pdus, intact)) = harq.pop() {
            for pdu in pdus {
                rlc.arrive(now, pdu, intact);
            }
        }
    }

    fn release(&mut self, delivered: &mut Vec<Delivery>) {
        let Self { users, counts, keeps_discarded, discarded, .. } = self;
        for (user, station) in users.iter_mut().enumerate() {
            let ledger = station.rlc.ledger();
            counts.packets_dropped += ledger.dropped.len() as u64;
            discarded.extend(ledger.dropped.drain(..).filter(|_| *keeps_discarded));
            for packet in ledger.delivered.drain(..) {
                counts.packets_delivered += 1;
                counts.bytes_delivered += u64::from(packet.size);
                delivered.push(Delivery { user, packet });
            }
        }
    }
}

impl<R: Peers> Bearer for PduBearer<R> {
    fn accept(&mut self, now: Time, user: usize, packet: Packet, stamps: &mut Stamps) -> bool {
        if !self.users[user].rlc.push(now, packet) {
            self.counts.packets_dropped += 1;
            return false;
        }
        self.counts.packets_in += 1;
        self.set_wake(now, stamps);
        true
    }

    fn next_wake(&self) -> Option<Key> {
        self.wake
    }

    fn wake(&mut self, key: Key, stamps: &mut Stamps, delivered: &mut Vec<Delivery>) {
        if self.wake != Some(key) {
            return;
        }
        self.wake = None;
        let now = key.0;
        self.land(now);
        for station in &mut self.users {
            if station.rlc.due().is_some_and(|at| at <= now) {
                station.rlc.on_time(now);
            }
        }
        let tti = self.tti_from(now);
        if self.air.beginning(tti) == now {
            self.run_tti(tti);
        }
        self.release(delivered);
        self.set_wake(now, stamps);
    }

    fn backlog(&self, user: usize) -> (usize, u64) {
        self.users[user].rlc.backlog()
    }

    fn counts(&self) -> BearerCounts {
        self.counts
    }

    fn keep_discarded(&mut self) {
        self.keeps_discarded = true;
    }

    fn take_discarded(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.discarded)
    }

    fn record_ttis(&mut self) {
        self.records = Some(Vec::new());
    }

    fn tti_records(&self) -> &[TtiRecord] {
        self.records.as_deref().unwrap_or_default()
    }
}
