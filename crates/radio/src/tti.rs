//! The TTI-driven bearer behind DCH and HS-DSCH: segmentation, scheduling, block errors,
//! retransmission, delivery.
//!
//! Time is cut into TTIs on a fixed grid. In a TTI one user may send: first the failed blocks
//! that may go again, one per channel, then new PDUs. A block fails as a whole; it may be sent
//! again at the first TTI boundary at least the retransmission delay after the beginning of the
//! TTI that failed. Packets arrive at the end of the TTI that completes them. A bearer with
//! nothing to send sleeps, and one whose only user fills every channel runs on, TTI after TTI,
//! until a packet is complete: nothing that arrives before could change those TTIs. A block whose errors follow a model has
//! failed when any of its PDUs is wrong. Left out: ACK/NACK errors, control channels, and a limit on
//! how many blocks may be outstanding (`wang`, section 8.3).

use super::channel::ci::CiProcess;
use super::error::ErrorModel;
use super::error::blocks::{BlockErrors, BlockShape, Place};
use super::mac::harq::CombiningSpec;
use super::mac::sched::{Candidate, Scheduler};
use super::rlc::{Buffer, Delivered, FailedBlock};
use super::{Bearer, BearerCounts, Delivery, TtiRecord, UserRadio};
use crate::check::Check;
use crate::engine::{Key, Stamps};
use crate::packet::Packet;
use crate::rng::Streams;
use crate::units::{Duration, NANOS_PER_S, Probability, Rate, Time};

/// What a TTI-driven bearer does on the air.
#[derive(Clone, Debug)]
pub struct Air {
    /// Blocks that can be sent side by side in a TTI.
    pub channels: u32,
    /// Transmission time interval.
    pub tti: Duration,
    /// Payload of a PDU in bytes.
    pub pdu_bytes: u32,
    /// PDUs in a block at constant rate.
    pub pdus_per_block: u32,
    /// Block error rate of a first transmission.
    pub bler: Probability,
    /// From the beginning of a failed TTI until the block may be sent again.
    pub retransmission_delay: Duration,
    /// Transmissions before a block is given up.
    pub max_transmissions: Option<u32>,
    /// Order in which packets leave.
    pub delivered: Delivered,
    /// Packets that each user's buffer holds.
    pub buffer: usize,
    /// Soft combining.
    pub combining: CombiningSpec,
}

/// More than any system has; larger numbers are typing errors.
const MOST_CHANNELS: u32 = 1_000;
const MOST_PDUS: u32 = 1_000;
const LONGEST_TTI: Duration = Duration::from_secs(10);

impl Air {
    /// Reports impossible values; `errors` stands in the place of the BLER where it is given.
    pub fn check_with(&self, errors: Option<&ErrorModel>, check: &mut Check) {
        check.require(self.tti.0 >= 1_000 && self.tti <= LONGEST_TTI, "tti", || {
            format!("a TTI of {} is absurd; expected 1 us to {LONGEST_TTI}", self.tti)
        });
        check.require((1..=65_535).contains(&self.pdu_bytes), "pdu_size", || {
            format!("a PDU of {} B is absurd; expected 1 B to 65.535 kB", self.pdu_bytes)
        });
        check.require(self.channels <= MOST_CHANNELS, "channels", || {
            format!("{} channels are absurd; expected at most {MOST_CHANNELS}", self.channels)
        });
        check.require(self.pdus_per_block <= MOST_PDUS, "pdus_per_tti", || {
            format!("{} PDUs in a block are absurd; expected at most {MOST_PDUS}", self.pdus_per_block)
        });
        if let Some(errors) = errors {
            errors.check_for(self.pdus_per_block, self.max_transmissions, check);
        } else {
            check.require(self.bler.0 < 1.0 || self.max_transmissions.is_some(), "bler", || {
                "with a BLER of 1 and unlimited retransmissions no block would ever arrive; expected a BLER below \
                 1, or set `max_transmissions`"
                    .to_owned()
            });
        }
        check.within("combining", |check| self.combining.check(check));
    }

    /// Share of first transmissions that fail, by `errors` if they are given.
    pub fn block_error_rate(&self, errors: Option<&ErrorModel>) -> Probability {
        errors.map_or(self.bler, |errors| errors.block_error_rate(self.pdus_per_block))
    }

