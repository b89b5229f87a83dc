//! Where a user's SNR comes from.

pub mod constant;
pub mod fading;
pub mod place;
mod shared;
pub mod trace;

use nodeb_base::check::Check;
use nodeb_base::registry;
use nodeb_base::rng::Streams;
use nodeb_base::units::Duration;

use super::doppler::JakesSequence;
use super::mobility::Point;
use super::plan::{Cell, Journey};
use super::profile::BLOCK;
use crate::numerology::Numerology;

/// What the rest of the simulator asks about a channel before there is one; by default nothing holds.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ChannelFacts {
    /// Whether it is a recording of rates.
    pub has_rates: bool,
    /// Whether it is a recording that has CQIs.
    pub has_cqis: bool,
    /// Whether it is a recording that may be over before the run.
    pub ends: bool,
    /// Whether the user has a place in the cell.
    pub has_place: bool,
    /// Whether the user moves in the cell.
    pub moves: bool,
    /// Whether it needs a fading sequence.
    pub fades: bool,
}

/// The parameters of a source of SNRs.
pub trait ChannelParams {
    /// What is known of it.
    fn facts(&self) -> ChannelFacts {
        ChannelFacts::default()
    }
    /// What is wrong where its file has still to be read.
    fn unread(&self) -> Option<String> {
        None
    }
    /// Reports a place outside the cells of the first `served` sites.
    fn check_on(&self, _cell: &Cell, _served: usize, _check: &mut Check) {}
    /// Reports a recording that is over before a run of `duration`.
    fn check_during(&self, _duration: Duration, _numerology: Numerology, _check: &mut Check) {}
}

registry! {
    /// The source of a user's SNR, as a scenario names it.
    "channel" ChannelSpec = Cell as ChannelParams {
        /// A place in the cell: path loss, shadowing, interference and fading.
        "cell" => Cell(place::Place),
        /// Fading around a given mean SNR.
        "fading" => Fading(fading::Fading),
        /// An SNR that does not change.
        "constant" => Constant(constant::Constant),
        /// A recording, one line for each TTI.
        "trace" => Trace(trace::Trace),
    }
}

/// The channel of one user, asked by TTI.
#[derive(Debug)]
pub enum Channel {
    /// In the cell.
    Cell(place::Placed),
    /// Around a mean.
    Fading(fading::Fader),
    /// Linear SNR per chip.
    Constant(f32),
    /// Recorded.
    Trace(Box<trace::Player>),
}

impl ChannelSpec {
    /// The channel of user number `id`, whom the first `served` sites serve if it has a place.
    pub fn build(
        &self,
        cell: &Cell,
        served: usize,
        id: u64,
        streams: &Streams,
        numerology: Numerology,
    ) -> Channel {
        match self {
            Self::Cell(params) => Channel::Cell(params.build(cell, served, id, streams, numerology)),
            Self::Fading(params) => Channel::Fading(params.build(id, streams, numerology)),
            Self::Constant(params) => Channel::Constant(from_db(params.snr_db)),
            Self::Trace(params) => Channel::Trace(Box::new(trace::Player::new(params))),
        }
    }
}

impl Channel {
    /// Linear SNR per chip in TTI number `tti`.
    pub fn snr(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        match self {
            Self::Cell(placed) => placed.snr(sequence, tti),
            Self::Fading(fader) => fader.snr(sequence, tti),
            Self::Constant(snr) => *snr,
            Self::Trace(player) => player.snr(tti),
        }
    }

    /// The same in TTI number `tti` and those after it, where working ahead is cheap and changes nothing.
    pub fn ahead(&mut self, sequence: &JakesSequence, tti: u64) -> Option<[f32; BLOCK]> {
        if let Self::Cell(placed) = self { placed.ahead(sequence, tti) } else { None }
    }

    /// An SNR that is exceeded in no TTI from number `tti` to the one that comes with it, where that is cheap to
    /// tell.
    pub fn peak(&mut self, sequence: &JakesSequence, tti: u64) -> Option<(f32, u64)> {
        if let Self::Cell(placed) = self { placed.peak(sequence, tti) } else { None }
    }

    /// Where the user is in TTI number `tti`, at least the latest asked for, if it has a place.
    pub fn place(&mut self, tti: u64) -> Option<Point> {
        if let Self::Cell(placed) = self { Some(placed.place(tti)) } else { None }
    }

    /// The site that serves the user; the first if it has no place.
    pub fn serving(&self) -> usize {
        if let Self::Cell(placed) = self { placed.serving() } else { 0 }
    }

    /// The user's way, if it is on one.
    pub fn journey(&mut self) -> Option<&mut Journey> {
        if let Self::Cell(placed) = self { placed.journey() } else { None }
    }

    /// The CQI that was recorded for TTI number `tti`, where one was.
    pub fn recorded_cqi(&self, tti: u64) -> Option<u8> {
        if let Self::Trace(player) = self { player.cqi(tti) } else { None }
    }

    /// The rate in bit/s that was recorded for TTI number `tti`; none where no rates were.
    pub fn recorded_rate(&self, tti: u64) -> u64 {
        if let Self::Trace(player) = self { player.rate(tti) } else { 0 }
    }

    /// Linear SNR after `transmission` transmissions, the latest in TTI number `tti`, where combining
    /// was recorded.
    pub fn recorded_combined(&self, tti: u64, transmission: u32) -> Option<f32> {
        if let Self::Trace(player) = self { player.combined(tti, transmission) } else { None }
    }
}

/// A ratio given in dB.
fn from_db(db: f64) -> f32 {
    libm::pow(10.0, db / 10.0) as f32
}
