//! Radio bearers: transport of packets from a Node B to its users and, with a scheduled uplink,
//! from the users to it.
//!
//! A [`Bearer`] accepts packets and delivers or loses each of them later. It does no I/O and has no clock:
//! its caller passes the time in a context, and wakes the bearer at the time that [`Bearer::next_wake`]
//! returns. [`RadioSpec`] lists the kinds of radio; a scenario selects one, and [`Radio::build`] creates its
//! bearers.
//!
//! The layers of a bearer are:
//!
//! - [`pdcp`]: numbers packets, discards old packets and delivers packets in order, above the
//!   byte-based RLC.
//! - [`rlc`]: segmentation into PDUs, retransmission, reassembly.
//! - [`mac`]: schedulers, hybrid ARQ and reordering. [`tti`] drives the MACs of all radios that
//!   have transmission time intervals; [`hsdpa`] is a detailed model of HSDPA, with RNC, Iub and
//!   Node B.
//! - [`channel`] and [`cell`]: the quality of a user's channel, given directly or computed from path loss,
//!   shadowing and fading.
//! - [`error`]: models of block errors.
//!
//! [`lte`] is a model of an LTE cell, with the tables and closed forms of its specifications.
//!
//! [`switching`] moves users between FACH and DCH, and [`wcdma`] models codes with variable spreading
//! factors.
//!
//! # Examples
//!
//! A dedicated channel of 384 kbit/s that loses no blocks delivers two packets:
//!
//! ```
//! use nodeb_base::context::{Output, Surroundings};
//! use nodeb_base::packet::Packet;
//! use nodeb_base::rng::Streams;
//! use nodeb_base::units::{Probability, Time};
//! use nodeb_radio::dch::Dch;
//! use nodeb_radio::{Radio, UserRadio};
//!
//! let dch = Dch { bler: Probability(0.0), ..Dch::default() };
//! let user = UserRadio::default();
//! let mut bearer = dch.build(&[user], &Streams::new(1, 0)).remove(0);
//!
//! let mut world = Surroundings::default();
//! for id in 0..2 {
//!     assert!(bearer.accept(&mut world.at(Time::ZERO), 0, Packet::new(id, 1500)));
//! }
//! let mut arrivals_ms = Vec::new();
//! while let Some(key) = bearer.next_wake() {
//!     bearer.wake(&mut world.at(key.0), key);
//!     for output in world.common.out.drain(..) {
//!         assert!(matches!(output, Output::Arrived { .. }));
//!         arrivals_ms.push(key.0.0 / 1_000_000);
//!     }
//! }
//! // Each packet takes 38 PDUs of 40 bytes, and a TTI of 10 ms carries 12 PDUs.
//! assert_eq!(arrivals_ms, [40, 70]);
//! ```

/// Declares the empty parameter struct of a variant that has no parameters.
macro_rules! no_parameters {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {}

        impl nodeb_base::check::Checked for $name {}
    };
}

pub mod assemble;
pub mod cell;
pub mod channel;
pub mod dch;
pub mod error;
pub mod hs_dsch;
pub mod hsdpa;
pub mod link;
pub mod lte;
pub mod mac;
pub mod numerology;
pub mod pdcp;
pub mod rlc;
pub mod switching;
pub mod trace;
pub mod tti;
pub mod ue;
pub mod wcdma;
mod wire;

use nodeb_base::check::Check;
use nodeb_base::context::Context;
use nodeb_base::engine::Key;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Probability, Rate, Time};
use nodeb_net::opportunities::Recording;
use nodeb_net::{Link, QueueSpec};

use crate::lte::shared::Shared;
use crate::pdcp::SnLength;

/// Packets of a user that a bearer has accepted and neither delivered nor lost yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of the user's packets in the bearer.
    pub packets: usize,
    /// Sum of the sizes of the user's packets in the bearer, in bytes.
    pub bytes: u64,
}

impl Backlog {
    /// Adds a packet that the bearer has accepted.
    #[inline]
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    /// Removes a packet that the bearer has delivered or lost.
    #[inline]
    fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
    }
}

