//! MAC of the scheduled uplink: requests, reports, grants and transmissions in TTIs.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use nodeb_base::context::{BlockCounts, Context, Counted};
use nodeb_base::event::{Cause, Direction, Event, Mask, UplinkPassage};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::Time;

use super::super::Lte;
use super::super::channel::{Carrier, Responses};
use super::super::formats::{Format, Formats};
use super::super::layers::Antennas;
use super::super::mcs::McsTable;
use super::super::numbered::emit_numbers;
use super::super::queues;
use super::super::reports::TTI;
use super::super::rrc::connections::Connections;
use super::super::timing::{PROCESSES, UP_BLOCK_AFTER_GRANT, UP_FEEDBACK_AFTER};
use super::headroom;
use super::params::Scheduled;
use super::phone::{Block, Cell, Heard, OVERHEAD, Phone, Sounding};
use super::reserved::{self, Reserved};
use super::runs;
use super::tally::{UPLINKS, UplinkRow};
use crate::cell::doppler::JakesSequence;
use crate::mac::band::{Groups, MAX_GROUPS};
use crate::mac::sched::{Candidate, Deal, Scheduler, Weight};
use crate::rlc::bytes::Outcome;
use crate::tti::Mac;
use crate::tti::grid::Grid;
use crate::{Backlog, UserRadio};

/// Transmission in a coming subframe.
#[derive(Debug)]
struct Planned {
    user: usize,
    groups: Groups,
    work: Work,
}

/// Block of a planned transmission.
#[derive(Debug)]
enum Work {
    /// New block of a format.
    New(Format),
    /// New block of a configured grant, after its first one.
    Reserved(Format),
    /// Block that is retransmitted.
    Again(Block),
}

/// Block that was decoded or given up in the last TTI. The outcome takes effect at the start of the next TTI.
#[derive(Debug)]
struct Decided {
    user: usize,
    units: Range<u64>,
    decoded: bool,
    /// Time of the request or report because of which the base station granted the block. If it granted ahead of data,
    /// the time is four subframes before it assumed data, but at least 0. For a block of a configured grant after its
    /// first one, the time is the start of the block.
    asked: Time,
    /// Start of the block's first transmission.
    from: Time,
}

/// MAC of the uplink of one cell.
#[derive(Debug)]
pub struct UplinkMac {
    lte: Lte,
    params: Scheduled,
    formats: Vec<Formats>,
    sequence: JakesSequence,
    phones: Vec<Phone>,
    /// Groups of resource blocks that PUSCH can use.
    data: Groups,
    scheduler: Box<dyn Scheduler>,
    /// Transmissions of the next subframes, by the index of their HARQ process.
    planned: [Vec<Planned>; PROCESSES as usize],
    /// Information about users that the base station receives, each with the user and with the first subframe in which
    /// it can lead to a grant, in order of these subframes.
    heard: VecDeque<(u64, usize, Heard)>,
    decided: Vec<Decided>,
    /// STATUS PDUs on their way to phones, each with its arrival, user and number, in order of arrival.
    statuses: VecDeque<(Time, usize, u64)>,
    /// Connections of the phones, which the downlink shares; `None` if phones are always connected.
    connections: Option<Connections>,
    /// For each packet of which a part was sent, its passage and the end of the last transmission that was decoded, or
    /// the start of the first transmission while none was. Empty unless a listener subscribes to events of service.
    passages: HashMap<PacketId, (Time, UplinkPassage)>,
}

impl UplinkMac {
    /// Creates a MAC with empty queues for `users`.
    pub fn new(lte: &Lte, params: &Scheduled, users: &[UserRadio], streams: &Streams) -> Self {
        let sequence = if users.iter().any(|user| user.ue.channel.facts().fades) {
            JakesSequence::new(&mut streams.stream("cell", 0, "uplink fading"))
        } else {
            JakesSequence::silent()
        };
        let (numerology, band) = (lte.numerology(), lte.bandwidth.band());
        let cell = lte.cell.uplink(params.noise_dbm());
        let antennas = Antennas::ONE;
        let carrier = Carrier { cell: &cell, band: &band, numerology, antennas, fading: "uplink" };
        let scheduler = params.scheduler.build(users.len(), numerology.tti);
        let mut responses = Responses::default();
        let phone = |user| Phone::new(lte, params, user, carrier, *streams, &mut responses);
        let tables = |mcss| Formats::up(lte.bandwidth, mcss, lte.implementation_loss_db);
        Self {
            phones: users.iter().map(phone).collect(),
            formats: [McsTable::Up16Qam, McsTable::Up].map(tables).into(),
            sequence,
            data: params.data_groups(lte.bandwidth),
            scheduler,
            lte: lte.clone(),
            params: params.clone(),
            planned: Default::default(),
            heard: VecDeque::new(),
            decided: Vec::new(),
            statuses: VecDeque::new(),
            connections: lte.rrc.as_ref().map(|rrc| Connections::new(rrc, users)),
            passages: HashMap::new(),
        }
    }