    /// What its blocks are like.
    pub fn blocks(&self) -> BlockShape<'_> {
        let Self { bler, channels, pdus_per_block, pdu_bytes, ref combining, .. } = *self;
        BlockShape { bler, channels, pdus: pdus_per_block, pdu_bytes, combining }
    }

    /// Bit rate when every TTI is full and nothing fails; with a C/I process, at its `best_ci`.
    pub fn rate(&self, best_ci: Option<u32>) -> Rate {
        let pdus = u128::from(self.channels) * u128::from(best_ci.unwrap_or(self.pdus_per_block));
        let bits_per_tti = pdus * u128::from(self.pdu_bytes) * 8;
        Rate((bits_per_tti * u128::from(NANOS_PER_S) / u128::from(self.tti.0)) as u64)
    }

    /// When TTI number `tti` begins.
    pub fn beginning(&self, tti: u64) -> Time {
        Time(tti * self.tti.0)
    }

    /// TTI number from which a block that failed in TTI number `tti` may be sent again.
    pub fn eligible_after(&self, tti: u64) -> u64 {
        (tti + self.retransmission_delay.0.div_ceil(self.tti.0)).max(tti + 1)
    }

    /// Whether a block that has failed so often may be sent again.
    pub fn may_send_again(&self, transmissions: u32) -> bool {
        self.max_transmissions.is_none_or(|most| transmissions < most)
    }
}

#[derive(Debug)]
struct User {
    buffer: Buffer,
    /// PDUs per block, where the channel decides, and the most there can be.
    ci: Option<CiProcess>,
    most_pdus_per_block: u32,
}

impl User {
    fn pdus_per_block(&self, tti: u64, air: &Air) -> u32 {
        self.ci.as_ref().map_or(air.pdus_per_block, |ci| ci.value(tti))
    }
}

/// A TTI-driven bearer.
#[derive(Debug)]
pub struct TtiBearer {
    air: Air,
    users: Vec<User>,
    scheduler: Box<dyn Scheduler>,
    errors: BlockErrors,
    /// First TTI not yet run.
    next_tti: u64,
    wake: Option<Key>,
    /// Who was sent packets' last PDUs, which arrive at the beginning of `next_tti`.
    completed: Option<usize>,
    candidates: Vec<Candidate>,
    counts: BearerCounts,
    records: Option<Vec<TtiRecord>>,
}

impl TtiBearer {
    /// A bearer with empty buffers, whose blocks fail by `errors` if they are given.
    pub fn new(
        air: Air,
        errors: Option<&ErrorModel>,
        users: &[UserRadio],
        scheduler: Box<dyn Scheduler>,
        streams: &Streams,
    ) -> Self {
        let ids: Vec<u64> = users.iter().map(|user| user.id).collect();
        let errors = BlockErrors::new(errors, air.blocks(), &ids, streams);
        let users = users
            .iter()
            .map(|user| User {
                buffer: Buffer::new(air.pdu_bytes, air.buffer, air.delivered),
                ci: CiProcess::of_user(user, streams),
                most_pdus_per_block: air.pdus_per_block.max(user.ci.len() as u32),
            })
            .collect();
        Self {
            air,
            users,
            scheduler,
            errors,
            next_tti: 0,
            wake: None,
            completed: None,
            candidates: Vec::new(),
            counts: BearerCounts::default(),
            records: None,
        }
    }

    /// Moves the wake-up to the beginning of `tti`, unless it is there or earlier already.
    fn wake_by(&mut self, tti: u64, stamps: &mut Stamps) {
        let at = self.air.beginning(tti);
        if self.wake.is_none_or(|(wake, _)| at < wake) {
            self.wake = Some(stamps.key(at));
        }
    }

    /// Runs one TTI; returns whether it completes packets.
    fn run_tti(&mut self, tti: u64) -> bool {
        self.next_tti = tti + 1;
        self.candidates.clear();
        for (user, state) in self.users.iter().enumerate() {
            if state.buffer.eligible().is_some_and(|from| from <= tti) {
                self.candidates.push(Candidate::at_rate(user, state.pdus_per_block(tti, &self.air)));
            }
        }
        let chosen = match self.candidates[..] {
            [] => return false,
            [only] => only,
            _ => self.candidates[self.scheduler.pick(tti, &self.candidates)],
        };
        let failed_before = self.counts.blocks_failed;
        let pdus = self.send_blocks(tti, chosen);
        self.counts.ttis += 1;
        self.counts.pdus += pdus;
        self.scheduler.served(tti, chosen.user, pdus as u32);
        if let Some(records) = &mut self.records {
            let has_ci = self.users[chosen.user].ci.is_some();
            records.push(TtiRecord {
                at: self.air.beginning(tti),
                user: chosen.user,
                ci: if has_ci { chosen.rate } else { 0 },
                pdus: pdus as u32,
                failed: (self.counts.blocks_failed - failed_before) as u32,
            });
        }
        let completes = self.users[chosen.user].buffer.has_complete();
        self.completed = completes.then_some(chosen.user);
        completes
    }

