//! The engine of every bearer that works in TTIs: the clock, who is asked what and in which order, and
//! when the bearer is woken. What a TTI does on the air is a [`Mac`].
//!
//! In a TTI first what the one before has brought arrives, then timers run, then the new one is filled.
//! A bearer with nothing to send sleeps. A MAC may run ahead of time when nothing that arrives could
//! change its next TTIs; what it has run ahead is told when its time has come, so that nobody can see it.

mod ahead;
mod air;
pub mod arq;
pub mod grid;
pub mod rlc;

pub use air::Air;

use self::grid::{Alarm, Grid};
use crate::context::Context;
use crate::engine::Key;
use crate::packet::Packet;
use crate::table::Table;
use crate::units::{Duration, Time};
use crate::{Backlog, Bearer};

/// What happens in the TTIs of a radio.
pub trait Mac: Send + std::fmt::Debug {
    /// Takes a packet for a user, or loses it: whether it was taken.
    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool;
    /// When something is due once a packet has been taken at `now`.
    fn due_after(&self, grid: &Grid, now: Time) -> Option<Time>;
    /// When something is due next, seen at `now`: the beginning of a TTI, or any time of a timer.
    fn due(&self, grid: &Grid, now: Time) -> Option<Time>;
    /// Everything that has been put off is made good: what is due, told or moved by now.
    fn settle(&mut self, _ctx: &mut Context, _grid: &Grid) {}
    /// What came to an end with the TTI before number `tti` arrives.
    fn land(&mut self, ctx: &mut Context, tti: u64);
    /// Timers that are due by now run.
    fn run_timers(&mut self, _ctx: &mut Context) {}
    /// TTI number `tti` begins: it is filled, and with it as many after it as nothing can change.
    /// `grid.next` is the first that has not been run.
    fn serve(&mut self, ctx: &mut Context, grid: &mut Grid, tti: u64);
    /// Packets and bytes of a user that have neither arrived nor been lost.
    fn backlog(&self, user: usize) -> Backlog;
    /// What only this radio tells about its users by now.
    fn tables(&mut self, _now: Time) -> Vec<Table> {
        Vec::new()
    }
}

/// A bearer that works in TTIs.
#[derive(Debug)]
pub struct TtiBearer<M> {
    /// What happens in a TTI.
    pub mac: M,
    grid: Grid,
    alarm: Alarm,
}

impl<M: Mac> TtiBearer<M> {
    /// A bearer that sleeps, with TTIs of length `tti`.
    pub fn new(tti: Duration, mac: M) -> Self {
        Self { mac, grid: Grid::new(tti), alarm: Alarm::default() }
    }
}

impl<M: Mac> Bearer for TtiBearer<M> {
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool {
        // What is only counted can wait until somebody looks.
        if !ctx.sink.is_deaf() {
            self.settle(ctx);
        }
        let taken = self.mac.accept(ctx, &self.grid, user, packet);
        if taken && let Some(at) = self.mac.due_after(&self.grid, ctx.now) {
            self.alarm.set_by(at, |at| ctx.key(at));
        }
        taken
    }

    fn next_wake(&self) -> Option<Key> {
        self.alarm.key()
    }

    fn wake(&mut self, ctx: &mut Context, key: Key) {
        if !self.alarm.ring(key) {
            return;
        }
        self.settle(ctx);
        let Self { mac, grid, alarm } = self;
        let tti = grid.from(ctx.now);
        let begins = grid.beginning(tti) == ctx.now;
        if begins {
            grid.next = tti + 1;
            mac.land(ctx, tti);
        }
        mac.run_timers(ctx);
        if begins {
            mac.serve(ctx, grid, tti);
        }
        alarm.set(mac.due(grid, ctx.now), |at| ctx.key(at));
    }

    fn settle(&mut self, ctx: &mut Context) {
        self.mac.settle(ctx, &self.grid);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.mac.backlog(user)
    }

    fn tables(&mut self, now: Time) -> Vec<Table> {
        self.mac.tables(now)
    }
}
