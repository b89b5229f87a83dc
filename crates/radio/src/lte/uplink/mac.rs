use std::cell::OnceCell;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use nodeb_base::context::{BlockCounts, Context, Counted, Output};
use nodeb_base::engine::Phase;
use nodeb_base::event::{Cause, Direction, Event, Mask, UplinkPassage};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::Time;

use super::super::Lte;
use super::super::channel::{Carrier, Responses};
use super::super::drx::Listening;
use super::super::formats::{Format, Formats};
use super::super::layers::Antennas;
use super::super::mac::sleep::Sleepers;
use super::super::mcs::McsTable;
use super::super::numbered::emit_numbers;
use super::super::queues;
use super::super::recorded::Steps;
use super::super::reports::TTI;
use super::super::resources::smallest_uplink_grant;
use super::super::rrc::connections::Connections;
use super::super::shared::Shared;
use super::super::timing::{PROCESSES, UP_BLOCK_AFTER_GRANT, UP_FEEDBACK_AFTER};
use super::headroom;
use super::params::Scheduled;
use super::phone::{Block, Cell, Heard, OVERHEAD, Phone, Sounding};
use super::reserved::{self, Reserved};
use super::runs::BlockSet;
use super::shares::EvenShares;
use super::tally::{UPLINKS, UplinkRow};
use crate::cell::channel::ends::Ends;
use crate::cell::doppler::JakesSequence;
use crate::mac::band::Run;
use crate::mac::deal::balance::Balance;
use crate::mac::harq::block::SentBlock;
use crate::mac::sched::{Candidate, Deal, Scheduler, Weight};
use crate::rlc::bytes::Outcome;
use crate::tti::Mac;
use crate::tti::grid::Grid;
use crate::{Backlog, UserRadio};

#[derive(Debug)]
struct Planned {
    user: usize,
    run: Run,
    work: Work,
}

#[derive(Debug)]
enum Work {
    New(Format),
    /// Of a configured grant, after its first block.
    Reserved(Format),
    Again(Block),
}

/// Decoded or given up; takes effect at the start of the next TTI.
#[derive(Debug)]
struct Decided {
    user: usize,
    units: Range<u64>,
    decoded: bool,
    /// Time of the request or report that led to the grant; ahead of data, four subframes before data were
    /// assumed, at least 0; for later blocks of a configured grant, the start of the block.
    asked: Time,
    /// Start of the first transmission.
    from: Time,
}

#[derive(Debug)]
pub struct UplinkMac {
    lte: Lte,
    params: Scheduled,
    formats: Vec<Formats>,
    sequence: JakesSequence,
    phones: Vec<Phone>,
    ends: Ends,
    /// For PUSCH.
    data: BlockSet,
    scheduler: Box<dyn Scheduler>,
    /// Beyond even shares, if the scheduler shares evenly.
    balance: Balance,
    /// By the index of their HARQ process.
    planned: [Vec<Planned>; PROCESSES as usize],
    /// In order of the first subframe in which it can lead to a grant.
    heard: VecDeque<(u64, usize, Heard)>,
    decided: Vec<Decided>,
    /// Arrival, user and number, in order of arrival.
    statuses: VecDeque<(Time, usize, u64)>,
    /// Shared with the downlink; `None` if phones are always connected.
    connections: Option<Connections>,
    /// Shared with the downlink; `None` if phones always listen.
    sleepers: Option<Sleepers>,
    /// With the end of the last decoded transmission, or the start of the first while none was; empty unless
    /// a listener subscribes to events of service.
    passages: HashMap<PacketId, (Time, UplinkPassage)>,
}

