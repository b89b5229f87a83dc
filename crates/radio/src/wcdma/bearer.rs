//! Every connection transmits at its selected rate, each on its own code. Only active connections, those with
//! a packet within the timeout, count for rates and interference. Rates are selected when the set of active
//! connections has changed; packets arrive at the end of the slot that completes them.

use nodeb_base::context::{Context, Sent};
use nodeb_base::event::{Cause, Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Hazards;
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};

use super::arq::{Arq, Queue};
use super::cell::Cell;
use super::other_cells::Placement;
use super::selection::SelectionSpec;
use nodeb_air::Backlog;
use nodeb_air::tti::Mac;
use nodeb_air::tti::grid::Grid;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CellRow {
    user: usize,
    placement: Placement,
    slots: u64,
    frames: u64,
    frames_failed: u64,
}

table! {
    /// One row per user on `wcdma`: position of the phone, interference of other cells, Eb/N0,
    /// slots used, frames sent and frames failed.
    pub(crate) static CELL: "cell" of CellRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Position of the phone east of the Node B, in cell radii; NaN without a map.
        "x_radii" ["radii"] F64 = |row| row.placement.position.map_or(f64::NAN, |at| at.x);
        /// Position of the phone north of the Node B, in cell radii; NaN without a map.
        "y_radii" ["radii"] F64 = |row| row.placement.position.map_or(f64::NAN, |at| at.y);
        /// Power received from all other cells divided by that from the own cell, if each transmits the same.
        "other_cells" ["1"] F64 = |row| row.placement.conditions.other_cells;
        /// Mean energy per bit over noise density in dB.
        "eb_n0_db" ["dB"] F64 = |row| 10.0 * libm::log10(row.placement.conditions.eb_n0);
        /// Number of slots in which frames were sent to the user.
        "slots" [""] U64 = |row| row.slots;
        /// Number of frames sent to the user, including retransmissions.
        "frames" [""] U64 = |row| row.frames;
        /// Number of these frames that were received in error.
        "frames_failed" [""] U64 = |row| row.frames_failed;
    }
}

#[derive(Debug)]
struct Connection {
    queue: Queue,
    errors: Hazards,
    /// Start of the slot at which an empty connection becomes inactive, set after each slot in which a frame
    /// arrived or a packet was given up; `u64::MAX` before that and without a timeout, `None` while inactive.
    active_until: Option<u64>,
    /// Frames per slot.
    rate: u32,
    failure: f64,
    /// The last slot may have completed a packet.
    touched: bool,
    used: CellRow,
}

#[derive(Clone, Debug)]
pub struct Slots {
    pub slot: Duration,
    /// Slots without data after which a connection becomes inactive.
    pub timeout: Option<u64>,
    pub arq: Arq,
    pub selection: SelectionSpec,
    /// If false, all frames arrive.
    pub frame_errors: bool,
}

#[derive(Debug)]
pub struct WcdmaMac {
    slots: Slots,
    cell: Cell,
    connections: Vec<Connection>,
    /// In ascending order.
    active: Vec<usize>,
    /// The set of active connections has changed.
    is_stale: bool,
    rates: Vec<u32>,
    /// Given up in the current slot, until reported as lost.
    discarded: Vec<Packet>,
}

impl WcdmaMac {
    /// `errors` has one item per connection.
    pub fn new(slots: Slots, cell: Cell, errors: impl IntoIterator<Item = Hazards>) -> Self {
        let placements = cell.placements().iter().copied();
        let connect = |(user, (errors, placement)): (usize, (Hazards, Placement))| Connection {
            queue: Queue::default(),
            errors,
            active_until: None,
            rate: 0,
            failure: 0.0,
            touched: false,
            used: CellRow { user, placement, slots: 0, frames: 0, frames_failed: 0 },
        };
        let connections = errors.into_iter().zip(placements).enumerate().map(connect).collect();
        Self {
            slots,
            cell,
            connections,
            active: Vec::new(),
            is_stale: false,
            rates: Vec::new(),
            discarded: Vec::new(),
        }
    }

