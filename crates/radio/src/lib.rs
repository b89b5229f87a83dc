//! Radio bearers: what carries packets from the Node B to the phones.
//!
//! A bearer answers three calls: take a packet at `now`, what is delivered by `now`, and when it
//! must be woken next. The simulator drives it in virtual time; nothing in it knows a clock.

pub(crate) use nodeb_base::{check, engine, packet, registry, rng, table, units};
pub(crate) use nodeb_net as network;

pub mod assemble;
pub mod cell;
pub mod channel;
pub mod dch;
pub mod error;
pub mod hs_dsch;
pub mod hsdpa;
pub mod link;
pub mod mac;
pub mod pdu_bearer;
pub mod rlc;
pub mod switching;
pub mod tti;
pub mod wcdma;

use crate::engine::{Key, Stamps};
use crate::packet::Packet;
use crate::rng::Streams;
use crate::table::Table;
use crate::units::{Duration, Probability, Rate, Time};

/// A packet that reaches its phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Position of the phone on this bearer.
    pub user: usize,
    /// The packet.
    pub packet: Packet,
}

/// What a bearer has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct BearerCounts {
    /// TTIs in which something was sent.
    pub ttis: u64,
    /// Blocks sent, retransmissions included.
    pub blocks: u64,
    /// Blocks received in error.
    pub blocks_failed: u64,
    /// PDUs sent, retransmissions included; octets where blocks are filled with octets.
    pub pdus: u64,
    /// Packets accepted.
    pub packets_in: u64,
    /// Packets delivered.
    pub packets_delivered: u64,
    /// Packets dropped: buffer full, or given up after the last transmission allowed.
    pub packets_dropped: u64,
    /// Bytes of the packets delivered.
    pub bytes_delivered: u64,
}

impl BearerCounts {
    /// Blocks sent for each that was received without an error; 1 where there are no blocks.
    pub fn blocks_per_success(&self) -> f64 {
        if self.blocks == 0 { 1.0 } else { self.blocks as f64 / (self.blocks - self.blocks_failed) as f64 }
    }
}

/// What a bearer did for one user in one TTI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtiRecord {
    /// Beginning of the TTI.
    pub at: Time,
    /// Position of the user on this bearer.
    pub user: usize,
    /// The user's C/I value, or CQI; 0 at constant rate.
    pub ci: u32,
    /// PDUs sent, or octets where blocks are filled with octets.
    pub pdus: u32,
    /// Blocks received in error.
    pub failed: u32,
}

/// What a user could have been sent by a time, and its channel then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandwidthRecord {
    /// When.
    pub at: Time,
    /// Position of the user on its bearer.
    pub user: usize,
    /// Bytes of packets that it could have been sent since the beginning.
    pub available_bytes: f64,
    /// CQI that the Node B has, or SNR in dB where it knows that.
    pub cqi: f32,
}

/// A radio bearer.
pub trait Bearer: Send + std::fmt::Debug {
    /// Takes a packet for a user; `false` means it was dropped.
    fn accept(&mut self, now: Time, user: usize, packet: Packet, stamps: &mut Stamps) -> bool;
    /// When [`Self::wake`] must be called next.
    fn next_wake(&self) -> Option<Key>;
    /// Does what is due under `key` and appends what arrives at the phones.
    fn wake(&mut self, key: Key, stamps: &mut Stamps, delivered: &mut Vec<Delivery>);
    /// Packets and bytes buffered for a user and not yet delivered.
    fn backlog(&self, user: usize) -> (usize, u64);
    /// What the bearer has done.
    fn counts(&self) -> BearerCounts;
    /// Keeps from now on every packet that is dropped after it had been taken, where that happens.
    fn keep_discarded(&mut self) {}
    /// The packets kept since the last call.
    fn take_discarded(&mut self) -> Vec<Packet> {
        Vec::new()
    }
    /// Users who have come into another cell since the last call, where there are several.
    fn take_handovers(&mut self) -> Vec<usize> {
        Vec::new()
    }
    /// Whether packets wait at an RNC before they come to the Node B.
    fn waits_at_rnc(&self) -> bool {
        false
    }
    /// Measures from now on what a user could be sent, where the bearer can.
    fn measure_bandwidth(&mut self, _user: usize) {}
    /// Bytes of packets that a user could have been sent by `now` had it always had some to send, counted
    /// from the beginning; none where that is not measured.
    fn available_bytes(&mut self, _now: Time, _user: usize) -> Option<f64> {
        None
    }
    /// What only this kind of bearer tells about its users by `now`, with their positions as `user`.
    fn tables(&mut self, _now: Time) -> Vec<Table> {
        Vec::new()
    }
    /// Measures all users from now on and keeps a record in a fixed period, where the bearer can.
    fn record_bandwidth(&mut self) {}
    /// The records kept until `now`, in order of users.
    fn bandwidth_records(&mut self, _now: Time) -> Vec<BandwidthRecord> {
        Vec::new()
    }
    /// Keeps a record of every TTI from now on, where there are TTIs.
    fn record_ttis(&mut self) {}
    /// The records kept.
    fn tti_records(&self) -> &[TtiRecord] {
        &[]
    }
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

registry! {
    /// The radio bearer, as a scenario names it.
    "radio" RadioSpec {
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
    }
}

impl Default for RadioSpec {
    fn default() -> Self {
        Self::HsDsch(hs_dsch::HsDsch::default())
    }
}

/// The tables that only some kinds of bearer have, without a row.
pub fn tables() -> Vec<Table> {
    vec![switching::bearer::CHANNELS.empty(), wcdma::bearer::CELL.empty(), hsdpa::tally::PHONES.empty()]
}

impl RadioSpec {
    /// Whether all users share one bearer.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::HsDsch(_) | Self::Hsdpa(_) | Self::FachDch(_) | Self::Wcdma(_))
    }