impl UplinkMac {
    pub fn new(lte: &Lte, params: &Scheduled, users: &[UserRadio], streams: &Streams) -> Self {
        let sequence = if users.iter().any(|user| user.ue.channel.facts().fades) {
            JakesSequence::new(&mut streams.stream("cell", 0, "uplink fading"))
        } else {
            JakesSequence::silent()
        };
        let (numerology, band) = (lte.numerology(), lte.bandwidth.band());
        let cell = lte.cell.uplink(params.noise_dbm());
        let antennas = Antennas::ONE;
        let carrier =
            Carrier { cell: &cell, band: &band, numerology, antennas, steps: None, fading: "uplink" };
        let scheduler = params.scheduler.build(users.len(), numerology.tti);
        let mut responses = Responses::default();
        let down = OnceCell::new();
        let phone = |user| {
            let carrier = Carrier { steps: Steps::of_user(lte, user, &down), ..carrier };
            Phone::new(lte, params, user, carrier, *streams, &mut responses)
        };
        let tables = |mcss| Formats::up(lte.bandwidth, mcss, lte.implementation_loss_db);
        let phones: Vec<Phone> = users.iter().map(phone).collect();
        Self {
            ends: Ends::new(phones.iter().map(Phone::ends)),
            phones,
            formats: [McsTable::Up16Qam, McsTable::Up].map(tables).into(),
            sequence,
            data: params.data_blocks(lte.bandwidth),
            scheduler,
            balance: Balance::default(),
            lte: lte.clone(),
            params: params.clone(),
            planned: Default::default(),
            heard: VecDeque::new(),
            decided: Vec::new(),
            statuses: VecDeque::new(),
            connections: lte.rrc.as_ref().map(|rrc| Connections::new(rrc, users)),
            sleepers: lte.drx.as_ref().map(|drx| Sleepers::new(drx, users)),
            passages: HashMap::new(),
        }
    }

    /// Sends a due STATUS PDU and passes on packets. Unreported data wait for a grant from `tti`, or the
    /// start of the connection if later.
    fn refresh(&mut self, ctx: &mut Context, user: usize, tti: u64) {
        let phone = &mut self.phones[user];
        let now = ctx.now;
        if phone.rlc.report_waiting(now) > 0
            && let Some(report) = phone.rlc.take_report(now, u32::MAX)
        {
            self.statuses.push_back((now + self.lte.status_delay, user, report.number));
        }
        for outcome in phone.rlc.outcomes() {
            match outcome {
                Outcome::Delivered { packet, .. } => {
                    phone.tally.bytes_delivered += u64::from(packet.size);
                    if let Some((sent, passage)) = self.passages.remove(&packet.id) {
                        let (phone, packet) = (ctx.place_of(user).index, packet.id);
                        ctx.sink.emit(sent, Event::Granted { phone, packet, passage });
                    }
                    ctx.deliver(user, packet);
                }
                Outcome::Lost { packet, cause } => {
                    phone.tally.packets_dropped += 1;
                    self.passages.remove(&packet.id);
                    ctx.lose(user, packet, cause);
                }
            }
        }
        match &self.connections {
            _ if self.ends.precede(user, tti) => {}
            None => phone.want(tti),
            Some(connections) => {
                connections.waits(user, Direction::Up, tti, phone.rlc.backlog().packets > 0);
                phone.want(tti.max(connections.since(user)));
            }
        }
    }

    fn request(&mut self, ctx: &mut Context, tti: u64) {
        for (user, phone) in self.phones.iter_mut().enumerate().filter(|(_, phone)| phone.ready() <= tti) {
            let Some(is_received) = phone.request(tti, &self.params) else { continue };
            listen(self.sleepers.as_ref(), ctx, user, |listening| listening.requested(tti));
            if is_received {
                self.heard.push_back((tti + UP_FEEDBACK_AFTER, user, Heard::Request));
            }
        }
    }

