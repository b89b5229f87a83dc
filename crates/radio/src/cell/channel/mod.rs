//! Channels: models and recordings of a user's SNR in each TTI.

pub mod constant;
pub mod ends;
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

/// Properties of a channel that follow from its parameters alone. By default all of them are false or `None`.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ChannelFacts {
    /// Whether the channel is a recording of bit rates instead of SNRs.
    pub has_rates: bool,
    /// Whether the channel is a recording with CQIs.
    pub has_cqis: bool,
    /// Whether the channel is a recording with SNRs.
    pub has_snrs: bool,
    /// First key of a recording that has SNRs after several transmissions of a block, if any.
    pub combined_snrs: Option<&'static str>,
    /// Whether the channel is a recording without `at_end`, so that the run must not be longer than
    /// the recording.
    pub ends: bool,
    /// Whether the user has a position in the cell.
    pub has_place: bool,
    /// Whether the user's `movement` in the cell is other than `stays`, even at speed 0.
    pub moves: bool,
    /// Whether the channel has fading and so needs a fading sequence.
    pub fades: bool,
}

/// Parameters of a channel, with checks that need other parts of the scenario.
pub trait ChannelParams {
    /// Returns the properties of the channel that follow from its parameters. By default all are
    /// false or `None`.
    fn facts(&self) -> ChannelFacts {
        ChannelFacts::default()
    }
    /// Returns an error message if the channel names a file that the caller has not read. Returns
    /// `None` if it names no file, or if the caller has read it.
    fn unread(&self) -> Option<String> {
        None
    }
    /// Reports an error to `check` if the user's position is outside the cells of the first
    /// `served` sites.
    fn check_on(&self, _cell: &Cell, _served: usize, _check: &mut Check) {}
    /// Reports an error to `check` if the channel is a recording that ends before `duration` and
    /// has no `at_end`.
    fn check_during(&self, _duration: Duration, _numerology: Numerology, _check: &mut Check) {}
}

registry! {
    /// Channel of a user, as a scenario names it.
    "channel" ChannelSpec = Cell as ChannelParams {
        /// A position in the cell: path loss, shadowing, interference and fading.
        "cell" => Cell(place::Place),
        /// Fading around a given mean SNR.
        "fading" => Fading(fading::Fading),
        /// The same SNR in every TTI.
        "constant" => Constant(constant::Constant),
        /// SNRs, CQIs or bit rates from a recording with one line per TTI.
        "trace" => Trace(trace::Trace),
    }
}

/// Channel of one user, which gives the SNR of each TTI.
#[derive(Debug)]
pub enum Channel {
    /// SNR that is computed from the user's position in the cell.
    Cell(place::Placed),
    /// SNR that fades around a mean.
    Fading(fading::Fader),
    /// Constant SNR: the linear SNR per chip.
    Constant(f32),
    /// Recorded SNRs or bit rates, one per TTI.
    Trace(Box<trace::Player>),
}

impl ChannelSpec {
    /// Returns the channel of user `id`. If the user has a position, one of the first `served`
    /// sites serves the user.
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
    /// Returns the linear SNR per chip in TTI `tti`. Returns 0 if the channel is a recording of bit
    /// rates, or a recording of SNRs that has ended.
    pub fn snr(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        match self {
            Self::Cell(placed) => placed.snr(sequence, tti),
            Self::Fading(fader) => fader.snr(sequence, tti),
            Self::Constant(snr) => *snr,
            Self::Trace(player) => player.snr(tti),
        }
    }

    /// Returns the linear SNRs per chip in [`BLOCK`] TTIs from `tti` on. Returns `None` unless the
    /// user stands still in the cell, because only then are SNRs cheap to compute in advance.
    pub fn ahead(&mut self, sequence: &JakesSequence, tti: u64) -> Option<[f32; BLOCK]> {
        if let Self::Cell(placed) = self { placed.ahead(sequence, tti) } else { None }
    }

    /// Returns an upper bound of the linear SNR per chip from TTI `tti` on, and the first TTI in
    /// which the bound is not valid. Returns `None` unless the user stands still in the cell and
    /// the paths fade slowly, because only then is a bound cheap to compute.
    pub fn peak(&mut self, sequence: &JakesSequence, tti: u64) -> Option<(f32, u64)> {
        if let Self::Cell(placed) = self { placed.peak(sequence, tti) } else { None }
    }

    /// Returns the first TTI in which the user has no channel, because a recording has ended. Returns `u64::MAX` if
    /// there is none.
    pub fn ends(&self) -> u64 {
        if let Self::Trace(player) = self { player.ends() } else { u64::MAX }
    }

    /// Returns the user's position in TTI `tti`, or `None` if the channel has no positions. `tti`
    /// must not decrease between calls.
    pub fn place(&mut self, tti: u64) -> Option<Point> {
        if let Self::Cell(placed) = self { Some(placed.place(tti)) } else { None }
    }

    /// Returns the index of the site that serves the user. The index is 0 if the user has no
    /// position.
    pub fn serving(&self) -> usize {
        if let Self::Cell(placed) = self { placed.serving() } else { 0 }
    }

    /// Returns the trajectory of a user who moves through the cell, or `None` if the user does not
    /// move.
    pub fn journey(&mut self) -> Option<&mut Journey> {
        if let Self::Cell(placed) = self { placed.journey() } else { None }
    }

    /// Returns the recorded CQI of TTI `tti`, or `None` if no CQIs were recorded. Returns 0 after
    /// the end of a recording that does not loop.
    pub fn recorded_cqi(&self, tti: u64) -> Option<u8> {
        if let Self::Trace(player) = self { player.cqi(tti) } else { None }
    }

    /// Returns the recorded bit rate of TTI `tti` in bit/s. Returns 0 if no bit rates were
    /// recorded, and after the end of a recording that does not loop.
    pub fn recorded_rate(&self, tti: u64) -> u64 {
        if let Self::Trace(player) = self { player.rate(tti) } else { 0 }
    }

    /// Returns the recorded linear SNR after `transmission` transmissions of a block, the last one
    /// in TTI `tti`. SNRs for three transmissions are also used for more than three. Returns `None`
    /// if the channel has no recorded SNRs for that number of transmissions, and 0 after the end of
    /// a recording that does not loop.
    pub fn recorded_combined(&self, tti: u64, transmission: u32) -> Option<f32> {
        if let Self::Trace(player) = self { player.combined(tti, transmission) } else { None }
    }
}

/// Converts a ratio in dB to a linear ratio in single precision.
pub(crate) fn from_db(db: f64) -> f32 {
    libm::pow(10.0, db / 10.0) as f32
}
