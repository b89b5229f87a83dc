//! A packet in transmission is completed even if its user starts to switch. Not modelled: block errors and
//! RLC retransmissions, TTIs (a packet of `size` bytes takes the time 8 `size` / rate), processing and
//! propagation delays, switching of uplink channels, and the signalling on the FACH for the switches.

use nodeb_base::context::Context;
use nodeb_base::engine::Instant;
use nodeb_base::event::{Cause, Event as Emitted, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Rate, Time};

use super::cell::{Cell, Pending, Rrc};
use super::fach::{Fach, air_time};
use super::params::FachDch;
use super::policy::{Event, SwitchingPolicy};
use super::state::{ChannelUse, PhonePower, State};
use nodeb_air::{Backlog, Hop};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelRow {
    user: usize,
    pub(super) usage: ChannelUse,
    pub(super) energy_j: f64,
}

impl ChannelRow {
    fn seconds(&self, state: State) -> f64 {
        self.usage.time(state).as_secs()
    }
}

table! {
    /// One row per user on `fach_dch`: switches, time in each state, and energy of the phone's radio. A
    /// dedicated channel is held while it is set up, used and released.
    pub(crate) static CHANNELS: "channels" of ChannelRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Number of switches from the FACH to a dedicated channel that were started.
        "set_ups" [""] U64 = |row| row.usage.set_ups;
        /// Number of switches from a dedicated channel back to the FACH that were started.
        "releases" [""] U64 = |row| row.usage.releases;
        /// Number of times that the phone was paged because a packet arrived for it.
        "pagings" [""] U64 = |row| row.usage.pagings;
        /// Time that the phone spent on the paging channel.
        "pch_s" ["s"] F64 = |row| row.seconds(State::Pch);
        /// Time that the phone spent in switches from the paging channel to the FACH.
        "paging_s" ["s"] F64 = |row| row.seconds(State::Paging);
        /// Time that the phone spent on the FACH.
        "fach_s" ["s"] F64 = |row| row.seconds(State::Fach);
        /// Time that the phone spent in switches from the FACH to a dedicated channel. During these
        /// switches it already holds the channel.
        "setting_up_s" ["s"] F64 = |row| row.seconds(State::SettingUp);
        /// Time that the phone spent on a dedicated channel.
        "dch_s" ["s"] F64 = |row| row.seconds(State::Dch);
        /// Time that the phone spent in switches back to the FACH; the dedicated channel becomes
        /// free at the end.
        "releasing_s" ["s"] F64 = |row| row.seconds(State::Releasing);
        /// Energy used by the phone's radio: the sum over all states of time times power.
        "energy_j" ["J"] F64 = |row| row.energy_j;
    }
}

/// One FACH and a pool of dedicated channels.
#[derive(Debug)]
pub struct SwitchedBearer {
    cell: Cell,
    fach: Fach,
    dch_rate: Rate,
    buffer: usize,
    power: PhonePower,
    policy: Box<dyn SwitchingPolicy>,
}

impl SwitchedBearer {
    /// All users are on the FACH.
    pub fn new(params: &FachDch, users: usize, streams: &Streams) -> Self {
        Self {
            cell: Cell::new(params, users, streams),
            fach: Fach::new(
                params,
                (streams.indexed("fach", 0, "first user").bits(0) % users.max(1) as u64) as usize,
            ),
            dch_rate: params.dch_rate,
            buffer: params.buffer.get() as usize,
            power: params.power.clone(),
            policy: params.policy.build(users),
        }
    }

    /// From time zero to `now`.
    pub(super) fn channels(&self, now: Time) -> Vec<ChannelRow> {
        let row = |(user, usage)| ChannelRow { user, usage, energy_j: usage.energy_j(&self.power) };
        self.cell.usage(now).into_iter().enumerate().map(row).collect()
    }

    pub fn state(&self, user: usize) -> State {
        self.cell.state(user)
    }

