mod allocation;
mod transmission;

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use nodeb_air::cell::channel::ends::Ends;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::mac::allocation::balance::Balance;
use nodeb_air::mac::band::Run;
use nodeb_air::mac::harq::block::Rules;
use nodeb_air::mac::multiplexing::StatusNumber;
use nodeb_air::mac::sched::Scheduler;
use nodeb_air::rlc::lte::Outcome;
use nodeb_air::tti::Mac;
use nodeb_air::tti::grid::Grid;
use nodeb_air::{Backlog, UserRadio};
use nodeb_base::context::{Context, Output};
use nodeb_base::engine::Phase;
use nodeb_base::event::{Cause, Direction, Event, Mask, UplinkPassage};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};

use super::configured;
use super::headroom;
use super::runs::BlockSet;
use super::tally::{UPLINKS, UplinkRow};
use super::ue::{Block, Ue};
use super::ue_context::{UeContext, UlReport};
use super::{UplinkRules, UplinkSetup, UplinkUser};
use crate::ofdma::channel::{Carrier, Responses};
use crate::ofdma::drx::Listening;
use crate::ofdma::drx::states::DrxStates;
use crate::ofdma::layers::Antennas;
use crate::ofdma::queues;
use crate::ofdma::rrc::Connections;
use crate::ofdma::shared::Shared;
use crate::ofdma::standard::{Format, Standard};

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
    Configured(Format),
    Again(Block),
}

/// Decoded or given up; takes effect at the start of the next TTI.
#[derive(Debug)]
struct Decided {
    user: usize,
    units: Range<u64>,
    decoded: bool,
    /// Time of the request or report that led to the grant; ahead of data, `UP_FEEDBACK_AFTER` TTIs before data
    /// were assumed, at least 0; for later blocks of a configured grant, the start of the block.
    requested_at: Time,
    /// Start of the first transmission.
    from: Time,
}

#[derive(Debug)]
pub struct UplinkMac<S> {
    rules: UplinkRules,
    harq: Rules,
    status_delay: Duration,
    formats: Vec<S>,
    sequence: JakesSequence,
    ues: Vec<Ue>,
    contexts: Vec<UeContext>,
    ends: Ends,
    /// For PUSCH.
    data: BlockSet,
    scheduler: Box<dyn Scheduler>,
    /// Beyond even shares, if the scheduler shares evenly.
    balance: Balance,
    /// By the index of their HARQ process.
    planned: Vec<Vec<Planned>>,
    /// In order of the first TTI in which it can lead to a grant.
    reports: VecDeque<(u64, usize, UlReport)>,
    decided: Vec<Decided>,
    /// With arrival and user, in order of arrival.
    statuses: VecDeque<(Time, usize, StatusNumber)>,
    /// Shared with the downlink; `None` if phones are always connected.
    connections: Option<Connections>,
    /// Shared with the downlink; `None` if phones always listen.
    drx: Option<DrxStates>,
    /// With the end of the last decoded transmission, or the start of the first while none was; empty unless
    /// a listener subscribes to events of service.
    passages: HashMap<PacketId, (Time, UplinkPassage)>,
}

impl<S: Standard> UplinkMac<S> {
    pub fn new(setup: UplinkSetup<S>, users: &[UserRadio], streams: &Streams) -> Self {
        let sequence = if users.iter().any(|user| user.ue.channel.facts().fades) {
            JakesSequence::new(&mut streams.stream("cell", 0, "uplink fading"))
        } else {
            JakesSequence::silent()
        };
        let UplinkSetup { numerology, cell, formats, rules, .. } = setup;
        let (antennas, band) = (Antennas::ONE, formats[0].band());
        let carrier = Carrier { cell: &cell, band, numerology, antennas, steps: None, fading: "uplink" };
        let mut responses = Responses::default();
        let of_users = users.iter().zip(&setup.users);
        let contexts = of_users.map(|(user, setup)| UeContext::new(setup, &rules, user, streams)).collect();
        let ue = |(user, setup): (&UserRadio, UplinkUser)| {
            let carrier = Carrier { steps: setup.steps, ..carrier };
            Ue::new(setup, &rules, user, carrier, *streams, &mut responses)
        };
        let ues: Vec<Ue> = users.iter().zip(setup.users).map(ue).collect();
        let Shared { connections, drx } = setup.shared;
        Self {
            ends: Ends::new(ues.iter().map(Ue::ends)),
            ues,
            contexts,
            formats,
            sequence,
            data: setup.data,
            scheduler: rules.scheduler.build(users.len(), S::TTI),
            balance: Balance::default(),
            rules,
            harq: setup.harq,
            status_delay: setup.status_delay,
            planned: std::iter::repeat_with(Vec::new).take(usize::from(S::UP_PROCESSES)).collect(),
            reports: VecDeque::new(),
            decided: Vec::new(),
            statuses: VecDeque::new(),
            connections,
            drx,
            passages: HashMap::new(),
        }
    }

    /// Sends a due STATUS PDU and passes on packets. Unreported data wait for a grant from `tti`, or the
    /// start of the connection if later.
    fn refresh(&mut self, ctx: &mut Context, user: usize, tti: u64) {
        let (ue, context) = (&mut self.ues[user], &mut self.contexts[user]);
        let now = ctx.now;
        let at = now + self.status_delay;
        ue.bearers.attend(now, |status| self.statuses.push_back((at, user, status)));
        for outcome in ue.bearers.outcomes() {
            match outcome {
                Outcome::Delivered { packet, .. } => {
                    context.tally.bytes_delivered += u64::from(packet.size);
                    if let Some((sent, passage)) = self.passages.remove(&packet.id) {
                        let (phone, packet) = (ctx.place_of(user).index, packet.id);
                        ctx.sink.emit(sent, Event::Granted { phone, packet, passage });
                    }
                    ctx.deliver(user, packet);
                }
                Outcome::Lost { packet, cause } => {
                    ue.tally.packets_dropped += 1;
                    self.passages.remove(&packet.id);
                    ctx.lose(user, packet, cause);
                }
            }
        }
        let is_masked = context.masks_requests();
        match &self.connections {
            _ if self.ends.precede(user, tti) => {}
            None => ue.await_grant(tti, is_masked),
            Some(connections) => {
                connections.waits(user, Direction::Up, tti, ue.bearers.backlog().packets > 0);
                ue.await_grant(tti.max(connections.since(user)), is_masked);
            }
        }
    }
}

