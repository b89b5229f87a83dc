mod handover;
mod serving;

use nodeb_base::context::{Context, Sent};
use nodeb_base::event::{Cause, Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::Time;

use super::Hsdpa;
use super::iub::{FlowControl, Frame};
use super::meter::Meter;
use super::node_b::NodeBs;
use super::node_b::candidates::Candidates;
use super::node_b::grant::Grant;
use super::node_b::user::User;
use nodeb_air::cell::handover::control::HandoverControl;
use nodeb_air::cell::tally::{PHONES, PhoneRow, Tally};
use nodeb_air::mac::harq::block::Decided;
use nodeb_air::mac::sched::{Scheduler, View};
use nodeb_air::rlc::umts::Fate;
use nodeb_air::tti::Mac;
use nodeb_air::tti::grid::Grid;
use nodeb_air::{Backlog, BandwidthMeter, UserRadio};

#[derive(Debug)]
pub struct HsdpaMac {
    pub(super) node_bs: NodeBs,
    /// In the order of the cells.
    schedulers: Vec<Box<dyn Scheduler>>,
    view: View,
    /// Some link adaptation depends on ACKs and NACKs.
    learns: bool,
    flow_control: Option<FlowControl>,
    /// Blocks of the last TTI whose outcomes are final.
    decided: Vec<Decided>,
    /// `None` without handover or if no user moves.
    handover: Option<Box<HandoverControl>>,
    /// Users for whom T1 runs.
    timers: Vec<usize>,
    candidates: Candidates,
    meters: Vec<Meter>,
}

impl HsdpaMac {
    pub fn new(params: &Hsdpa, users: &[UserRadio], streams: &Streams) -> Self {
        let numerology = params.numerology();
        let mut node_bs = NodeBs::new(params, users, *streams);
        let scheduler = |_| params.scheduler.build(users.len(), numerology.tti);
        let schedulers: Vec<_> = (0..params.served()).map(scheduler).collect();
        let flow_control = |iub| FlowControl::new(iub, params.payload(), users.len(), numerology);
        let moves = |state: &mut User| state.mobility.moves(&mut state.channel);
        let users_and_states = node_bs.users.iter_mut().enumerate();
        let moving = users_and_states.filter_map(|(user, state)| moves(state).then_some(user)).collect();
        let handover = params.handover.as_ref();
        let handover = handover.and_then(|handover| HandoverControl::new(handover, moving, numerology));
        Self {
            view: schedulers[0].view(),
            learns: node_bs.users.iter().any(|user| user.adapter.learns()),
            schedulers,
            flow_control: params.iub.as_ref().map(flow_control),
            node_bs,
            handover: handover.map(Box::new),
            decided: Vec::new(),
            timers: Vec::new(),
            candidates: Candidates::default(),
            meters: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn replace_scheduler(&mut self, by: impl Fn(Box<dyn Scheduler>) -> Box<dyn Scheduler>) {
        let cell = self.schedulers.remove(0);
        self.schedulers.insert(0, by(cell));
    }

    fn receive_frames(&mut self, now: Time) {
        if let Some(control) = &mut self.flow_control {
            control.run(now, &mut self.node_bs);
        }
    }

    fn emit_frames(&mut self, ctx: &mut Context) {
        let Some(control) = self.flow_control.as_mut().filter(|_| ctx.wants(Mask::SERVICE)) else {
            return;
        };
        let bearer = ctx.place.index;
        for (at, Frame { user, units, arrives }) in control.recorded.get_or_insert_default().drain(..) {
            ctx.sink.emit(at, Event::Frame { bearer, user: user as u32, units, arrives });
        }
    }

    /// Without an Iub, only refreshes the user's cached state.
    fn update_from_rnc(&mut self, now: Time, user: usize) {
        match &mut self.flow_control {
            Some(control) => control.forward(now, user, &mut self.node_bs),
            None => self.node_bs.selection.refresh_queue(user, &self.node_bs.users[user]),
        }
    }

    fn receive_blocks(&mut self, ctx: &mut Context, tti: u64) {
        let Self { decided, node_bs: NodeBs { users, selection, .. }, timers, .. } = self;
        let now = ctx.now;
        for Decided { user, number, units, decoded } in decided.drain(..) {
            let User { packets, reordering, tally, .. } = &mut users[user];
            let mut decide = |fate| decide(user, fate, tally, ctx);
            if decoded {
                let had_timer = reordering.timer().is_some();
                let leave = |units| packets.on_outcome(now, units, false, &mut decide);
                if !reordering.receive(tti, number, units.clone(), leave) {
                    // The reordering queue has given this block up, so the units of the block are
                    // lost although it was decoded.
                    packets.on_outcome(now, units, true, &mut decide);
                }
                if !had_timer && reordering.timer().is_some() {
                    timers.push(user);
                }
            } else {
                packets.on_outcome(now, units, true, decide);
            }
            selection.forget_if_changed(user, &users[user]);
        }
        timers.retain(|&user| {
            let User { packets, reordering, tally, .. } = &mut users[user];
            let mut decide = |fate| decide(user, fate, tally, ctx);
            reordering.expire(tti, |units| packets.on_outcome(now, units, false, &mut decide));
            let runs = reordering.timer().is_some();
            selection.forget_if_changed(user, &users[user]);
            runs
        });
    }

    /// Payload units sent, 0 if there was nothing.
    fn send(&mut self, ctx: &mut Context, tti: u64, user: usize, grant: Grant, sharers: u32) -> u32 {
        let NodeBs { params, users, selection, sequence, rules } = &mut self.node_bs;
        let state = &mut users[user];
        let sent = state.send(tti, grant, sharers.max(1), params.answer_at(tti), rules, sequence);
        selection.refresh_sent(user, state, tti, grant.offer.is_some());
        let Some(sent) = sent else {
            return 0;
        };
        let units = sent.size;
        if let Some(control) = self.flow_control.as_mut().filter(|_| sent.is_new) {
            control.sent(user, u64::from(units));
        }
        if ctx.wants(Mask::BLOCKS) {
            sent.emit(ctx, user, |units| state.packets.carried(units));
        }
        if sent.settled == Some(false) {
            state.tally.gave_up();
        }
        let failed = u32::from(sent.failed);
        self.decided.extend(sent.decided(user));
        let quality = if state.adapter.has_cqis() { grant.quality as u32 } else { 0 };
        ctx.blocks(ctx.now, user, quality, Sent { blocks: 1, failed, units });
        units
    }

    pub(super) fn phones(&mut self, now: Time) -> Vec<PhoneRow> {
        let mut rows = Vec::with_capacity(self.node_bs.users.len());
        for user in 0..self.node_bs.users.len() {
            let available = self.available_bytes(now, user);
            let available_bps = available.map_or(f64::NAN, |bytes| bytes * 8.0 / now.as_secs());
            let state = &mut self.node_bs.users[user];
            let place = state.channel.place(now.0 / self.node_bs.params.numerology().tti.0);
            rows.push(state.tally.row(user, place, available_bps));
        }
        rows
    }
}

fn decide(user: usize, fate: Fate, tally: &mut Tally, ctx: &mut Context) {
    match fate {
        Fate::Arrived(packet) => tally.deliver(ctx, user, packet),
        Fate::Lost(packet) => tally.lose(ctx, user, packet, Cause::RadioLoss),
    }
}

impl Mac for HsdpaMac {
    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool {
        let now = ctx.now;
        self.emit_frames(ctx);
        // Events up to now must not depend on this packet, so they are processed first: comparisons
        // of Node Bs, and frames and credits that have arrived over the Iub.
        self.follow_users(ctx, grid);
        self.wake_up(ctx, grid);
        self.receive_frames(now);
        let User { packets, tally, .. } = &mut self.node_bs.users[user];
        let taken = packets.push(now, packet, grid.from(now));
        if taken {
            self.update_from_rnc(now, user);
        } else {
            tally.dropped();
        }
        self.emit_frames(ctx);
        taken
    }

    fn due(&self, grid: &Grid, now: Time) -> Option<Time> {
        let next = grid.from(now);
        let has_timers = self.node_bs.params.rlc.has_timers();
        let rlc =
            self.node_bs.users.iter().take_while(|_| has_timers).filter_map(|user| user.packets.due()).min();
        if !self.decided.is_empty() {
            // The next TTI must be simulated to deliver the blocks sent in the last TTI. The next
            // TTI also adds the frames that have arrived over the Iub, so their arrivals need no
            // event.
            return Some(grid.beginning(next)).into_iter().chain(rlc).min();
        }
        let ready = self.node_bs.selection.first();
        let timers = self.timers.iter().filter_map(|user| self.node_bs.users[*user].reordering.timer());
        // With a bandwidth meter, each comparison of Node Bs is made at the time at which it is
        // due. Without a meter, comparisons that are due in idle times are deferred.
        let needs_all = !self.meters.is_empty();
        let compares = self.handover.as_ref().and_then(|handover| handover.next(needs_all));
        let tti = ready.into_iter().chain(timers).chain(compares).min();
        let on_air = tti.map(|tti| grid.beginning(tti.max(next)));
        let on_iub = self.flow_control.as_ref().and_then(|control| control.next(next));
        [on_air, on_iub, rlc].into_iter().flatten().min()
    }

    fn catch_up(&mut self, ctx: &mut Context, _: &Grid) {
        self.receive_frames(ctx.now);
        self.emit_frames(ctx);
    }

    fn apply_deferred(&mut self, ctx: &mut Context, grid: &Grid) {
        self.follow_users(ctx, grid);
        self.pass_idle(grid.from(ctx.now));
        for meter in &mut self.meters {
            meter.emit_records(ctx);
        }
    }

    fn complete(&mut self, ctx: &mut Context, tti: u64) {
        self.receive_blocks(ctx, tti);
        self.change_cells(ctx, tti);
    }

    /// Also records the start of an idle time.
    fn run_timers(&mut self, ctx: &mut Context) {
        let now = ctx.now;
        let timed = if self.node_bs.params.rlc.has_timers() { self.node_bs.users.len() } else { 0 };
        for user in 0..timed {
            let User { packets, tally, .. } = &mut self.node_bs.users[user];
            if packets.due().is_some_and(|at| at <= now) {
                packets.on_time(now, |fate| decide(user, fate, tally, ctx));
                self.update_from_rnc(now, user);
            }
        }
        if let Some(mut control) = self.handover.take() {
            control.record_idle(self, now);
            self.handover = Some(control);
        }
        self.emit_frames(ctx);
    }

    fn serve(&mut self, ctx: &mut Context, _: &mut Grid, tti: u64) {
        if let Some(control) = &mut self.flow_control {
            control.allocate(tti, ctx.now);
        }
        self.serve_cells(ctx, tti);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.node_bs.users[user].packets.backlog()
    }

    fn cqi(&mut self, ctx: &mut Context, grid: &Grid, user: usize) -> Option<f32> {
        if !self.node_bs.users[user].adapter.has_cqis() {
            return None;
        }
        // The CQI depends on the channel in this TTI, and channels must be evaluated in order of
        // time, so all deferred updates are made first.
        self.apply_deferred(ctx, grid);
        let NodeBs { users, sequence, params, .. } = &mut self.node_bs;
        Some(users[user].quality(ctx.now.0 / params.numerology().tti.0, sequence))
    }

    fn tables(&mut self, now: Time) -> Vec<Table> {
        vec![PHONES.table(&self.phones(now))]
    }

    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        Some(self)
    }
}

impl BandwidthMeter for HsdpaMac {
    fn measure(&mut self, user: usize) {
        if self.meters.iter().all(|meter| meter.user != user) {
            self.meters.push(Meter::new(&self.node_bs.params, user, self.node_bs.users.len()));
        }
    }

    fn record(&mut self) {
        (0..self.node_bs.users.len()).for_each(|user| self.measure(user));
        self.meters.iter_mut().for_each(Meter::keep_records);
    }

    fn available_bytes(&mut self, now: Time, user: usize) -> Option<f64> {
        self.pass_idle(self.node_bs.params.numerology().first_from(now));
        self.meters.iter().find(|meter| meter.user == user).map(|meter| meter.bytes)
    }
}
