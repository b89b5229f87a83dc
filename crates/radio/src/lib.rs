//! Radio bearers: transport of packets from a Node B to its users and, with a scheduled uplink,
//! from the users to it.
//!
//! [`RadioSpec`] lists the kinds of radio; a scenario selects one, and [`Radio::build`] creates its bearers, each a
//! [`Hop`](nodeb_air::Hop).
//!
//! # Examples
//!
//! A dedicated channel of 384 kbit/s that loses no blocks delivers two packets:
//!
//! ```
//! use nodeb_base::context::{Output, TestBench};
//! use nodeb_base::packet::Packet;
//! use nodeb_base::rng::Streams;
//! use nodeb_base::units::{Probability, Time};
//! use nodeb_air::UserRadio;
//! use nodeb_radio::dch::Dch;
//! use nodeb_radio::Radio;
//!
//! let dch = Dch { bler: Probability(0.0), ..Dch::default() };
//! let user = UserRadio::default();
//! let mut bearer = dch.build(&[user], &Streams::new(1, 0)).down.remove(0);
//!
//! let mut world = TestBench::default();
//! for id in 0..2 {
//!     assert!(bearer.accept(&mut world.at(Time::ZERO), 0, Packet::new(id, 1500)));
//! }
//! let mut arrivals_ms = Vec::new();
//! while let Some(instant) = bearer.next_wake() {
//!     bearer.wake(&mut world.at(instant.time()), instant);
//!     for output in world.common.out.drain(..) {
//!         assert!(matches!(output, Output::Arrived { .. }));
//!         arrivals_ms.push(instant.time().0 / 1_000_000);
//!     }
//! }
//! // Each packet takes 38 PDUs of 40 bytes, and a TTI of 10 ms carries 12 PDUs.
//! assert_eq!(arrivals_ms, [40, 70]);
//! ```

mod assemble;
pub mod dch;
mod hs_dsch;
pub mod hsdpa;
mod link;
pub mod lte;
pub mod ofdma;
mod parts;
pub mod switching;
mod trace;
pub mod wcdma;

pub use hs_dsch::HsDsch;
pub use link::LinkBearer;
pub use parts::{ChannelKey, Meter, Parts, Queue, Retransmission, Tti, Uplink};
pub use trace::TraceBearer;

use std::num::NonZeroU32;

use nodeb_air::{Hop, UserRadio, cell};
use nodeb_base::check::Check;
use nodeb_base::remedy::Remedy;
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Rate};

/// Default that differs from the key's general one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyDefault {
    /// Dotted; a key in a list of tables, such as `core`, stands for those of every table in the list.
    pub key: &'static str,
    /// Quantity, or name of a variant.
    pub value: &'static str,
    /// Table that the scenario must contain for the default to apply.
    pub with: Option<&'static str>,
}

pub trait Radio {
    fn parts(&self) -> Parts<'_>;
    /// Defaults of the network around the radio in place of those of `wang`; they may not depend on its
    /// parameters.
    fn key_defaults(&self) -> &'static [KeyDefault] {
        &[]
    }
    /// Counts as full utilization. `best_ci` is the highest C/I value, at which the rate is computed.
    fn channel_rate(&self, best_ci: Option<u32>) -> Rate;
    /// `phone` is that of the explained transfer, and one of `phones`.
    fn remedies(&self, phone: &UserRadio, phones: NonZeroU32) -> Vec<Remedy<RadioSpec>>;
    /// With the number of sites that serve users.
    fn cell(&self) -> Option<(cell::plan::Cell, usize)> {
        None
    }
    /// Error message with the key if the caller has not read a file that the radio needs.
    fn unread(&self) -> Option<String> {
        None
    }
    /// Reports what does not fit this radio or a run of `duration`, and keys without effect.
    fn check_user(&self, _user: &UserRadio, _duration: Duration, _check: &mut Check) {}
    /// Reports keys without effect; `users` has one user of each group.
    fn check_users(&self, _users: &[UserRadio], _check: &mut Check) {}
    /// Those that only this kind of radio has, without rows.
    fn tables(&self) -> Vec<Table> {
        Vec::new()
    }
    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers;
}

/// Both directions of a radio.
#[derive(Debug)]
pub struct Bearers {
    /// A single one if the radio is shared, otherwise one per user.
    pub down: Vec<Box<dyn Hop>>,
    /// `None` if each phone has an uplink of its own.
    pub up: Option<Box<dyn Hop>>,
}

impl Bearers {
    pub fn one_per_user(users: &[UserRadio], bearer: impl Fn(&UserRadio) -> Box<dyn Hop>) -> Self {
        Self { down: users.iter().map(bearer).collect(), up: None }
    }

    /// For all users.
    pub fn shared(bearer: impl Hop + 'static) -> Self {
        Self { down: vec![Box::new(bearer)], up: None }
    }
}

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