    // Clause: TS 36.213, 8.0; TS 36.321, 5.4.2: HARQ timing of the uplink
    // Simplified: no adaptive retransmissions, answers without errors, and no retransmissions of padding
    /// Failed blocks are planned again for the same process until their last transmission. Blocks of padding
    /// alone are sent once, and their reports always arrive.
    fn transmit(&mut self, ctx: &mut Context, tti: u64) {
        let process = process(tti);
        debug_assert!(are_disjoint(&self.planned[process]), "two phones send on one resource block");
        for Planned { user, run, work } in std::mem::take(&mut self.planned[process]) {
            if self.phones[user].ends() <= tti {
                continue;
            }
            let mut block = match work {
                Work::New(format) => self.fill(ctx, tti, user, (run, format), false),
                Work::Reserved(format) => self.fill(ctx, tti, user, (run, format), true),
                Work::Again(block) => block,
            };
            let Self { lte, formats, sequence, phones, sleepers, .. } = self;
            let cell = Cell { lte, formats, sequence };
            let decoded = phones[user].send(tti, run, &mut block, &cell);
            listen(sleepers.as_ref(), ctx, user, |listening| {
                if block.transmissions == 1 {
                    listening.answered(tti);
                }
                listening.may_repeat(tti + UP_FEEDBACK_AFTER);
            });
            let blocks = BlockCounts { sent: 1, failed: u64::from(!decoded) };
            if block.transmissions > 1 {
                self.scheduler.served(tti, user, block.bytes);
            }
            ctx.count_ttis(0, user, Counted { blocks, units: u64::from(block.bytes) });
            let is_done = decoded || block.units.is_empty();
            let is_again = !is_done && block.transmissions < self.params.max_transmissions.get();
            if ctx.wants(Mask::ANY_BLOCKS) {
                let rlc = &self.phones[user].rlc;
                sent_block(&block, is_done, is_again).emit(ctx, user, |units| rlc.carried(units));
            }
            if is_again {
                self.planned[process].push(Planned { user, run, work: Work::Again(block) });
                continue;
            }
            let Block { units, report: octets, headroom, begun, asked, .. } = block;
            let report = Heard::Report { octets, headroom, begun };
            let heard = if is_done { report } else { Heard::Nothing { begun } };
            self.phones[user].tally.given_up += u64::from(!is_done);
            self.heard.push_back((tti + UP_FEEDBACK_AFTER, user, heard));
            self.decided.push(Decided { user, units, decoded, asked, from: Time(begun * TTI.0) });
        }
    }

    fn fill(
        &mut self,
        ctx: &mut Context,
        tti: u64,
        user: usize,
        (run, format): (Run, Format),
        is_reserved: bool,
    ) -> Block {
        let phone = &mut self.phones[user];
        let next = phone.rlc.next_number();
        let block = phone.fill(tti, format, run.blocks, is_reserved, &self.params);
        emit_numbers(ctx, user, &phone.rlc, next..phone.rlc.next_number());
        if ctx.wants(Mask::SERVICE) {
            let [asked, from] = [block.asked, ctx.now];
            let since = self.connections.as_ref().map_or(0, |connections| connections.since(user));
            let connected = Time(since * TTI.0);
            for part in phone.rlc.carried(block.units.clone()) {
                let passage = UplinkPassage {
                    connected,
                    asked,
                    first: from,
                    from,
                    blocks: 0,
                    is_reserved,
                    is_lost: false,
                };
                self.passages.entry(part.packet).or_insert((from, passage)).1.blocks += 1;
            }
        }
        block
    }

    /// Information that can lead to a grant from `tti` on; grants ahead assume data at connected phones that
    /// listen.
    fn hear(&mut self, tti: u64) {
        while let Some((_, user, heard)) = self.heard.front().copied().filter(|(at, ..)| *at <= tti) {
            self.heard.pop_front();
            if !self.ends.precede(user, tti) {
                self.phones[user].hear(heard, tti, &self.params);
            }
        }
        if let Some(interval) = self.params.ahead() {
            for (user, phone) in (0u64..).zip(&mut self.phones) {
                let connections = self.connections.as_ref();
                let is_connected = connections.is_none_or(|all| all.is_connected(user as usize, tti));
                let has_channel = !self.ends.precede(user as usize, tti);
                let listens = self.sleepers.as_ref().is_none_or(|all| all.listens(user as usize, tti));
                if is_connected && has_channel && listens && tti % interval == user % interval {
                    phone.grant_ahead(self.params.first_grant.0 as u32, tti, true);
                }
            }
        }
    }

    fn reserved_at(&self, at: u64) -> BlockSet {
        let due = self.phones.iter().filter_map(|phone| phone.reserved.as_ref()).filter(|one| one.recurs(at));
        due.fold(BlockSet::NONE, |all, one| all.with(one.run))
    }