    /// Whether blocks can follow a user's C/I process.
    pub fn follows_ci(&self) -> bool {
        matches!(self, Self::HsDsch(_))
    }

    /// Whether users have a UE category and a channel of their own.
    pub fn has_ues(&self) -> bool {
        matches!(self, Self::Hsdpa(_))
    }

    /// Whether its bearers can tell what a user could be sent.
    pub fn measures_bandwidth(&self) -> bool {
        matches!(self, Self::Hsdpa(_) | Self::Link(_))
    }

    /// The bearers and for each the users on it, given as positions in `users`.
    pub fn build(&self, users: &[UserRadio], streams: &Streams) -> Vec<Box<dyn Bearer>> {
        match self {
            Self::HsDsch(params) => vec![params.build(users, streams)],
            Self::Hsdpa(params) => vec![Box::new(params.build(users, streams))],
            Self::FachDch(params) => vec![Box::new(params.build(users.len()))],
            Self::Dch(params) => users.iter().map(|user| params.build(user, streams)).collect(),
            Self::Wcdma(params) => vec![Box::new(params.build(users, streams))],
            Self::Link(params) => {
                users.iter().map(|user| Box::new(params.build(user, streams)) as _).collect()
            }
        }
    }

    /// The bit rate against which utilization is measured. With a C/I process it is the rate at
    /// the highest value, `best_ci`.
    pub fn channel_rate(&self, best_ci: Option<u32>) -> Rate {
        match self {
            Self::Dch(params) => params.air().rate(best_ci),
            Self::HsDsch(params) => params.air().rate(best_ci),
            Self::Hsdpa(params) => params.channel_rate(),
            Self::FachDch(params) => params.dch_rate.max(params.fach_rate),
            Self::Wcdma(params) => params.channel_rate(),
            Self::Link(params) => params.rate,
        }
    }

    /// The transmission time interval, where there is one.
    pub fn tti(&self) -> Option<Duration> {
        match self {
            Self::Dch(params) => Some(params.tti),
            Self::HsDsch(params) => Some(params.tti),
            Self::Hsdpa(_) => Some(hsdpa::TTI),
            Self::FachDch(_) | Self::Wcdma(_) | Self::Link(_) => None,
        }
    }

    /// The block error rate of first transmissions, where it is given.
    pub fn bler(&self) -> Probability {
        match self {
            Self::Dch(params) => params.air().block_error_rate(params.errors.as_ref()),
            Self::HsDsch(params) => params.air().block_error_rate(params.errors.as_ref()),
            Self::Hsdpa(_) | Self::FachDch(_) | Self::Wcdma(_) | Self::Link(_) => Probability(0.0),
        }
    }

    /// The model of block errors, where there is one.
    pub fn errors(&self) -> Option<&error::ErrorModel> {
        match self {
            Self::Dch(params) => params.errors.as_ref(),
            Self::HsDsch(params) => params.errors.as_ref(),
            Self::Hsdpa(_) | Self::FachDch(_) | Self::Wcdma(_) | Self::Link(_) => None,
        }
    }
}