    /// Then sets up free channels for waiting users, as long as there are both.
    fn notify(&mut self, ctx: &mut Context, user: usize, event: Event) {
        let Self { cell, policy, .. } = self;
        let (now, bearer) = (ctx.now, ctx.place.index);
        policy.react(event, user, &mut Rrc::new(now, cell));
        while cell.can_set_up() {
            let position = policy.pick(&Rrc::new(now, cell));
            let next = cell.set_up(now, position);
            policy.react(Event::Switched, next, &mut Rrc::new(now, cell));
        }
        if cell.has_entered() {
            for (user, state) in cell.take_entered() {
                ctx.emit(Emitted::State { bearer, user: user as u32, state: state as u8 });
            }
        }
    }

    /// On the FACH, whatever it sends next: signalling, or a packet of any user.
    fn serve(&mut self, ctx: &mut Context, user: usize) {
        match self.cell.state(user) {
            State::Fach => self.serve_fach(ctx),
            State::Dch if self.cell.is_ready(user) => {
                let end = ctx.now + air_time(self.cell.begin_packet(user), self.dch_rate);
                self.cell.set_pending(Pending::Dch(user), end);
                self.emit_service(ctx, user, end, 1 + user as u32);
            }
            _ => {}
        }
    }

    fn serve_fach(&mut self, ctx: &mut Context) {
        if let Some(at) = self.fach.serve(ctx.now, &mut self.cell) {
            self.cell.set_pending(Pending::Fach, at);
            if let Some((user, end)) = self.fach.on_air() {
                self.emit_service(ctx, user, end, 0);
            }
        }
    }

    /// From now until `end`.
    #[inline]
    fn emit_service(&self, ctx: &mut Context, user: usize, end: Time, channel: u32) {
        if ctx.wants(Mask::SERVICE)
            && let Some(packet) = self.cell.first_packet(user)
        {
            let (place, from) = (ctx.place, ctx.now);
            ctx.emit(Emitted::Served { place, channel, packet: packet.id, from, sent: end, arrives: end });
        }
    }

    fn deliver(&mut self, ctx: &mut Context, user: usize) {
        if let Some(packet) = self.cell.end_packet(user) {
            ctx.deliver(user, packet);
        }
    }
}

impl Hop for SwitchedBearer {
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool {
        if self.cell.packets(user) >= self.buffer {
            ctx.lose(user, packet, Cause::Overflow);
            return false;
        }
        ctx.take(user, &packet);
        self.cell.push(user, packet);
        if self.cell.state(user) == State::Pch {
            self.cell.page(ctx.now, user);
        }
        self.notify(ctx, user, Event::Arrival);
        self.serve(ctx, user);
        true
    }

    fn next_wake(&self) -> Option<Instant> {
        self.cell.next_pending().map(|(instant, _)| instant)
    }

    fn wake(&mut self, ctx: &mut Context, _instant: Instant) {
        let Some(pending) = self.cell.take_pending() else {
            return;
        };
        let (user, event) = match pending {
            Pending::Fach => match self.fach.finish() {
                Some(user) => (user, Event::Departure),
                None => return self.serve_fach(ctx),
            },
            Pending::Dch(user) => (user, Event::Departure),
            Pending::Switch(user) => (user, Event::Switched),
            Pending::Timer(user) => (user, Event::Timer),
        };
        match event {
            Event::Departure => self.deliver(ctx, user),
            Event::Switched => self.cell.end_switch(ctx.now, user),
            Event::Arrival | Event::Timer => {}
        }
        self.notify(ctx, user, event);
        if pending == Pending::Fach {
            self.serve_fach(ctx);
        }
        self.serve(ctx, user);
    }

    fn backlog(&self, user: usize) -> Backlog {
        Backlog { packets: self.cell.packets(user), bytes: self.cell.bytes(user) }
    }

    fn tables(&mut self, now: Time) -> Vec<Table> {
        vec![CHANNELS.table(&self.channels(now))]
    }
}