    // Clause: TS 36.321, 5.4.1, 5.10.2: configured grants and retransmissions
    // Simplified: a block of a configured grant for which retransmissions leave no resource blocks is left out
    /// Four subframes after `tti`; grants of phones no longer connected end. If others use the grant's
    /// resource blocks there, as many others are granted instead, or the block is left out; a phone that
    /// retransmits sends no other block.
    fn reserve(&mut self, tti: u64) {
        let at = tti + UP_BLOCK_AFTER_GRANT;
        for user in 0..self.phones.len() {
            let connections = self.connections.as_ref();
            if connections.is_some_and(|all| !all.is_connected(user, tti))
                && self.phones[user].reserved.is_some()
            {
                self.phones[user].release(tti);
            }
            let Some(reserved) = self.phones[user]
                .reserved
                .as_ref()
                .filter(|one| one.recurs(at) && at < self.phones[user].ends())
            else {
                continue;
            };
            let planned = &self.planned[process(at)];
            if planned.iter().any(|other| other.user == user) {
                continue;
            }
            let free = planned.iter().fold(self.data, |free, other| free.without(other.run));
            let (own, format) = (reserved.run, reserved.format);
            let run = if free.contains(own) { Some(own) } else { free.find(own.blocks) };
            if let Some(run) = run.filter(|run| run.blocks == own.blocks) {
                self.phones[user].grant(at, format.bits / 8);
                self.planned[process(at)].push(Planned { user, run, work: Work::Reserved(format) });
            }
        }
    }

    /// Only for a requested block with room for the requested data; configured grants take at most half of a
    /// subframe's resource blocks.
    fn configure(&mut self, at: u64, user: usize, run: Run, format: Format) {
        let Some(configured) = self.params.configured() else { return };
        let taken = self.reserved_at(at);
        let phone = &mut self.phones[user];
        let fits = format.bits / 8 >= phone.wanted_octets()
            && 2 * (taken.len() + run.blocks) <= self.data.len()
            && taken.without(run) == taken;
        if fits && phone.is_requested && phone.reserved.is_none() {
            phone.configure(Reserved::new(configured, at, run, format));
        }
    }

    // Clause: TS 36.321, 5.4.1: grants
    // Simplified: grants are received without errors
    /// Four subframes after `tti`. Grants ahead of data get what the grants for data leave, and the scheduler
    /// does not learn of them, as their blocks may have only padding.
    fn grant(&mut self, ctx: &mut Context, tti: u64) {
        let at = tti + UP_BLOCK_AFTER_GRANT;
        let planned = &self.planned[process(at)];
        let free = planned.iter().fold(self.data, |free, other| free.without(other.run));
        let is_busy = |user: usize| planned.iter().any(|other| other.user == user);
        let listens = |user: usize| self.sleepers.as_ref().is_none_or(|all| all.listens(user, tti));
        let waits = |user: &usize| {
            let phone = &self.phones[*user];
            phone.known > 0 && at < phone.ends() && !is_busy(*user) && listens(*user)
        };
        let earlier = planned.len();
        let (ahead, known): (Vec<usize>, Vec<usize>) =
            (0..self.phones.len()).filter(waits).partition(|user| self.phones[*user].is_ahead);
        let mut room = Room { free, grants: self.params.users_per_tti.get() };
        self.grant_by_scheduler(tti, known, &mut room);
        self.grant_ahead(tti, ahead, &mut room);
        for granted in &self.planned[process(at)][earlier..] {
            listen(self.sleepers.as_ref(), ctx, granted.user, |listening| listening.granted(tti));
        }
    }

    fn grant_by_scheduler(&mut self, tti: u64, known: Vec<usize>, room: &mut Room) {
        if known.is_empty() || room.is_used_up() {
            return;
        }
        let at = tti + UP_BLOCK_AFTER_GRANT;
        let mut bids: Vec<Bid> = known.into_iter().filter_map(|user| self.bid(at, user)).collect();
        match self.order(tti, &mut bids) {
            Deal::EachToHighest => {
                let most = room.free.len();
                for bid in &mut bids {
                    self.serve_bid(at, bid, most, room);
                }
            }
            Deal::InTurnFrom(_) => self.share_evenly(at, &mut bids, room),
        }
        for bid in bids.iter().filter(|bid| bid.octets > 0) {
            self.scheduler.served(tti, bid.candidate.user, bid.octets);
        }
    }