    /// Sends the base station's STATUS PDU if one is due, and passes on the packets that left a phone's RLC. If the
    /// phone has data that it has not reported, its wait for a grant starts in subframe `tti`, or at the start of its
    /// connection if that is later.
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
            None => phone.want(tti),
            Some(connections) => {
                connections.waits(user, Direction::Up, tti, phone.rlc.backlog().packets > 0);
                phone.want(tti.max(connections.since(user)));
            }
        }
    }

    /// Sends the requests of subframe `tti`.
    fn request(&mut self, tti: u64) {
        for (user, phone) in self.phones.iter_mut().enumerate() {
            if phone.ready() <= tti && phone.request(tti, &self.params) {
                self.heard.push_back((tti + UP_FEEDBACK_AFTER, user, Heard::Request));
            }
        }
    }

    // Clause: TS 36.213, 8.0; TS 36.321, 5.4.2: HARQ timing of the uplink
    // Simplified: no adaptive retransmissions, and answers without errors
    /// Sends the blocks of subframe `tti`. Those that fail are planned again for the same process until their last
    /// transmission.
    fn transmit(&mut self, ctx: &mut Context, tti: u64) {
        let process = process(tti);
        debug_assert!(are_disjoint(&self.planned[process]), "two phones send on one group");
        for Planned { user, groups, work } in std::mem::take(&mut self.planned[process]) {
            let mut block = match work {
                Work::New(format) => self.fill(ctx, tti, user, (groups, format), false),
                Work::Reserved(format) => self.fill(ctx, tti, user, (groups, format), true),
                Work::Again(block) => block,
            };
            let Self { lte, formats, sequence, phones, .. } = self;
            let cell = Cell { lte, formats, sequence };
            let decoded = phones[user].send(tti, groups, &mut block, &cell);
            let blocks = BlockCounts { sent: 1, failed: u64::from(!decoded) };
            if block.transmissions > 1 {
                self.scheduler.served(tti, user, block.bytes);
            }
            ctx.count_ttis(0, user, Counted { blocks, units: u64::from(block.bytes) });
            if !decoded && block.transmissions < self.params.max_transmissions.get() {
                self.planned[process].push(Planned { user, groups, work: Work::Again(block) });
                continue;
            }
            let Block { units, report: octets, headroom, begun, asked, .. } = block;
            let report = Heard::Report { octets, headroom, begun };
            let heard = if decoded { report } else { Heard::Nothing { begun } };
            self.phones[user].tally.given_up += u64::from(!decoded);
            self.heard.push_back((tti + UP_FEEDBACK_AFTER, user, heard));
            self.decided.push(Decided { user, units, decoded, asked, from: Time(begun * TTI.0) });
        }
    }

    /// Fills a new block. Emits the PDCP sequence numbers of the packets that begin in it, and records when a packet in
    /// it is first sent, if listeners subscribe to such events.
    fn fill(
        &mut self,
        ctx: &mut Context,
        tti: u64,
        user: usize,
        (groups, format): (Groups, Format),
        is_reserved: bool,
    ) -> Block {
        let (phone, blocks) = (&mut self.phones[user], self.formats[0].band().blocks_in(groups));
        let next = phone.rlc.next_number();
        let block = phone.fill(tti, format, blocks, is_reserved, &self.params);
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

    /// Updates the base station's state of the phones by the requests and blocks that can lead to a grant from subframe
    /// `tti` on. With grants ahead of data, also makes it assume data at those connected phones whose interval begins
    /// in this subframe.
    fn hear(&mut self, tti: u64) {
        while let Some((_, user, heard)) = self.heard.front().copied().filter(|(at, ..)| *at <= tti) {
            self.heard.pop_front();
            self.phones[user].hear(heard, tti, &self.params);
        }
        if let Some(interval) = self.params.ahead() {
            for (user, phone) in (0u64..).zip(&mut self.phones) {
                let connections = self.connections.as_ref();
                let is_connected = connections.is_none_or(|all| all.is_connected(user as usize, tti));
                if is_connected && tti % interval == user % interval {
                    phone.grant_ahead(self.params.first_grant.0 as u32, tti, true);
                }
            }
        }
    }

    /// Returns the groups of the configured grants that have a block in subframe `at`.
    fn reserved_at(&self, at: u64) -> Groups {
        let due = self.phones.iter().filter_map(|phone| phone.reserved.as_ref()).filter(|one| one.recurs(at));
        due.fold(Groups::NONE, |all, one| all.union(one.groups))
    }

    // Clause: TS 36.321, 5.4.1, 5.10.2: configured grants and retransmissions
    // Simplified: a block of a configured grant for which retransmissions leave no resource blocks is left out
    /// Plans the blocks of configured grants for the subframe four after `tti`. Releases the grants of phones that are
    /// no longer connected. A phone with a retransmission in the planned subframe sends no other block. If other phones
    /// use the groups of a grant there, the base station grants as many other groups instead. If there are none, the
    /// block is left out.
    fn reserve(&mut self, tti: u64) {
        let at = tti + UP_BLOCK_AFTER_GRANT;
        for user in 0..self.phones.len() {
            let connections = self.connections.as_ref();
            if connections.is_some_and(|all| !all.is_connected(user, tti))
                && self.phones[user].reserved.is_some()
            {
                self.phones[user].release(tti);
            }
            let Some(reserved) = self.phones[user].reserved.as_ref().filter(|one| one.recurs(at)) else {
                continue;
            };
            let planned = &self.planned[process(at)];
            if planned.iter().any(|other| other.user == user) {
                continue;
            }
            let free = planned.iter().fold(self.data, |free, other| free.without(other.groups));
            let (own, format, band) = (reserved.groups, reserved.format, self.formats[0].band());
            let groups = if own.without(free).is_empty() { own } else { runs::find(band, free, own.len()) };
            if band.blocks_in(groups) == band.blocks_in(own) {
                self.phones[user].grant(at, format.bits / 8);
                self.planned[process(at)].push(Planned { user, groups, work: Work::Reserved(format) });
            }
        }
    }

    /// Gives a phone that is granted a block in subframe `at` a configured grant on the same groups. Has an
    /// effect only if the phone has no such grant yet, has requested the block, and gets as many groups as
    /// the requested data need. Blocks of configured grants take at most half of the groups of a subframe.
    fn configure(&mut self, at: u64, bid: &Bid, groups: Groups, format: Format) {
        let Some(configured) = self.params.configured() else { return };
        let (taken, user) = (self.reserved_at(at), bid.candidate.user);
        let fits = groups.len() >= bid.needed
            && 2 * (taken.len() + groups.len()) <= self.data.len()
            && groups.intersection(taken).is_empty();
        let phone = &mut self.phones[user];
        if fits && phone.is_requested && phone.reserved.is_none() {
            phone.configure(Reserved::new(configured, at, groups, format));
        }
    }

    // Clause: TS 36.321, 5.4.1: grants
    // Simplified: grants are received without errors
    /// Grants new blocks in the subframe four after `tti`, on the resource blocks that retransmissions and configured
    /// grants leave free. A phone that already sends a block in that subframe gets none.
    fn grant(&mut self, tti: u64) {
        let at = tti + UP_BLOCK_AFTER_GRANT;
        let planned = &self.planned[process(at)];
        let mut free = planned.iter().fold(self.data, |free, again| free.without(again.groups));
        let is_busy = |user: usize| planned.iter().any(|again| again.user == user);
        let known = (0..self.phones.len()).filter(|user| self.phones[*user].known > 0 && !is_busy(*user));
        let known: Vec<usize> = known.collect();
        if known.is_empty() || free.is_empty() {
            return;
        }
        let mut bids: Vec<Bid> = known.into_iter().filter_map(|user| self.bid(at, user)).collect();
        let share = self.order(tti, &mut bids, free.len());
        let mut grants = self.params.users_per_tti.get();
        for bid in bids {
            if grants == 0 || free.is_empty() {
                break;
            }
            // A phone whose power allows no block with data must not use up one of the grants.
            let Some((groups, format)) = self.allot(at, &bid, free, share) else { continue };
            grants -= 1;
            let user = bid.candidate.user;
            self.configure(at, &bid, groups, format);
            self.phones[user].grant(at, format.bits / 8);
            free = free.without(groups);
            self.scheduler.served(tti, user, format.bits / 8);
            self.planned[process(at)].push(Planned { user, groups, work: Work::New(format) });
        }
    }

    /// Returns the run of free groups and the format of a phone's block in subframe `at`. The run has as many groups as
    /// the phone's data need, at most `share` and within its power. If the block has no room for data beside its
    /// headers, the run is longer, up to the limit of the phone's power. Returns `None` if no such block has room.
    fn allot(&self, at: u64, bid: &Bid, free: Groups, share: usize) -> Option<(Groups, Format)> {
        let Self { lte, formats, sequence, phones, .. } = self;
        let (cell, phone) = (Cell { lte, formats, sequence }, &phones[bid.candidate.user]);
        let Sounding { row, most, .. } = &bid.sounding;
        let run = |count: usize| {
            let groups = runs::find(cell.formats[0].band(), free, count);
            let format = (!groups.is_empty()).then(|| phone.select(at, groups, row, &cell))??;
            Some((groups, format))
        };
        let has_room = |(_, format): &(Groups, Format)| format.bits / 8 > OVERHEAD;
        let [least, most] = [bid.needed.min(share), *most].map(|count| count.min(free.len()));
        (least.max(1)..=most).filter_map(run).find(has_room)
    }

    /// Returns a phone's bid for a block in subframe `at`. The bid's rate is the size of a block on the lowest data
    /// groups, as many as the base station may grant by the phone's power. Returns `None` if even the smallest block on
    /// these groups is too large for the phone's category.
    fn bid(&mut self, at: u64, user: usize) -> Option<Bid> {
        let Self { lte, formats, sequence, phones, data, .. } = self;
        let (cell, phone) = (Cell { lte, formats, sequence }, &mut phones[user]);
        let sounding = phone.measure(at - UP_BLOCK_AFTER_GRANT, &cell);
        let all: Groups = data.into_iter().take(sounding.groups).collect();
        let rate = phone.select(at, all, &sounding.row, &cell)?.bits / 8;
        let mean = all.into_iter().map(|group| sounding.row[group]).sum::<f32>() / all.len() as f32;
        let deadline = phone.known_since + phone.delay_budget;
        let candidate = Candidate { user, rate, quality: 10.0 * libm::log10f(mean), deadline };
        let octets_per_group = rate as f32 / all.len() as f32;
        let needed = (phone.wanted_octets() as f32 / octets_per_group).ceil() as usize;
        let needed = needed.clamp(1, sounding.groups);
        Some(Bid { candidate, sounding, needed, score: 0.0, is_ahead: phone.is_ahead })
    }

    /// Sorts bids in the order of the scheduler. Returns the largest number of groups that one phone may have of the
    /// `free` ones.
    fn order(&mut self, tti: u64, bids: &mut [Bid], free: usize) -> usize {
        let candidates: Vec<Candidate> = bids.iter().map(|bid| bid.candidate).collect();
        if candidates.is_empty() {
            return free;
        }
        let mut weights = vec![Weight::default(); candidates.len()];
        let deal = self.scheduler.weigh(tti, &candidates, &mut weights);
        let view = self.scheduler.view();
        let uses_quality = view.quality && !view.rate;
        for (bid, weight) in bids.iter_mut().zip(weights) {
            let Candidate { rate, quality, .. } = bid.candidate;
            bid.score = match deal {
                Deal::EachToHighest => weight.score(if uses_quality { quality } else { rate as f32 }),
                Deal::FirstShareEvenly => weight.offset,
            };
        }
        // Grants ahead come last, because their blocks may have only padding.
        bids.sort_by(|a, b| a.is_ahead.cmp(&b.is_ahead).then(b.score.total_cmp(&a.score)));
        let served = bids.iter().take(self.params.users_per_tti.get() as usize);
        let needs: Vec<usize> = served.map(|bid| bid.needed).collect();
        if deal == Deal::FirstShareEvenly { even_share(&needs, free) } else { free }
    }
}

