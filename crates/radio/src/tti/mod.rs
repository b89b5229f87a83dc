//! Engine of all TTI-driven bearers: TTI boundaries, order of events, and wake-ups. A [`Mac`]
//! defines the transmissions in a TTI.
//!
//! At a TTI boundary, the blocks of the previous TTI arrive first, then expired timers are handled,
//! then the new TTI is filled. A bearer with nothing to send sleeps.
//!
//! A MAC may simulate TTIs ahead of time if no arrival can change them. It emits their results with
//! the times of these TTIs, so that listeners get the same events as without look-ahead.

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
use crate::lte::shared::Shared;
use crate::{Backlog, BandwidthMeter, Bearer};

/// Medium access control of a radio, which decides what is transmitted in each TTI.
pub trait Mac: Send + std::fmt::Debug {
    /// Offers a packet for a user, after applying deferred updates that could affect the packet.
    /// Returns false if the user's buffer is full or its queue drops the packet.
    fn accept(&mut self, ctx: &mut Context, grid: &Grid, user: usize, packet: Packet) -> bool;
    /// Returns the cause for which [`Self::accept`] refused the last packet for a user. Default: [`Cause::Overflow`], a
    /// full buffer.
    fn refused(&self, _user: usize) -> Cause {
        Cause::Overflow
    }
    /// Returns the time of the MAC's next event at or after `now`, or `None` if no event is
    /// pending. Events are starts of TTIs, expiries of timers and arrivals of feedback.
    fn due(&self, grid: &Grid, now: Time) -> Option<Time>;
    /// Returns the time of the MAC's next event, like [`Self::due`]. The bearer calls this method
    /// after [`Self::accept`] and [`Self::on_uplink`], when some MACs need less work to find the
    /// time.
    fn due_after(&self, grid: &Grid, now: Time) -> Option<Time> {
        self.due(grid, now)
    }
    /// Applies the deferred updates that are due by now, such as results of TTIs simulated ahead of
    /// time. Default: there are none.
    fn catch_up(&mut self, _ctx: &mut Context, _grid: &Grid) {}
    /// Applies all updates of counters, events and positions of users that were deferred until now.
    fn settle(&mut self, ctx: &mut Context, grid: &Grid) {
        self.catch_up(ctx, grid);
    }
    /// Informs the MAC that a user's phone sends a packet to the network. Default: no effect.
    fn on_uplink(&mut self, _ctx: &mut Context, _grid: &Grid, _user: usize) {}
    /// Delivers the blocks and packets that were completed in the TTI before TTI `tti`.
    fn complete(&mut self, ctx: &mut Context, tti: u64);
    /// Handles the timers and feedback that are due until now. Default: the MAC has none.
    fn run_timers(&mut self, _ctx: &mut Context) {}
    /// Fills TTI `tti` with blocks. May also simulate following TTIs that no arrival can change; it
    /// then sets `grid.next` to the first TTI that is not yet simulated.
    fn serve(&mut self, ctx: &mut Context, grid: &mut Grid, tti: u64);
    /// Returns the number and size of a user's packets that are neither delivered nor lost.
    fn backlog(&self, user: usize) -> Backlog;
    /// Returns the CQI by which the Node B currently adapts a user's blocks, or `None` if it uses no
    /// CQIs. Default: `None`.
    fn cqi(&mut self, _ctx: &mut Context, _grid: &Grid, _user: usize) -> Option<f32> {
        None
    }
    /// Returns the tables of results that only this kind of radio has, with values until `now`.
    fn tables(&mut self, _now: Time) -> Vec<Table> {
        Vec::new()
    }
    /// Returns the radio's bandwidth meter, or `None` if it has none.
    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        None
    }
    /// Informs the MAC that a user's phone listens earlier than expected because of what it sends or is granted in the
    /// uplink. Default: no effect.
    fn on_listening(&mut self, _ctx: &mut Context, _grid: &Grid, _user: usize) {}
    /// Returns the state of the phones that the uplink uses, too. Default: there is none.
    fn shared(&self) -> Shared {
        Shared::default()
    }
    /// Makes this MAC use the phones' state of another bearer. Default: no effect.
    fn share(&mut self, _shared: &Shared) {}
}

/// Bearer that transmits in TTIs, driven by a [`Mac`].
#[derive(Debug)]
pub struct TtiBearer<M> {
    /// MAC of the bearer, which decides what is sent in each TTI.
    pub(crate) mac: M,
    grid: Grid,
    next_wake: NextWake,
}

impl<M: Mac> TtiBearer<M> {
    /// Creates a bearer with TTIs of length `tti`, which sleeps until a packet arrives.
    pub fn new(tti: Duration, mac: M) -> Self {
        Self { mac, grid: Grid::new(tti), next_wake: NextWake::default() }
    }
}

impl<M: Mac> Bearer for TtiBearer<M> {
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool {
        if !self.mac.accept(ctx, &self.grid, user, packet) {
            ctx.lose(user, packet, self.mac.refused(user));
            return false;
        }
        ctx.take(user, &packet);
        self.next_wake.set(self.mac.due_after(&self.grid, ctx.now), |at| ctx.key(at));
        true
    }

    fn on_uplink(&mut self, ctx: &mut Context, user: usize) {
        self.mac.on_uplink(ctx, &self.grid, user);
        self.next_wake.set(self.mac.due_after(&self.grid, ctx.now), |at| ctx.key(at));
    }

    fn on_listening(&mut self, ctx: &mut Context, user: usize) {
        self.mac.on_listening(ctx, &self.grid, user);
        self.next_wake.set(self.mac.due_after(&self.grid, ctx.now), |at| ctx.key(at));
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
            mac.complete(ctx, tti);
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

    fn shared(&self) -> Shared {
        self.mac.shared()
    }

    fn share(&mut self, shared: &Shared) {
        self.mac.share(shared);
    }
}