    /// Of the phones whose turn it is, the one that has got the least so far comes first, so that shares are
    /// equal in the long run.
    fn share_evenly(&mut self, at: u64, bids: &mut [Bid], room: &mut Room) {
        let mut left = room.free.len();
        let fits = |bid: &&Bid| {
            let is_left = bid.least <= left;
            left = left.saturating_sub(bid.least);
            is_left
        };
        let turns = bids.iter().take(room.grants as usize).take_while(fits).count();
        let mut order: Vec<usize> = (0..bids.len()).collect();
        let balance = |at: &usize| self.balance.of(bids[*at].candidate.user);
        order[..turns].sort_by(|a, b| balance(a).total_cmp(&balance(b)));
        let mut shares = EvenShares::new(bids[..turns].iter().map(|bid| bid.needed), room.free.len());
        for place in order {
            let bid = &mut bids[place];
            self.serve_bid(at, bid, shares.most(bid.needed), room);
            shares.take(bid.needed, bid.blocks);
        }
        let limited = bids[..turns].iter().filter(|bid| shares.limits(bid.needed));
        self.balance.record(
            limited.map(|bid| (bid.candidate.user, f32::from(bid.blocks))),
            f32::from(self.data.len()),
        );
    }

    /// On at most `most` resource blocks if they have room for data.
    fn serve_bid(&mut self, at: u64, bid: &mut Bid, most: u16, room: &mut Room) {
        if room.is_used_up() {
            return;
        }
        let Some((run, format)) = self.allot(bid, room.free, most) else { return };
        room.take(run);
        let (user, octets) = (bid.candidate.user, format.bits / 8);
        (bid.octets, bid.blocks) = (octets, run.blocks);
        self.configure(at, user, run, format);
        self.phones[user].grant(at, octets);
        self.planned[process(at)].push(Planned { user, run, work: Work::New(format) });
    }

    /// First to the phones for which they have been due the longest.
    fn grant_ahead(&mut self, tti: u64, mut users: Vec<usize>, room: &mut Room) {
        let at = tti + UP_BLOCK_AFTER_GRANT;
        users.sort_by_key(|user| self.phones[*user].known_since);
        for user in users {
            if room.is_used_up() {
                break;
            }
            if let Some(mut bid) = self.bid(at, user) {
                self.serve_bid(at, &mut bid, room.free.len(), room);
            }
        }
    }

    /// As many resource blocks as the data need, at most `most` and within the power, but more if the block
    /// had no room for data beside its headers.
    fn allot(&self, bid: &Bid, free: BlockSet, most: u16) -> Option<(Run, Format)> {
        let Self { lte, formats, sequence, phones, .. } = self;
        let (cell, phone) = (Cell { lte, formats, sequence }, &phones[bid.candidate.user]);
        let (wanted, most) = (phone.wanted_octets(), most.min(bid.sounding.blocks));
        let (mut best, mut next) = (None, free.find(bid.needed.min(most).max(1)));
        while let Some(run) = next {
            let Some(format) = phone.select(run, &bid.sounding.row, &cell) else { break };
            let (octets, longer) = (format.bits / 8, smallest_uplink_grant(run.blocks + 1));
            if octets > OVERHEAD {
                best = Some((run, format));
                if octets >= wanted || longer > most {
                    break;
                }
            }
            next = free.find(longer).filter(|next| next.blocks > run.blocks);
        }
        best
    }