/// Returns the number of groups that each phone may have at most, so that phones share `free` groups evenly: the phones
/// that need less leave the rest to the others.
fn even_share(needs: &[usize], free: usize) -> usize {
    let used = |share: usize| needs.iter().map(|need| share.min(*need)).sum::<usize>();
    (1..free).find(|share| used(*share) >= free).unwrap_or(free)
}

/// Returns true if no two transmissions of a subframe have a group in common.
fn are_disjoint(planned: &[Planned]) -> bool {
    let mut free = Groups::first(MAX_GROUPS);
    planned.iter().all(|one| {
        let is_free = one.groups.without(free).is_empty();
        free = free.without(one.groups);
        is_free
    })
}

/// Phone that could be granted a block.
#[derive(Debug)]
struct Bid {
    candidate: Candidate,
    sounding: Sounding,
    /// Number of groups that the phone needs for its data, as far as its power allows.
    needed: usize,
    /// Score by the scheduler's weights; the highest one is served first.
    score: f32,
    /// Whether the grant would be one ahead of data, without a request or report.
    is_ahead: bool,
}

/// Returns the index of the HARQ process of subframe `tti`, which is fixed as the uplink is synchronous.
fn process(tti: u64) -> usize {
    (tti % u64::from(PROCESSES)) as usize
}

impl Mac for UplinkMac {
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
        self.transmit(ctx, tti);
        self.request(tti);
        self.hear(tti);
        self.reserve(tti);
        self.grant(tti);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.phones[user].rlc.backlog()
    }

    fn share(&mut self, connections: &Connections) {
        self.connections = Some(connections.clone());
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