    /// Fills the channels of a TTI: failed blocks that may go again, then new ones. Returns the
    /// PDUs sent.
    fn send_blocks(&mut self, tti: u64, to: Candidate) -> u64 {
        let Self { air, users, errors, counts, .. } = self;
        let buffer = &mut users[to.user].buffer;
        let mut fail = |buffer: &mut Buffer, block: FailedBlock| {
            counts.blocks_failed += 1;
            if air.may_send_again(block.transmissions) {
                buffer.keep_failed(FailedBlock { eligible: air.eligible_after(tti), ..block });
            } else {
                buffer.give_up(block);
            }
        };
        let mut channels = u64::from(air.channels);
        let all = channels;
        let place = |left: u64| Place { user: to.user, tti, channel: all - left };
        let mut sent = 0;
        while channels > 0
            && let Some(block) = buffer.take_failed(tti)
        {
            let place = place(channels);
            channels -= 1;
            sent += u64::from(block.pdus);
            if errors.fails_again(place, block.pdus, block.transmissions) {
                fail(buffer, FailedBlock { transmissions: block.transmissions + 1, ..block });
            }
        }
        let per_block = u64::from(to.rate);
        let pdus = buffer.fresh().min(channels * per_block);
        let mut blocks = if per_block == 1 { pdus } else { pdus.div_ceil(per_block) };
        let mut at = buffer.take_fresh(pdus);
        let end = at + pdus;
        let all_blocks = u64::from(air.channels) - channels + blocks;
        while let Some(good) = errors.first_failure(place(channels), blocks, to.rate) {
            channels -= good + 1;
            at += good * per_block;
            let size = per_block.min(end - at);
            fail(buffer, FailedBlock { first: at, pdus: size as u32, transmissions: 1, eligible: 0 });
            at += size;
            blocks -= good + 1;
        }
        counts.blocks += all_blocks;
        sent + pdus
    }

    /// Whether the next TTI is the same whatever arrives before it: one user alone on the bearer
    /// who can fill every channel.
    fn is_foreseeable(&self) -> bool {
        match &self.users[..] {
            [alone] => {
                alone.buffer.fresh() >= u64::from(self.air.channels) * u64::from(alone.most_pdus_per_block)
            }
            _ => false,
        }
    }

    /// Hands over what the TTIs run so far have completed.
    fn release(&mut self, delivered: &mut Vec<Delivery>) {
        let Some(user) = self.completed.take() else {
            return;
        };
        let Self { users, counts, .. } = self;
        counts.packets_dropped += users[user].buffer.release(|packet| {
            counts.packets_delivered += 1;
            counts.bytes_delivered += u64::from(packet.size);
            delivered.push(Delivery { user, packet });
        });
    }
}

impl Bearer for TtiBearer {
    fn accept(&mut self, now: Time, user: usize, packet: Packet, stamps: &mut Stamps) -> bool {
        if !self.users[user].buffer.push(packet) {
            self.counts.packets_dropped += 1;
            return false;
        }
        self.counts.packets_in += 1;
        let tti = now.0.div_ceil(self.air.tti.0).max(self.next_tti);
        self.wake_by(tti, stamps);
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
        self.release(delivered);
        let mut tti = key.0.0 / self.air.tti.0;
        loop {
            if self.run_tti(tti) {
                return self.wake_by(self.next_tti, stamps);
            }
            if !self.is_foreseeable() {
                break;
            }
            tti += 1;
        }
        if let Some(from) = self.users.iter().filter_map(|user| user.buffer.eligible()).min() {
            self.wake_by(from.max(self.next_tti), stamps);
        }
    }

    fn backlog(&self, user: usize) -> (usize, u64) {
        self.users[user].buffer.backlog()
    }

    fn counts(&self) -> BearerCounts {
        self.counts
    }

    fn record_ttis(&mut self) {
        self.records = Some(Vec::new());
    }

    fn tti_records(&self) -> &[TtiRecord] {
        self.records.as_deref().unwrap_or_default()
    }
}