    /// The rate is the size of a block on the lowest resource blocks, as many as the phone's power allows;
    /// `None` if even the smallest is too large for the category.
    fn bid(&mut self, at: u64, user: usize) -> Option<Bid> {
        let Self { lte, formats, sequence, phones, data, .. } = self;
        let (cell, phone) = (Cell { lte, formats, sequence }, &mut phones[user]);
        let sounding = phone.measure(at - UP_BLOCK_AFTER_GRANT, &cell);
        let all = data.find(sounding.blocks)?;
        let rate = phone.select(all, &sounding.row, &cell)?.bits / 8;
        let (groups, sizes) = cell.formats[0].band().groups_of(all);
        let sum: f32 = groups.into_iter().map(|group| sounding.row[group] * sizes[group]).sum();
        let quality = 10.0 * libm::log10f(sum / f32::from(all.blocks));
        let deadline = phone.known_since + phone.delay_budget;
        let candidate = Candidate { user, rate, quality, deadline };
        let octets_per_block = rate as f32 / f32::from(all.blocks);
        let needed = (phone.wanted_octets() as f32 / octets_per_block).ceil() as u16;
        let needed = smallest_uplink_grant(needed.min(all.blocks));
        let least = ((OVERHEAD + 1) as f32 / octets_per_block).ceil() as u16;
        Some(Bid { candidate, sounding, needed, least, score: 0.0, octets: 0, blocks: 0 })
    }

    fn order(&mut self, tti: u64, bids: &mut [Bid]) -> Deal {
        let candidates: Vec<Candidate> = bids.iter().map(|bid| bid.candidate).collect();
        if candidates.is_empty() {
            return Deal::EachToHighest;
        }
        let mut weights = vec![Weight::default(); candidates.len()];
        let deal = self.scheduler.weigh(tti, &candidates, &mut weights);
        if let Deal::InTurnFrom(first) = deal {
            bids.rotate_left(first);
            return deal;
        }
        let view = self.scheduler.view();
        let uses_quality = view.quality && !view.rate;
        for (bid, weight) in bids.iter_mut().zip(weights) {
            let Candidate { rate, quality, .. } = bid.candidate;
            bid.score = weight.score(if uses_quality { quality } else { rate as f32 });
        }
        bids.sort_by(|a, b| b.score.total_cmp(&a.score));
        deal
    }
}

/// Informs the downlink if its data wait for the phone to listen.
fn listen(sleepers: Option<&Sleepers>, ctx: &mut Context, user: usize, record: impl FnOnce(&mut Listening)) {
    if sleepers.is_some_and(|sleepers| sleepers.follow(user, record)) {
        ctx.out.push(Output::Listens { user });
    }
}

#[derive(Clone, Copy, Debug)]
struct Room {
    free: BlockSet,
    /// Phones that may still be granted a new block.
    grants: u32,
}

impl Room {
    fn is_used_up(&self) -> bool {
        self.grants == 0 || self.free.is_empty()
    }

    fn take(&mut self, run: Run) {
        self.free = self.free.without(run);
        self.grants -= 1;
    }
}

fn are_disjoint(planned: &[Planned]) -> bool {
    let mut taken = BlockSet::NONE;
    planned.iter().all(|one| {
        let before = taken;
        taken = taken.with(one.run);
        before.without(one.run) == before
    })
}

#[derive(Debug)]
struct Bid {
    candidate: Candidate,
    sounding: Sounding,
    /// As far as the phone's power allows.
    needed: u16,
    /// For a block with room for data.
    least: u16,
    /// The highest one is served first.
    score: f32,
    /// 0 if none are granted.
    octets: u32,
    /// 0 if none are granted.
    blocks: u16,
}

fn sent_block(block: &Block, decoded: bool, is_again: bool) -> SentBlock {
    SentBlock {
        number: block.number,
        units: block.units.clone(),
        size: block.bytes,
        transmission: block.transmissions,
        is_new: block.transmissions == 1,
        failed: !decoded,
        settled: (!is_again).then_some(decoded),
    }
}

/// Fixed, as the uplink is synchronous.
fn process(tti: u64) -> usize {
    (tti % u64::from(PROCESSES)) as usize
}

impl Mac for UplinkMac {
    const PHASE: Phase = Phase::UplinkTti;

    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool {
        let (phone, next) = (&mut self.phones[user], grid.from(ctx.now));
        if let Some(connections) = &self.connections {
            connections.arrive(user, Direction::Up, next);
        }
        let taken = phone.rlc.push(ctx.now, packet, next);
        if !taken {
            phone.tally.packets_dropped += 1;
        }
        self.refresh(ctx, user, next);
        taken
    }

