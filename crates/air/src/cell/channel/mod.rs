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

/// By default all of them are false or `None`.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ChannelFacts {
    pub has_rates: bool,
    pub has_cqis: bool,
    pub has_snrs: bool,
    /// First key of a recording that has SNRs after several transmissions of a block.
    pub combined_snrs: Option<&'static str>,
    /// Without `at_end`, the run must not be longer than the recording.
    pub ends: bool,
    pub has_place: bool,
    /// `movement` is other than `stays`, even at speed 0.
    pub moves: bool,
    pub fades: bool,
}

/// Checks that need other parts of the scenario than the channel's own parameters.
pub trait ChannelParams {
    fn facts(&self) -> ChannelFacts {
        ChannelFacts::default()
    }
    /// Error message if a file is named that the caller has not read.
    fn unread(&self) -> Option<String> {
        None
    }
    /// The user must be in the cells of the first `served` sites.
    fn check_on(&self, _cell: &Cell, _served: usize, _check: &mut Check) {}
    /// A recording without `at_end` must not end before `duration`.
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

#[derive(Debug)]
pub enum Channel {
    Cell(place::Placed),
    Fading(fading::Fader),
    /// Linear SNR per chip.
    Constant(f32),
    Trace(Box<trace::Player>),
}

/// SNR in dB that LTE's blocks need beyond Shannon's limit; the turbo code has half of it.
const GAP_DB: f64 = 2.0;
/// Efficiency of the highest CQI, bit per resource element (TS 36.213, table 7.2.3-1).
const PEAK: f64 = 5.5547;
/// Assumed where the channel states no SNR, such as in a cell.
const USUAL_SNR_DB: f64 = 10.0;

impl ChannelSpec {
    fn mean_snr_db(&self) -> Option<f64> {
        match self {
            Self::Constant(params) => Some(params.snr_db),
            Self::Fading(params) => Some(params.mean_snr_db),
            Self::Cell(_) | Self::Trace(_) => None,
        }
    }

    /// With SNRs higher by `db`, if the channel states any.
    #[must_use]
    pub fn stronger(&self, db: f64) -> Self {
        let mut stronger = self.clone();
        match &mut stronger {
            Self::Constant(params) => params.snr_db += db,
            Self::Fading(params) => params.mean_snr_db += db,
            Self::Trace(params) => {
                params.snrs_db = params.snrs_db.iter().map(|snr| snr + db).collect::<Vec<_>>().into();
            }
            Self::Cell(_) => {}
        }
        stronger
    }

    /// Share of the time on LTE's air that twice the signal saves.
    pub fn saved_by_signal(&self) -> f64 {
        let efficiency = |snr: f64| libm::log2(1.0 + snr).min(PEAK);
        let snr = libm::pow(10.0, (self.mean_snr_db().unwrap_or(USUAL_SNR_DB) - GAP_DB) / 10.0);
        1.0 - efficiency(snr) / efficiency(2.0 * snr)
    }

    /// A user with a position is served by one of the first `served` sites.
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
    /// Linear SNR per chip; 0 in a recording of bit rates, or after the end of one of SNRs.
    pub fn snr(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        match self {
            Self::Cell(placed) => placed.snr(sequence, tti),
            Self::Fading(fader) => fader.snr(sequence, tti),
            Self::Constant(snr) => *snr,
            Self::Trace(player) => player.snr(tti),
        }
    }

    /// `None` unless the user stands still in the cell: only then are SNRs cheap to compute in advance.
    pub fn ahead(&mut self, sequence: &JakesSequence, tti: u64) -> Option<[f32; BLOCK]> {
        if let Self::Cell(placed) = self { placed.ahead(sequence, tti) } else { None }
    }

    /// Upper bound of the linear SNR per chip from TTI `tti` on, and the first TTI in which it is not valid;
    /// `None` unless the user stands still and the paths fade slowly, because only then it is cheap.
    pub fn peak(&mut self, sequence: &JakesSequence, tti: u64) -> Option<(f32, u64)> {
        if let Self::Cell(placed) = self { placed.peak(sequence, tti) } else { None }
    }

    /// First TTI after the end of a recording, `u64::MAX` if there is none.
    pub fn ends(&self) -> u64 {
        if let Self::Trace(player) = self { player.ends() } else { u64::MAX }
    }

    /// `tti` must not decrease between calls.
    pub fn place(&mut self, tti: u64) -> Option<Point> {
        if let Self::Cell(placed) = self { Some(placed.place(tti)) } else { None }
    }

    /// 0 if the user has no position.
    pub fn serving(&self) -> usize {
        if let Self::Cell(placed) = self { placed.serving() } else { 0 }
    }

    pub fn journey(&mut self) -> Option<&mut Journey> {
        if let Self::Cell(placed) = self { placed.journey() } else { None }
    }

    /// 0 after the end of a recording that does not loop.
    pub fn recorded_cqi(&self, tti: u64) -> Option<u8> {
        if let Self::Trace(player) = self { player.cqi(tti) } else { None }
    }

    /// In bit/s; 0 if none was recorded, and after the end of a recording that does not loop.
    pub fn recorded_rate(&self, tti: u64) -> u64 {
        if let Self::Trace(player) = self { player.rate(tti) } else { 0 }
    }

    /// Linear SNR after `transmission` transmissions of a block, those for three also used for more; 0 after
    /// the end of a recording that does not loop.
    pub fn recorded_combined(&self, tti: u64, transmission: u32) -> Option<f32> {
        if let Self::Trace(player) = self { player.combined(tti, transmission) } else { None }
    }
}

pub fn from_db(db: f64) -> f32 {
    libm::pow(10.0, db / 10.0) as f32
}