    /// Deactivates connections whose timeout has passed, and selects rates if the set has changed.
    fn prepare(&mut self, slot: u64) {
        let Self { connections, active, cell, rates, slots, .. } = self;
        if slots.timeout.is_some() {
            active.retain(|user| {
                let connection = &mut connections[*user];
                let stays =
                    connection.queue.is_busy() || connection.active_until.is_some_and(|end| slot < end);
                if !stays {
                    connection.active_until = None;
                    self.is_stale = true;
                }
                stays
            });
        }
        if std::mem::take(&mut self.is_stale) {
            slots.selection.select(cell, active, rates);
            let own_cell = rates.iter().sum();
            for (user, rate) in active.iter().zip(rates) {
                connections[*user].rate = *rate;
                let failure = if slots.frame_errors { cell.failure(*user, own_cell) } else { 0.0 };
                connections[*user].failure = failure;
            }
        }
    }

    fn send_frames(&mut self, ctx: &mut Context, slot: u64) {
        let arq = &self.slots.arq;
        for &user in &self.active {
            let connection = &mut self.connections[user];
            if connection.queue.eligible().is_none_or(|from| slot < from) {
                continue;
            }
            let mut errors = connection.errors.with(connection.failure);
            let mut parts = ctx.wants(Mask::BLOCKS).then(Vec::new);
            let sent = connection.queue.send(
                arq,
                slot,
                connection.rate,
                &mut errors,
                &mut self.discarded,
                parts.as_mut(),
            );
            if let Some(parts) = parts {
                let (bearer, user, failed) = (ctx.place.index, user as u32, sent.failed > 0);
                let (block, units, transmission) = (slot, sent.frames, 1);
                ctx.emit(Event::Block { bearer, user, block, units, transmission, failed });
                for part in parts {
                    ctx.emit(Event::Carries { bearer, user, block, part });
                }
            }
            connection.touched = sent.failed < sent.frames || sent.gave_up;
            let blocks = Sent { blocks: sent.frames, failed: sent.failed, units: sent.frames };
            ctx.blocks(ctx.now, user, 0, blocks);
            connection.used.slots += 1;
            connection.used.frames += u64::from(sent.frames);
            connection.used.frames_failed += u64::from(sent.failed);
            for packet in self.discarded.drain(..) {
                ctx.lose(user, packet, Cause::RadioLoss);
            }
        }
    }
}

impl Mac for WcdmaMac {
    fn accept(&mut self, _: &mut Context, _: &Grid, user: usize, packet: Packet) -> bool {
        let connection = &mut self.connections[user];
        if !connection.queue.push(&self.slots.arq, packet) {
            return false;
        }
        if connection.active_until.is_none() {
            connection.active_until = Some(u64::MAX);
            let at = self.active.partition_point(|other| *other < user);
            self.active.insert(at, user);
            self.is_stale = true;
        }
        true
    }

    fn due_after(&self, grid: &Grid, now: Time) -> Option<Time> {
        Some(grid.next_beginning(now))
    }

    fn due(&self, grid: &Grid, _: Time) -> Option<Time> {
        let touched = self.active.iter().any(|user| self.connections[*user].touched);
        let eligible = |user: &usize| self.connections[*user].queue.eligible();
        let next = if touched { Some(0) } else { self.active.iter().filter_map(eligible).min() };
        next.map(|from| grid.beginning(from.max(grid.next)))
    }

    fn complete(&mut self, ctx: &mut Context, slot: u64) {
        let Self { connections, active, slots, .. } = self;
        for &user in &*active {
            let connection = &mut connections[user];
            if !std::mem::take(&mut connection.touched) {
                continue;
            }
            connection.queue.release(slots.arq.delivery, |packet| ctx.deliver(user, packet));
            connection.active_until = Some(slot.saturating_add(slots.timeout.unwrap_or(u64::MAX)));
        }
    }

    fn serve(&mut self, ctx: &mut Context, _: &mut Grid, slot: u64) {
        self.prepare(slot);
        self.send_frames(ctx, slot);
    }

    fn backlog(&self, user: usize) -> Backlog {
        self.connections[user].queue.backlog()
    }

    fn tables(&mut self, _now: Time) -> Vec<Table> {
        let rows: Vec<_> = self.connections.iter().map(|connection| connection.used).collect();
        vec![CELL.table(&rows)]
    }
}