    fn refused(&self, user: usize) -> Cause {
        self.phones[user].rlc.refused()
    }

    fn due(&self, grid: &Grid, now: Time) -> Option<Time> {
        let next = grid.from(now);
        let timer = self.phones.iter().filter_map(|phone| phone.rlc.due()).min();
        let status = self.statuses.front().map(|(at, ..)| *at);
        let is_busy = !self.decided.is_empty()
            || !self.heard.is_empty()
            || self.params.ahead().is_some()
            || self.planned.iter().any(|planned| !planned.is_empty())
            || self.phones.iter().any(|phone| phone.known > 0 || phone.reserved.is_some());
        let ready = self.phones.iter().map(Phone::ready).min().filter(|tti| *tti < u64::MAX);
        let tti = if is_busy { Some(next) } else { ready.map(|tti| tti.max(next)) };
        [tti.map(|tti| grid.beginning(tti)), timer, status].into_iter().flatten().min()
    }

    fn complete(&mut self, ctx: &mut Context, tti: u64) {
        for Decided { user, units, decoded, asked, from } in std::mem::take(&mut self.decided) {
            if !units.is_empty() {
                let rlc = &mut self.phones[user].rlc;
                if ctx.wants(Mask::SERVICE) {
                    for part in rlc.carried(units.clone()) {
                        let Some((sent, passage)) = self.passages.get_mut(&part.packet) else { continue };
                        if decoded {
                            (passage.asked, passage.from, *sent) = (asked, from, ctx.now);
                        } else {
                            passage.is_lost = true;
                        }
                    }
                }
                rlc.receive(ctx.now, units, !decoded);
            }
            self.refresh(ctx, user, tti);
        }
    }

    fn run_timers(&mut self, ctx: &mut Context) {
        let (now, next) = (ctx.now, ctx.now.0.div_ceil(TTI.0));
        while let Some((_, user, number)) = self.statuses.front().copied().filter(|(at, ..)| *at <= now) {
            self.statuses.pop_front();
            self.phones[user].rlc.on_report(number, false);
            self.refresh(ctx, user, next);
        }
        for user in 0..self.phones.len() {
            if self.phones[user].rlc.due().is_some_and(|at| at <= now) {
                self.phones[user].rlc.on_time(now);
                self.refresh(ctx, user, next);
            }
        }
    }

    fn serve(&mut self, ctx: &mut Context, _: &mut Grid, tti: u64) {
        let phones = &mut self.phones;
        self.ends.pass(tti, |user| {
            phones[user].close();
            listen(self.sleepers.as_ref(), ctx, user, |listening| listening.answered(tti));
        });
        self.transmit(ctx, tti);
        self.request(ctx, tti);
        self.hear(tti);
        self.reserve(tti);
        self.grant(ctx, tti);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.phones[user].rlc.backlog()
    }

    fn share(&mut self, shared: &Shared) {
        let Shared { connections, sleepers } = shared.clone();
        (self.connections, self.sleepers) = (connections, sleepers);
    }

    fn tables(&mut self, _: Time) -> Vec<Table> {
        let row = |(user, phone): (usize, &Phone)| UplinkRow { user, tally: phone.tally };
        let uplinks = UPLINKS.table(&self.phones.iter().enumerate().map(row).collect::<Vec<_>>());
        let configured = self.params.configured();
        let configured =
            configured.map(|_| reserved::table(self.phones.iter().map(|phone| phone.reserved_tally)));
        let headroom = self.params.headroom.as_ref();
        let tallies = || self.phones.iter().filter_map(|phone| Some(phone.headroom.as_ref()?.tally));
        let headroom = headroom.map(|_| headroom::table(tallies()));
        let queues = queues::table(Direction::Up, self.phones.iter().map(|phone| phone.rlc.queue_counts()));
        std::iter::once(uplinks).chain(configured).chain(headroom).chain([queues]).collect()
    }
}
