//! Radio bearers: what carries packets from the Node B to the phones.
//!
//! A bearer is handed a context with the time, takes packets, and says when it must be woken next. The
//! simulator drives it in virtual time; nothing in it knows a clock.

/// Declares a variant's parameters, of which there are none.
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
pub mod mac;
pub mod numerology;
pub mod rlc;
pub mod switching;
pub mod trace;
pub mod tti;
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

/// Packets of a user that a bearer has taken, and that have neither arrived nor been lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Backlog {
    /// A packet has been taken.
    #[inline]
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }

    /// A packet has arrived or been lost.
    #[inline]
    fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.size);
    }
}

/// A radio bearer: what carries packets from the Node B to the phones.
///
/// Packets come out of it through the context, each once: arrived or lost. Whatever it puts off it makes
/// good by itself before a packet that it takes could be touched by it; [`Self::settle`] asks for the rest.
pub trait Bearer: Send + std::fmt::Debug {
    /// Takes a packet for a user; `false` means that it is lost.
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool;
    /// The link that the bearer is, where it is one with a rate: its arrivals may be known ahead of time.
    fn as_link(&mut self) -> Option<&mut Link> {
        None
    }
    /// When [`Self::wake`] must be called next.
    fn next_wake(&self) -> Option<Key>;
    /// Does what is due under `key`.
    fn wake(&mut self, ctx: &mut Context, key: Key);
    /// Packets of a user that are on their way; on a plain link those that wait for it.
    fn backlog(&self, user: usize) -> Backlog;
    /// The CQI that the Node B has of a user now, where it has one; what was put off until now is made good first,
    /// and nothing else comes of asking.
    fn cqi(&mut self, _ctx: &mut Context, _user: usize) -> Option<f32> {
        None
    }
    /// Makes good what was put off until now: counts, events, places.
    fn settle(&mut self, _ctx: &mut Context) {}
    /// What only this kind of bearer tells about its users by `now`, once it is settled, with their positions
    /// as `user`.
    fn tables(&mut self, _now: Time) -> Vec<Table> {
        Vec::new()
    }
    /// The capability to tell what users could be sent, where it has that.
    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        None
    }
}

/// Tells what users could be sent had they always something to send.
pub trait BandwidthMeter {
    /// Measures a user, from the beginning of the run on.
    fn measure(&mut self, user: usize);
    /// Measures all users, and tells the sink in a fixed period.
    fn record(&mut self);
    /// Bytes of packets that a measured user could have been sent by `now`, counted from the beginning;
    /// none if it is not measured.
    fn available_bytes(&mut self, now: Time, user: usize) -> Option<f64>;
}

/// What a user's radio link is like, apart from the bearer's own parameters.
#[derive(Clone, Debug, Default)]
pub struct UserRadio {
    /// Number of the user in the scenario, which names its random streams.
    pub id: u64,
    /// Relative frequencies of the C/I values 1 to n; empty at constant rate.
    pub ci: Vec<f64>,
    /// The phone on `hsdpa`.
    pub ue: hsdpa::ue::Ue,
}

/// What the rest of the simulator asks about a radio before there is a bearer. Each is declared with the
/// radio's parameters; by default it can do nothing but carry packets, on a bearer for each user.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Facts {
    /// Whether all users share one bearer.
    pub is_shared: bool,
    /// Whether blocks can follow a user's C/I process.
    pub follows_ci: bool,
    /// Whether users have a UE category and a channel of their own.
    pub has_ues: bool,
    /// Whether its bearers can tell what a user could be sent.
    pub measures_bandwidth: bool,
    /// Whether they can also keep a record of that.
    pub records_bandwidth: bool,
    /// Whether its bearers tell who is sent what in every TTI or slot.
    pub tells_ttis: bool,
    /// Whether packets wait at an RNC before they come to the Node B.
    pub has_rnc: bool,
    /// The transmission time interval, where there is one.
    pub tti: Option<Duration>,
    /// The block error rate of first transmissions, where it is given.
    pub bler: Option<Probability>,
    /// From the beginning of a TTI in which a block fails until it may go again, where blocks do.
    pub repeats_after: Option<Duration>,
    /// Whether it is hybrid ARQ that repeats them, at the Node B, and not RLC.
    pub has_harq: bool,
    /// Whether its bearers send at recorded delivery opportunities only.
    pub has_opportunities: bool,
    /// Whether its bearers switch users between states.
    pub has_states: bool,
    /// Time without transmissions to a user whose cell changes.
    pub interruption: Duration,
}

/// The parameters of a radio.
pub trait Radio {
    /// What is known of it.
    fn facts(&self) -> Facts;
    /// The bit rate against which utilization is measured. With a C/I process it is the rate at the
    /// highest value, `best_ci`.
    fn channel_rate(&self, best_ci: Option<u32>) -> Rate;
    /// The queue of its links, if it is one.
    fn queue(&self) -> Option<&QueueSpec> {
        None
    }
    /// The cell and the number of cells that serve users, if users have places.
    fn cell(&self) -> Option<(&cell::plan::Cell, usize)> {
        None
    }
    /// The model of block errors, where there is one.
    fn errors(&self) -> Option<&error::ErrorModel> {
        None
    }
    /// What is wrong where a file is named whose content is not there yet, with the key.
    fn unread(&self) -> Option<String> {
        self.errors()?.unread()
    }
    /// Reports what a user cannot do on this radio in a run of `duration`, and keys that have no effect for it.
    fn check_user(&self, _user: &UserRadio, _duration: Duration, _check: &mut Check) {}
    /// Reports the radio's own keys that have no effect with these users, one of each group.
    fn check_users(&self, _users: &[UserRadio], _check: &mut Check) {}
    /// The recording that the phones' uplinks follow, where there is one.
    fn uplink(&self) -> Option<Recording<'_>> {
        None
    }
    /// The tables that only it has, without a row.
    fn tables(&self) -> Vec<Table> {
        Vec::new()
    }
    /// The bearers: one of all users, or one for each.
    fn build(&self, users: &[UserRadio], streams: &Streams) -> Vec<Box<dyn Bearer>>;
}

/// The tables that only some kinds of bearer have, without a row.
pub fn tables() -> Vec<Table> {
    RadioSpec::defaults().iter().flat_map(|radio| radio.tables()).collect()
}

nodeb_base::registry! {
    /// The radio bearer, as a scenario names it.
    "radio" RadioSpec = HsDsch as Radio {
        /// Dedicated channels, one bearer per user (Release 99).
        "dch" => Dch(dch::Dch),
        /// The high-speed downlink shared channel: one bearer for all users (Release 5).
        "hs_dsch" => HsDsch(hs_dsch::HsDsch),
        /// The same channel in detail: a cell with fading, CQI, HARQ processes, Iub (Release 5 to 7).
        "hsdpa" => Hsdpa(hsdpa::Hsdpa),
        /// A shared FACH and a pool of dedicated channels, switched between (Release 99).
        "fach_dch" => FachDch(switching::FachDch),
        /// Codes that all users have at the same time, with a variable spreading factor.
        "wcdma" => Wcdma(wcdma::Wcdma),
        /// No radio: a plain link with a rate, a delay and a queue, one per user.
        "link" => Link(link::LinkBearer),
        /// No radio: a link that sends when a measured trace says that it could, one per user.
        "trace" => Trace(trace::TraceBearer),
    }
}