/// Radio bearer: transports packets from a Node B to its users or, as a shared uplink, from the users
/// to the Node B.
///
/// The bearer reports each accepted packet to the context once, as delivered or lost, unless the run
/// ends before. It may defer internal updates, but always applies them before they could affect an
/// accepted packet. [`Self::settle`] applies all updates that are still deferred.
pub trait Bearer: Send + std::fmt::Debug {
    /// Offers a packet for user number `user` on this bearer. Returns false if the packet is lost
    /// or dropped.
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool;
    /// Returns the link if the bearer is a plain link with a constant rate, as only such a link can
    /// support look-ahead. Returns `None` for other bearers.
    fn as_link(&mut self) -> Option<&mut Link> {
        None
    }
    /// Returns the key of the event for which [`Self::wake`] must be called next, or `None` if no
    /// event is pending.
    fn next_wake(&self) -> Option<Key>;
    /// Processes the event due at `key`, which [`Self::next_wake`] returned.
    fn wake(&mut self, ctx: &mut Context, key: Key);
    /// Informs the bearer that a user's phone sends a packet to the network. The packet keeps the phone awake or wakes
    /// it, so that the phone can receive. Default: no effect.
    fn on_uplink(&mut self, _ctx: &mut Context, _user: usize) {}
    /// Returns the number and size of a user's packets in the bearer. A plain or trace-driven link
    /// counts only packets that wait for transmission.
    fn backlog(&self, user: usize) -> Backlog;
    /// Returns the CQI by which the Node B currently adapts a user's blocks, or `None` if the bearer
    /// uses no CQIs. Deferred updates that affect the CQI are applied first.
    fn cqi(&mut self, _ctx: &mut Context, _user: usize) -> Option<f32> {
        None
    }
    /// Applies all deferred updates of counters, events and positions of users, up to the current
    /// time.
    fn settle(&mut self, _ctx: &mut Context) {}
    /// Returns the tables of results until `now` that only this kind of bearer has. Their column
    /// `user` has the index of the user on this bearer, from 0. The caller must call
    /// [`Self::settle`] first. Default: no tables.
    fn tables(&mut self, _now: Time) -> Vec<Table> {
        Vec::new()
    }
    /// Returns the meter of the available bandwidth, or `None` if the bearer has none.
    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        None
    }
    /// Informs the bearer that a user's phone listens earlier than expected because of what it sends or is granted in the
    /// uplink. Default: no effect.
    fn on_listening(&mut self, _ctx: &mut Context, _user: usize) {}
    /// Returns the state of the phones that the uplink uses, too. Default: there is none.
    fn shared(&self) -> Shared {
        Shared::default()
    }
    /// Makes an uplink use the phones' state of the downlink. Must be called before the first packet. Default: no
    /// effect.
    fn share(&mut self, _shared: &Shared) {}
}

/// Meter of available bandwidth: the bandwidth that users would have had if data for them had
/// always waited.
pub trait BandwidthMeter {
    /// Starts to measure the available bandwidth of a user. Must be called at the start of the run.
    /// Has no effect on plain and trace-driven links, which always measure.
    fn measure(&mut self, user: usize);
    /// Starts to measure the available bandwidth of all users, and to emit it periodically as
    /// events. Plain and trace-driven links emit no such events.
    fn record(&mut self);
    /// Returns the number of packet bytes that could have been sent to a user from the start of the
    /// run until `now`, or `None` if the user is not measured.
    fn available_bytes(&mut self, now: Time, user: usize) -> Option<f64>;
}

/// Properties of a user's radio link, in addition to the parameters of the bearer.
#[derive(Clone, Debug, Default)]
pub struct UserRadio {
    /// Number of the user in the scenario, which selects the user's random streams.
    pub id: u64,
    /// Relative frequencies of the C/I values 1 to n; empty if the block size is constant.
    pub ci: Vec<f64>,
    /// User equipment (category, channel and delay budget), which only `hsdpa` and `lte` use.
    pub ue: ue::Ue,
}

/// Properties of a radio that its parameters determine, before bearers are built. The default
/// describes a radio with a bearer for each user and none of the features below.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Facts {
    /// Whether all users share one bearer, instead of one bearer per user.
    pub is_shared: bool,
    /// Whether the block sizes of a user can follow the user's C/I process.
    pub follows_ci: bool,
    /// Whether users have a UE category and an individual channel.
    pub has_ues: bool,
    /// Whether the bearers can measure the bandwidth that is available to users.
    pub measures_bandwidth: bool,
    /// Whether the bearers can periodically emit events with the bandwidth that is available to
    /// users.
    pub records_bandwidth: bool,
    /// Whether the bearers emit an event for each user served in a TTI or slot, with the numbers of
    /// PDUs sent and of failed blocks.
    pub reports_ttis: bool,
    /// Whether phones can sleep (DRX) or lose their RRC connection, so that [`Bearer::on_uplink`] must be called for
    /// each packet that they send.
    pub has_drx: bool,
    /// Whether the base station schedules the uplink, so that all phones share one uplink bearer instead
    /// of having links of their own.
    pub schedules_uplink: bool,
    /// Whether packets wait at an RNC and cross an Iub before they reach the Node B.
    pub has_rnc: bool,
    /// Length of PDCP's sequence numbers; `None` if the radio has no PDCP.
    pub sn_length: Option<SnLength>,
    /// Length of the transmission time interval; `None` if the radio has no TTIs.
    pub tti: Option<Duration>,
    /// Block error rate of first transmissions; `None` if the radio has no such parameter.
    pub bler: Option<Probability>,
    /// Time from the start of a TTI in which a block fails to the earliest retransmission of the
    /// block; `None` if the radio has no such parameter.
    pub retransmits_after: Option<Duration>,
    /// Whether blocks are retransmitted by hybrid ARQ at the Node B, rather than by RLC.
    pub has_harq: bool,
    /// Size in bytes of the frames that make up a block; `None` if the radio has no frames of a
    /// fixed size.
    pub frame_bytes: Option<u32>,
    /// Whether the bearers transmit only at recorded delivery opportunities.
    pub has_opportunities: bool,
    /// Whether the bearers switch users between a FACH and dedicated channels.
    pub has_states: bool,
    /// Time for which a user receives no data when it changes its cell; 0 without handover.
    pub interruption: Duration,
}

