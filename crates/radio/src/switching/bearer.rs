//! The bearer behind FACH and dedicated channels: queues, service, and the policy that is told of
//! every change.
//!
//! A packet on the air is sent to the end, also when its user's switch begins meanwhile. Left out:
//! block errors and RLC retransmissions, TTIs (a packet takes 8 size / rate), the phones' processing
//! and propagation delays, uplink channels that are switched along, and the signalling that the
//! switches themselves put on the FACH.

use nodeb_base::context::Context;
use nodeb_base::engine::Key;
use nodeb_base::event::{Cause, Event as Emitted, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Rate, Time};

use super::cell::{Cell, Pending, Rrc};
use super::fach::{Fach, air_time};
use super::params::FachDch;
use super::policy::{Event, SwitchingPolicy};
use super::state::{ChannelUse, PhonePower, State};
use crate::{Backlog, Bearer};

/// How a user was connected over a run.
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
    /// One row per user on `fach_dch`: switches begun, the time in each state, and the energy of the phone's
    /// radio. A dedicated channel is held while it is set up, used and released.
    pub(crate) static CHANNELS: "channels" of ChannelRow {
        /// Number of the user.
        "user" [""] U64 = |row| row.user as u64;
        /// Switches from the FACH to a dedicated channel begun.
        "set_ups" [""] U64 = |row| row.usage.set_ups;
        /// Switches back begun.
        "releases" [""] U64 = |row| row.usage.releases;
        /// Times the phone was called from the paging channel.
        "pagings" [""] U64 = |row| row.usage.pagings;
        /// Time on the paging channel.
        "pch_s" ["s"] F64 = |row| row.seconds(State::Pch);
        /// Time on the way from the paging channel to the FACH.
        "paging_s" ["s"] F64 = |row| row.seconds(State::Paging);
        /// Time on the FACH.
        "fach_s" ["s"] F64 = |row| row.seconds(State::Fach);
        /// Time on the way from the FACH to a dedicated channel, which is held already.
        "setting_up_s" ["s"] F64 = |row| row.seconds(State::SettingUp);
        /// Time on a dedicated channel.
        "dch_s" ["s"] F64 = |row| row.seconds(State::Dch);
        /// Time on the way back to the FACH; the channel is free at the end.
        "releasing_s" ["s"] F64 = |row| row.seconds(State::Releasing);
        /// Energy that the phone's radio has used.
        "energy_j" ["J"] F64 = |row| row.energy_j;
    }
}

/// All users of a cell on their channels.
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
    /// A bearer with empty queues whose users are all on the FACH.
    pub fn new(params: &FachDch, users: usize) -> Self {
        Self {
            cell: Cell::new(params, users),
            fach: Fach::new(params),
            dch_rate: params.dch_rate,
            buffer: params.buffer.get() as usize,
            power: params.power.clone(),
            policy: params.policy.build(users),
        }
    }

    /// How each user was connected by `now`.
    pub(super) fn channels(&self, now: Time) -> Vec<ChannelRow> {
        let row = |(user, usage)| ChannelRow { user, usage, energy_j: usage.energy_j(&self.power) };
        self.cell.usage(now).into_iter().enumerate().map(row).collect()
    }

    /// A user's RRC state.
    pub fn state(&self, user: usize) -> State {
        self.cell.state(user)
    }

    /// Tells the policy what has happened to a user, sets up the channels that are free for those who wait, and
    /// tells who has changed its state.
    fn notify(&mut self, ctx: &mut Context, user: usize, event: Event) {
        let Self { cell, policy, .. } = self;
        let (now, bearer, stamps) = (ctx.now, ctx.place.index, &mut ctx.stamps);
        policy.react(event, user, &mut Rrc::new(now, cell, stamps));
        while cell.can_set_up() {
            let position = policy.pick(&Rrc::new(now, cell, stamps));
            let next = cell.set_up(now, position, stamps);
            policy.react(Event::Switched, next, &mut Rrc::new(now, cell, stamps));
        }
        if cell.has_entered() {
            for (user, state) in cell.take_entered() {
                ctx.emit(Emitted::State { bearer, user: user as u32, state: state as u8 });
            }
        }
    }

    /// Puts a user's next packet on the air, if that can be done now.
    fn serve(&mut self, ctx: &mut Context, user: usize) {
        match self.cell.state(user) {
            State::Fach => self.serve_fach(ctx),
            State::Dch if self.cell.is_ready(user) => {
                let end = ctx.now + air_time(self.cell.begin_packet(user), self.dch_rate);
                self.cell.set_pending(Pending::Dch(user), end, &mut ctx.stamps);
                self.emit_service(ctx, user, end, 1 + user as u32);
            }
            _ => {}
        }
    }

    fn serve_fach(&mut self, ctx: &mut Context) {
        if let Some(at) = self.fach.go_on(ctx.now, &mut self.cell) {
            self.cell.set_pending(Pending::Fach, at, &mut ctx.stamps);
            if let Some((user, end)) = self.fach.on_air() {
                self.emit_service(ctx, user, end, 0);
            }
        }
    }

    /// Tells that a user's first packet has gone on the air of a channel, until `end`.
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

impl Bearer for SwitchedBearer {
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool {
        if self.cell.packets(user) >= self.buffer {
            ctx.lose(user, packet, Cause::Overflow);
            return false;
        }
        ctx.take(&packet);
        self.cell.push(user, packet);
        if self.cell.state(user) == State::Pch {
            self.cell.page(ctx.now, user, &mut ctx.stamps);
        }
        self.notify(ctx, user, Event::Arrival);
        self.serve(ctx, user);
        true
    }

    fn next_wake(&self) -> Option<Key> {
        self.cell.next_pending().map(|(key, _)| key)
    }

    fn wake(&mut self, ctx: &mut Context, key: Key) {
        let Some(pending) = self.cell.take_pending(key) else {
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
