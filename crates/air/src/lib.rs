//! What generations of radio share: the TTI engine, MAC with its schedulers and HARQ, RLC, PDCP, cells with their
//! channels, and models of errors.
//!
//! A [`Hop`] accepts packets and delivers or loses each of them later. It does no I/O and has no clock: its caller
//! passes the time in a context, and wakes the hop at the time that [`Hop::next_wake`] returns.

pub mod allowed;
pub mod bearer;
pub mod cell;
pub mod channel;
pub mod error;
pub mod mac;
pub mod numerology;
pub mod pdcp;
pub mod rlc;
pub mod tti;
pub mod ue;
mod wire;

use nodeb_base::context::{Context, Counts};
use nodeb_base::engine::Instant;
use nodeb_base::packet::Packet;
use nodeb_base::table::Table;
use nodeb_base::units::Time;
use nodeb_net::{Chain, LinkCounts};

/// Packets that a bearer has accepted and neither delivered nor lost yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    pub packets: usize,
    pub bytes: u64,
}

impl Backlog {
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    #[inline]
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
    }
}

impl std::iter::Sum for Backlog {
    fn sum<I: Iterator<Item = Self>>(backlogs: I) -> Self {
        let add =
            |sum: Self, of: Self| Self { packets: sum.packets + of.packets, bytes: sum.bytes + of.bytes };
        backlogs.fold(Self::default(), add)
    }
}

/// The bearer reports each accepted packet to the context once, as delivered or lost, unless the run ends
/// before. It may defer internal updates, but always applies them before they could affect an accepted
/// packet. [`Self::apply_deferred`] applies all updates that are still deferred.
pub trait Hop: std::fmt::Debug {
    /// False if the packet is lost or dropped.
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool;
    /// `None` if nothing happens until a packet is accepted.
    fn next_wake(&self) -> Option<Instant>;
    /// `instant` is the one that [`Self::next_wake`] returned.
    fn wake(&mut self, ctx: &mut Context, instant: Instant);
    /// A packet from the user's phone keeps the phone awake or wakes it.
    fn on_uplink(&mut self, _ctx: &mut Context, _user: usize) {}
    /// A plain or trace-driven link counts only packets that wait for transmission.
    fn backlog(&self, user: usize) -> Backlog;
    /// CQI by which the Node B currently adapts a user's blocks, after deferred updates.
    fn cqi(&mut self, _ctx: &mut Context, _user: usize) -> Option<f32> {
        None
    }
    /// The same plain links as a chain, which replaces them before the first packet; `None` for other hops.
    fn chain(&mut self) -> Option<Chain> {
        None
    }
    /// Of each link that this hop consists of.
    fn links(&self) -> Vec<LinkCounts> {
        Vec::new()
    }
    /// Of the user's own link, if each user of this hop has one.
    fn counts_of(&self, _user: usize) -> Option<Counts> {
        None
    }
    /// Applies all deferred updates of counters, events and positions of users, up to the current
    /// time.
    fn apply_deferred(&mut self, _ctx: &mut Context) {}
    /// Tables that only this kind of bearer has, with users counted from 0 on this bearer; call
    /// [`Self::apply_deferred`] first.
    fn tables(&mut self, _now: Time) -> Vec<Table> {
        Vec::new()
    }
    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        None
    }
    /// The phone listens earlier than expected because of what it sends or is granted in the uplink.
    fn on_listening(&mut self, _ctx: &mut Context, _user: usize) {}
}

pub trait BandwidthMeter {
    /// From the start of the run; plain and trace-driven links always measure.
    fn measure(&mut self, user: usize);
    /// For all users, emitted periodically as events except on plain and trace-driven links.
    fn record(&mut self);
    /// Packet bytes that could have been sent from the start of the run; `None` if the user is not measured.
    fn available_bytes(&mut self, now: Time, user: usize) -> Option<f64>;
}

#[derive(Clone, Debug)]
pub struct UserRadio {
    /// Number of the user in the scenario, which selects the random streams.
    pub id: u64,
    /// Relative frequencies of the C/I values 1 to n; empty if the block size is constant.
    pub ci: Vec<f64>,
    /// Only `hsdpa` and `lte` use it.
    pub ue: ue::Ue,
    /// At least one, numbered from 0; more on `lte` only.
    pub bearers: Vec<bearer::Bearer>,
}

impl Default for UserRadio {
    fn default() -> Self {
        Self { id: 0, ci: Vec::new(), ue: ue::Ue::default(), bearers: vec![bearer::Bearer::default()] }
    }
}