/// Default of a key of the scenario that differs from the key's general default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyDefault {
    /// Dotted key. A key in a list of tables, such as `core`, stands for the key of every table in the list.
    pub key: &'static str,
    /// Quantity, or name of a variant.
    pub value: &'static str,
    /// Table that the scenario must contain for this default to apply; `None` if it always applies.
    pub with: Option<&'static str>,
}

/// Parameters of a radio bearer, from which bearers are built.
pub trait Radio {
    /// Returns the properties of the radio that its parameters determine, before bearers are built.
    fn facts(&self) -> Facts;
    /// Returns defaults of the network around the radio, which apply to absent keys in place of the general defaults,
    /// those of `wang`. They may not depend on the radio's parameters.
    fn key_defaults(&self) -> &'static [KeyDefault] {
        &[]
    }
    /// Returns the bit rate that counts as full utilization. `best_ci` is the highest C/I value of
    /// users with a C/I process, at which the rate is computed, or `None` for users without one.
    fn channel_rate(&self, best_ci: Option<u32>) -> Rate;
    /// Returns the parameters of the queue if the radio is a plain or trace-driven link, or `None`
    /// for other radios.
    fn queue(&self) -> Option<&QueueSpec> {
        None
    }
    /// Returns the parameters of the queue in front of each user's RLC, or `None` if the radio has none.
    fn own_queue(&self) -> Option<&QueueSpec> {
        None
    }
    /// Returns the parameters of each phone's queue in front of a scheduled uplink, or `None` if the radio has none.
    fn uplink_queue(&self) -> Option<&QueueSpec> {
        None
    }
    /// Returns the cell and the number of sites that serve users, or `None` if the radio does not
    /// model a cell with sites.
    fn cell(&self) -> Option<(cell::plan::Cell, usize)> {
        None
    }
    /// Returns the model of block errors, or `None` if the radio has none.
    fn errors(&self) -> Option<&error::ErrorModel> {
        None
    }
    /// Returns an error message, which names the key, if the caller has not read a file that the
    /// radio needs. Returns `None` if all files have been read.
    fn unread(&self) -> Option<String> {
        self.errors()?.unread()
    }
    /// Reports to `check` the properties of `user` that do not fit this radio or a run of `duration`.
    /// Also reports the user's keys that have no effect.
    fn check_user(&self, _user: &UserRadio, _duration: Duration, _check: &mut Check) {}
    /// Reports to `check` the radio's keys that have no effect with the users of the scenario.
    /// `users` has one user of each group.
    fn check_users(&self, _users: &[UserRadio], _check: &mut Check) {}
    /// Returns the recording of delivery opportunities that uplinks follow, or `None` if they have
    /// a constant rate.
    fn uplink(&self) -> Option<Recording<'_>> {
        None
    }
    /// Returns the tables of results that only this kind of radio has, without rows.
    fn tables(&self) -> Vec<Table> {
        Vec::new()
    }
    /// Returns a single bearer for all users if the radio is shared, otherwise one bearer per user.
    fn build(&self, users: &[UserRadio], streams: &Streams) -> Vec<Box<dyn Bearer>>;
    /// Returns the uplink bearer, which carries the packets of all users towards the network, or
    /// `None` if each phone has an uplink of its own.
    fn build_uplink(&self, _users: &[UserRadio], _streams: &Streams) -> Option<Box<dyn Bearer>> {
        None
    }
}

/// Returns the tables of results that only some kinds of radio have, each once. The tables have no rows.
pub fn tables() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for table in RadioSpec::defaults().iter().flat_map(|radio| radio.tables()) {
        if tables.iter().all(|other| other.name != table.name) {
            tables.push(table);
        }
    }
    tables
}

nodeb_base::registry! {
    /// Kind of radio bearer with its parameters, as given in a scenario.
    "radio" RadioSpec = HsDsch as Radio {
        /// Dedicated channels, one bearer per user (Release 99).
        "dch" => Dch(dch::Dch),
        /// The high-speed downlink shared channel: one bearer for all users (Release 5).
        "hs_dsch" => HsDsch(hs_dsch::HsDsch),
        /// HS-DSCH in detail: cells with fading, CQI, HARQ processes, Iub (Release 5 to 7).
        "hsdpa" => Hsdpa(hsdpa::Hsdpa),
        /// LTE cell, with fading in frequency and time (Releases 8 to 12).
        "lte" => Lte(lte::Lte),
        /// A shared FACH and a pool of dedicated channels, between which users switch (Release 99).
        "fach_dch" => FachDch(switching::FachDch),
        /// WCDMA: all users receive at the same time, on codes with a variable spreading factor.
        "wcdma" => Wcdma(wcdma::Wcdma),
        /// No radio: a plain link with a rate, a delay and a queue, one per user.
        "link" => Link(link::LinkBearer),
        /// No radio: one link per user, which sends at recorded delivery opportunities.
        "trace" => Trace(trace::TraceBearer),
    }
}
