//! The bearer behind FACH and dedicated channels: queues, service, and the policy that is told of
//! every change.
//!
//! A packet on the air is sent to the end, also when its user's switch begins meanwhile. Left out:
//! block errors and RLC retransmissions, TTIs (a packet takes 8 size / rate), the phones' processing
//! and propagation delays, uplink channels that are switched along, and the signalling that the
//! switches themselves put on the FACH.

use super::cell::{Alarm, Cell, Rrc};
use super::fach::{Fach, air_time};
use super::params::FachDch;
use super::policy::{Event, SwitchingPolicy};
use super::state::{ChannelUse, PhonePower, State};
use crate::context::Context;
use crate::engine::{Key, Stamps};
use crate::event::Cause;
use crate::packet::Packet;
use crate::table::Table;
use crate::units::{Rate, Time};
use crate::{Backlog, Bearer, table};

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

    /// Tells the policy what has happened to a user and sets up the channels that are free for
    /// those who wait.
    fn notify(&mut self, now: Time, user: usize, event: Event, stamps: &mut Stamps) {
        let Self { cell, policy, .. } = self;
        policy.react(event, user, &mut Rrc::new(now, cell, stamps));
        while cell.can_set_up() {
            let position = policy.pick(&Rrc::new(now, cell, stamps));
            let next = cell.set_up(now, position, stamps);
            policy.react(Event::Switched, next, &mut Rrc::new(now, cell, stamps));
        }
    }

    /// Puts a user's next packet on the air, if that can be done now.
    fn serve(&mut self, now: Time, user: usize, stamps: &mut Stamps) {
        match self.cell.state(user) {
            State::Fach => self.serve_fach(now, stamps),
            State::Dch if self.cell.is_ready(user) => {
                let end = now + air_time(self.cell.begin_packet(user), self.dch_rate);
                self.cell.set_alarm(Alarm::Dch(user), Some(end), stamps);
            }
            _ => {}
        }
    }

    fn serve_fach(&mut self, now: Time, stamps: &mut Stamps) {
        if !self.fach.is_sending() && !self.cell.is_set(Alarm::Fach) {
            let at = self.fach.go_on(now, &mut self.cell);
            self.cell.set_alarm(Alarm::Fach, at, stamps);
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
        let (now, stamps) = (ctx.now, &mut ctx.stamps);
        if self.cell.state(user) == State::Pch {
            self.cell.page(now, user, stamps);
        }
        self.notify(now, user, Event::Arrival, stamps);
        self.serve(now, user, stamps);
        true
    }

    fn next_wake(&self) -> Option<Key> {
        self.cell.next_alarm().map(|(key, _)| key)
    }

    fn wake(&mut self, ctx: &mut Context, key: Key) {
        let Some((_, alarm)) = self.cell.next_alarm().filter(|(due, _)| *due == key) else {
            return;
        };
        let now = key.0;
        self.cell.set_alarm(alarm, None, &mut ctx.stamps);
        let (user, event) = match alarm {
            Alarm::Fach => match self.fach.finish() {
                Some(user) => (user, Event::Departure),
                None => return self.serve_fach(now, &mut ctx.stamps),
            },
            Alarm::Dch(user) => (user, Event::Departure),
            Alarm::Switch(user) => (user, Event::Switched),
            Alarm::Timer(user) => (user, Event::Timer),
        };
        match event {
            Event::Departure => self.deliver(ctx, user),
            Event::Switched => self.cell.end_switch(now, user),
            Event::Arrival | Event::Timer => {}
        }
        let stamps = &mut ctx.stamps;
        self.notify(now, user, event, stamps);
        if alarm == Alarm::Fach {
            self.serve_fach(now, stamps);
        }
        self.serve(now, user, stamps);
    }

    fn backlog(&self, user: usize) -> Backlog {
        Backlog { packets: self.cell.packets(user), bytes: self.cell.bytes(user) }
    }

    fn tables(&mut self, now: Time) -> Vec<Table> {
        vec![CHANNELS.table(&self.channels(now))]
    }
}