/// Informs the downlink if its data wait for the phone to listen.
fn listen(drx: Option<&DrxStates>, ctx: &mut Context, user: usize, record: impl FnOnce(&mut Listening)) {
    if drx.is_some_and(|drx| drx.follow(user, record)) {
        ctx.out.push(Output::Listens { user });
    }
}

/// Fixed, as the uplink is synchronous.
fn process<S: Standard>(tti: u64) -> usize {
    (tti % u64::from(S::UP_PROCESSES)) as usize
}

impl<S: Standard> Mac for UplinkMac<S> {
    const PHASE: Phase = Phase::UplinkTti;

    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool {
        let (ue, next) = (&mut self.ues[user], grid.from(ctx.now));
        if let Some(connections) = &self.connections {
            connections.arrive(user, Direction::Up, next);
        }
        let taken = ue.bearers.push(ctx.now, packet, next);
        if !taken {
            ue.tally.packets_dropped += 1;
        }
        self.refresh(ctx, user, next);
        taken
    }

    fn refused(&self, user: usize) -> Cause {
        self.ues[user].bearers.refused()
    }

    fn due(&self, grid: &Grid, now: Time) -> Option<Time> {
        let next = grid.from(now);
        let timer = self.ues.iter().filter_map(|ue| ue.bearers.due()).min();
        let status = self.statuses.front().map(|(at, ..)| *at);
        let is_busy = !self.decided.is_empty()
            || !self.reports.is_empty()
            || self.rules.ahead.is_some()
            || self.planned.iter().any(|planned| !planned.is_empty())
            || self
                .contexts
                .iter()
                .any(|context| context.estimated_buffer() > 0 || context.configured.is_some());
        let ready = self.ues.iter().map(|ue| ue.requests.ready()).min().filter(|tti| *tti < u64::MAX);
        let tti = if is_busy { Some(next) } else { ready.map(|tti| tti.max(next)) };
        [tti.map(|tti| grid.beginning(tti)), timer, status].into_iter().flatten().min()
    }

    fn complete(&mut self, ctx: &mut Context, tti: u64) {
        for Decided { user, units, decoded, requested_at, from } in std::mem::take(&mut self.decided) {
            if !units.is_empty() {
                let bearers = &mut self.ues[user].bearers;
                if ctx.wants(Mask::SERVICE) {
                    for part in bearers.carried(units.clone()) {
                        let Some((sent, passage)) = self.passages.get_mut(&part.packet) else { continue };
                        if decoded {
                            (passage.requested, passage.from, *sent) = (requested_at, from, ctx.now);
                        } else {
                            passage.is_lost = true;
                        }
                    }
                }
                bearers.receive(ctx.now, units, !decoded);
            }
            self.refresh(ctx, user, tti);
        }
    }

    fn run_timers(&mut self, ctx: &mut Context) {
        let (now, next) = (ctx.now, ctx.now.0.div_ceil(S::TTI.0));
        while let Some((_, user, status)) = self.statuses.front().copied().filter(|(at, ..)| *at <= now) {
            self.statuses.pop_front();
            self.ues[user].bearers.on_status(status);
            self.refresh(ctx, user, next);
        }
        for user in 0..self.ues.len() {
            if self.ues[user].bearers.due().is_some_and(|at| at <= now) {
                self.ues[user].bearers.on_time(now);
                self.refresh(ctx, user, next);
            }
        }
    }

    fn serve(&mut self, ctx: &mut Context, _: &mut Grid, tti: u64) {
        let (ues, contexts) = (&mut self.ues, &mut self.contexts);
        self.ends.pass(tti, |user| {
            ues[user].requests.close();
            contexts[user].close();
            listen(self.drx.as_ref(), ctx, user, |listening| listening.answered(tti));
        });
        self.transmit(ctx, tti);
        self.request(ctx, tti);
        self.receive_reports(tti);
        self.grant_configured(tti);
        self.grant(ctx, tti);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.ues[user].bearers.backlog()
    }

    fn tables(&mut self, _: Time) -> Vec<Table> {
        let row = |(user, (ue, context)): (usize, (&Ue, &UeContext))| UplinkRow {
            user,
            tti: S::TTI,
            requests: ue.requests.tally,
            ue: ue.tally,
            context: context.tally,
        };
        let rows = self.ues.iter().zip(&self.contexts).enumerate().map(row);
        let uplinks = UPLINKS.table(&rows.collect::<Vec<_>>());
        let configured = self.rules.configured;
        let grants = || self.contexts.iter().map(|context| context.configured_tally);
        let configured = configured.map(|_| configured::table(grants()));
        let headroom = self.rules.headroom;
        let tallies = || self.ues.iter().filter_map(|ue| Some(ue.headroom.as_ref()?.tally));
        let headroom = headroom.map(|_| headroom::table(tallies()));
        let queues = queues::table(Direction::Up, self.ues.iter().map(|ue| ue.bearers.queue_counts()));
        std::iter::once(uplinks).chain(configured).chain(headroom).chain([queues]).collect()
    }
}
