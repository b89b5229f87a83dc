//! The engine of every bearer that works in TTIs: the clock, who is asked what and in which order, and
//! when the bearer is woken. What a TTI does on the air is a [`Mac`].
//!
//! First comes what was due between TTIs. In a TTI what the one before has brought arrives, then timers
//! run, then the new one is filled.
//! A bearer with nothing to send sleeps. A MAC may run ahead of time when nothing that arrives could
//! change its next TTIs; what it has run ahead is told when its time has come, so that nobody can see it.

mod ahead;
mod air;
pub mod arq;
pub mod grid;
pub mod rlc;

pub use air::Air;

use nodeb_base::context::Context;
use nodeb_base::engine::Key;
use nodeb_base::event::Cause;
use nodeb_base::packet::Packet;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};

use self::grid::{Grid, NextWake};
use crate::{Backlog, BandwidthMeter, Bearer};

/// What happens in the TTIs of a radio.
pub trait Mac: Send + std::fmt::Debug {
    /// Takes a packet for a user, after what came before it and could touch it; `false` where there is no
    /// room.
    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool;
    /// When something is due next, seen at `now`: the beginning of a TTI, or any time of a timer.
    fn due(&self, grid: &Grid, now: Time) -> Option<Time>;
    /// The same once a packet has been taken, where that is known without looking at everything.
    fn due_after(&self, grid: &Grid, now: Time) -> Option<Time> {
        self.due(grid, now)
    }
    /// What has come since the last TTI began, or was run ahead of time, before anything else happens.
    fn catch_up(&mut self, _ctx: &mut Context, _grid: &Grid) {}
    /// Everything that has been put off is made good: what is due, told or moved by now.
    fn settle(&mut self, ctx: &mut Context, grid: &Grid) {
        self.catch_up(ctx, grid);
    }
    /// What came to an end with the TTI before number `tti` arrives.
    fn land(&mut self, ctx: &mut Context, tti: u64);
    /// Timers that are due by now run.
    fn run_timers(&mut self, _ctx: &mut Context) {}
    /// TTI number `tti` begins: it is filled, and with it as many after it as nothing can change.
    /// `grid.next` is the first that has not been run.
    fn serve(&mut self, ctx: &mut Context, grid: &mut Grid, tti: u64);
    /// Packets and bytes of a user that have neither arrived nor been lost.
    fn backlog(&self, user: usize) -> Backlog;
    /// The CQI that the Node B has of a user now, where it has one.
    fn cqi(&mut self, _ctx: &mut Context, _grid: &Grid, _user: usize) -> Option<f32> {
        None
    }
    /// What only this radio tells about its users by now.
    fn tables(&mut self, _now: Time) -> Vec<Table> {
        Vec::new()
    }
    /// The capability to tell what users could be sent, where it has that.
    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        None
    }
}

/// A bearer that works in TTIs.
#[derive(Debug)]
pub struct TtiBearer<M> {
    /// What happens in a TTI.
    pub(crate) mac: M,
    grid: Grid,
    next_wake: NextWake,
}

impl<M: Mac> TtiBearer<M> {
    /// A bearer that sleeps, with TTIs of length `tti`.
    pub fn new(tti: Duration, mac: M) -> Self {
        Self { mac, grid: Grid::new(tti), next_wake: NextWake::default() }
    }
}

impl<M: Mac> Bearer for TtiBearer<M> {
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool {
        if !self.mac.accept(ctx, &self.grid, user, packet) {
            ctx.lose(user, packet, Cause::Overflow);
            return false;
        }
        ctx.take(&packet);
        self.next_wake.set(self.mac.due_after(&self.grid, ctx.now), |at| ctx.key(at));
        true
    }

    fn next_wake(&self) -> Option<Key> {
        self.next_wake.key()
    }

    fn wake(&mut self, ctx: &mut Context, key: Key) {
        if !self.next_wake.take(key) {
            return;
        }
        let Self { mac, grid, next_wake } = self;
        mac.catch_up(ctx, grid);
        let tti = grid.from(ctx.now);
        let begins = grid.beginning(tti) == ctx.now;
        if begins {
            grid.next = tti + 1;
            mac.land(ctx, tti);
        }
        mac.run_timers(ctx);
        if begins {
            let blocks = ctx.counts.blocks;
            mac.serve(ctx, grid, tti);
            ctx.counts.ttis += u64::from(ctx.counts.blocks > blocks);
        }
        next_wake.set(mac.due(grid, ctx.now), |at| ctx.key(at));
    }

    fn settle(&mut self, ctx: &mut Context) {
        self.mac.settle(ctx, &self.grid);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.mac.backlog(user)
    }

    fn cqi(&mut self, ctx: &mut Context, user: usize) -> Option<f32> {
        self.mac.cqi(ctx, &self.grid, user)
    }

    fn tables(&mut self, now: Time) -> Vec<Table> {
        self.mac.tables(now)
    }

    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        self.mac.bandwidth_meter()
    }
}
