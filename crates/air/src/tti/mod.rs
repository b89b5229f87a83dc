//! At a TTI boundary, the blocks of the previous TTI arrive first, then expired timers are handled, then the
//! new TTI is filled. A bearer with nothing to send sleeps. A MAC may simulate TTIs ahead of time if no
//! arrival can change them and no listener subscribes to TTIs or blocks; their results count when their time
//! comes.

mod ahead;
mod air;
pub mod arq;
pub mod grid;
pub mod rlc;

pub use air::Air;

use nodeb_base::context::Context;
use nodeb_base::engine::{Instant, Phase};
use nodeb_base::event::Cause;
use nodeb_base::packet::Packet;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};

use self::grid::Grid;
use crate::{Backlog, BandwidthMeter, Hop};

pub trait Mac: std::fmt::Debug {
    /// In which the TTIs begin: a packet that comes later at the same time must wait for the next TTI.
    const PHASE: Phase = Phase::DownlinkTti;

    /// After applying deferred updates; false if the buffer is full or the queue drops the packet.
    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool;
    /// For which [`Self::accept`] refused the last packet.
    fn refused(&self, _user: usize) -> Cause {
        Cause::Overflow
    }
    /// At or after `now`: a start of a TTI, a timer, or the arrival of feedback.
    fn due(&self, grid: &Grid, now: Time) -> Option<Time>;
    /// As [`Self::due`], after [`Self::accept`] and [`Self::on_uplink`], when some MACs need less work.
    fn due_after(&self, grid: &Grid, now: Time) -> Option<Time> {
        self.due(grid, now)
    }
    /// Such as results of TTIs simulated ahead of time.
    fn catch_up(&mut self, _ctx: &mut Context, _grid: &Grid) {}
    /// Counters, events and positions deferred until now.
    fn apply_deferred(&mut self, ctx: &mut Context, grid: &Grid) {
        self.catch_up(ctx, grid);
    }
    /// The user's phone sends a packet to the network.
    fn on_uplink(&mut self, _ctx: &mut Context, _grid: &Grid, _user: usize) {}
    /// Completed in the TTI before `tti`.
    fn complete(&mut self, ctx: &mut Context, tti: u64);
    /// Also feedback.
    fn run_timers(&mut self, _ctx: &mut Context) {}
    /// May also simulate following TTIs that no arrival can change, and then sets `grid.next`.
    fn serve(&mut self, ctx: &mut Context, grid: &mut Grid, tti: u64);
    fn backlog(&self, user: usize) -> Backlog;
    /// By which blocks are currently adapted.
    fn cqi(&mut self, _ctx: &mut Context, _grid: &Grid, _user: usize) -> Option<f32> {
        None
    }
    fn tables(&mut self, _now: Time) -> Vec<Table> {
        Vec::new()
    }
    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        None
    }
    /// The phone listens early because of what it sends or is granted in the uplink.
    fn on_listening(&mut self, _ctx: &mut Context, _grid: &Grid, _user: usize) {}
}

#[derive(Debug)]
pub struct TtiBearer<M> {
    pub mac: M,
    grid: Grid,
    /// `None` if the bearer sleeps.
    next_wake: Option<Time>,
}

impl<M: Mac> TtiBearer<M> {
    pub fn new(tti: Duration, mac: M) -> Self {
        Self { mac, grid: Grid::new(tti), next_wake: None }
    }

    /// The TTI of this time has begun if its phase is over.
    #[inline]
    fn begin(&mut self, ctx: &Context) {
        if ctx.instant > Instant::new(ctx.now, M::PHASE) {
            self.grid.next = self.grid.next.max(self.grid.begun_by(ctx.now));
        }
    }
}

impl<M: Mac> Hop for TtiBearer<M> {
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool {
        self.begin(ctx);
        if !self.mac.accept(ctx, &self.grid, user, packet) {
            ctx.lose(user, packet, self.mac.refused(user));
            return false;
        }
        ctx.take(user, &packet);
        self.next_wake = self.mac.due_after(&self.grid, ctx.now);
        true
    }

    fn on_uplink(&mut self, ctx: &mut Context, user: usize) {
        self.begin(ctx);
        self.mac.on_uplink(ctx, &self.grid, user);
        self.next_wake = self.mac.due_after(&self.grid, ctx.now);
    }

    fn on_listening(&mut self, ctx: &mut Context, user: usize) {
        self.begin(ctx);
        self.mac.on_listening(ctx, &self.grid, user);
        self.next_wake = self.mac.due_after(&self.grid, ctx.now);
    }

    fn next_wake(&self) -> Option<Instant> {
        self.next_wake.map(|at| Instant::new(at, M::PHASE))
    }

    fn wake(&mut self, ctx: &mut Context, _instant: Instant) {
        let Self { mac, grid, next_wake } = self;
        mac.catch_up(ctx, grid);
        let tti = grid.from(ctx.now);
        let begins = grid.beginning(tti) == ctx.now;
        if begins {
            grid.next = tti + 1;
            mac.complete(ctx, tti);
        }
        mac.run_timers(ctx);
        if begins {
            let blocks = ctx.counts.blocks;
            mac.serve(ctx, grid, tti);
            ctx.counts.ttis += u64::from(ctx.counts.blocks > blocks);
        }
        *next_wake = mac.due(grid, ctx.now);
    }

    fn apply_deferred(&mut self, ctx: &mut Context) {
        self.mac.apply_deferred(ctx, &self.grid);
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
