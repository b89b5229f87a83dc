//! SNR of a user on each group of resource blocks.
//!
//! The mean over time comes from the user's channel: its position in the cell, a given mean, a constant or a
//! recording. Fading around it depends on frequency ([`Selective`]); constants and recordings are equal on all
//! groups. The SNR is that of a resource element: the power of the serving cell divided by noise and the mean
//! power of other cells, whose fading is not modelled. With several layers ([`layers`](super::layers)), constants and
//! recordings are the SNR of one layer that has all power, and layers do not disturb each other.

use std::sync::Arc;

use nodeb_base::rng::Streams;
use nodeb_base::units::Speed;

use super::layers::{Antennas, Matrix};
use super::recorded::{Recorded, Steps};
use crate::cell::channel::{ChannelSpec, from_db};
use crate::cell::doppler::JakesSequence;
use crate::cell::mobility::Point;
use crate::cell::plan::{Cell, Journey};
use crate::cell::profile::{Profile, Tap};
use crate::cell::selective::{Response, Selective};
use crate::mac::band::{Band, Groups, Row};
use crate::numerology::Numerology;

/// Properties of the carrier and the cell that all channels share.
#[derive(Clone, Copy, Debug)]
pub struct Carrier<'a> {
    /// Cell in which users have positions.
    pub cell: &'a Cell,
    /// Resource blocks of the carrier.
    pub band: &'a Band,
    /// TTI and carrier frequency, by which channels compute Doppler shifts per TTI.
    pub numerology: Numerology,
    /// Antennas at both ends.
    pub antennas: Antennas,
    /// Steps of the phone's CQIs; `None` for a phone without recorded CQIs and bit rates.
    pub steps: Option<Steps>,
    /// Entity whose random streams give the fading: `user`, or `uplink` for fading independent of the downlink's.
    pub fading: &'static str,
}

/// Responses of profiles on the carrier's groups. Users with the same paths share one response, so that it stays in the
/// CPU cache.
#[derive(Debug, Default)]
pub struct Responses(Vec<(Delays, Arc<Response>)>);

/// Delay in seconds and mean power of each path.
type Delays = Vec<(f64, f64)>;

impl Responses {
    /// Returns the response of paths with the given delays in seconds and mean powers.
    fn of(&mut self, paths: Delays, band: &Band) -> Arc<Response> {
        if let Some((_, known)) = self.0.iter().find(|(others, _)| *others == paths) {
            return known.clone();
        }
        let response = Arc::new(Response::new(&paths, band));
        self.0.push((paths, response.clone()));
        response
    }
}

/// Linear SNR of a user without frequency-selective fading, equal on all groups of resource blocks: constant,
/// from the user's position, or recorded.
#[derive(Debug)]
enum Level {
    Constant(f32),
    Placed { at_rest: Option<f32>, journey: Box<Journey> },
    Recorded(Box<Recorded>),
}

/// Frequency-selective fading around the mean SNR; `None` for constant and recorded SNRs.
#[derive(Debug)]
enum Fading {
    None,
    OneAntenna(Box<Selective>),
    Antennas(Box<Matrix>),
}

/// Channel of one user: its SNR averaged over fading, and fading that depends on frequency.
#[derive(Debug)]
pub struct Channel {
    level: Level,
    fading: Fading,
}

impl Channel {
    /// Creates the channel of user `id`.
    pub fn new(
        spec: &ChannelSpec,
        carrier: Carrier,
        id: u64,
        streams: &Streams,
        responses: &mut Responses,
    ) -> Self {
        let Carrier { cell, numerology, antennas, fading, .. } = carrier;
        let mut fades = |profile: Profile, taps: &[Tap], speed: Speed| {
            let response = responses.of(profile.delays(taps), carrier.band);
            let doppler = numerology.doppler_per_tti(speed);
            if antennas == Antennas::ONE {
                Fading::OneAntenna(Box::new(Selective::new(response, doppler, (fading, id), streams)))
            } else {
                Fading::Antennas(Box::new(Matrix::new(antennas, &response, doppler, (fading, id), streams)))
            }
        };
        match spec {
            ChannelSpec::Cell(place) => {
                let journey = Box::new(place.journey(cell, 1, id, streams, numerology));
                let level = Level::Placed { at_rest: journey.at_rest(), journey };
                Self { level, fading: fades(place.profile, &place.taps, place.speed) }
            }
            ChannelSpec::Fading(params) => {
                let level = Level::Constant(from_db(params.mean_snr_db));
                Self { level, fading: fades(params.profile, &params.taps, params.speed) }
            }
            ChannelSpec::Constant(params) => {
                Self { level: Level::Constant(from_db(params.snr_db)), fading: Fading::None }
            }
            ChannelSpec::Trace(params) => {
                let recorded = Recorded::new(params, carrier.steps);
                Self { level: Level::Recorded(Box::new(recorded)), fading: Fading::None }
            }
        }
    }

    /// Computes the linear SNR of each group in TTI `tti`, in which `layers` layers are sent. All layers have the same
    /// SNR.
    pub fn snr(&mut self, sequence: &JakesSequence, tti: u64, layers: u8, row: &mut Row) {
        let level = self.level.at(tti);
        match &mut self.fading {
            Fading::None => row.fill(level / f32::from(layers)),
            Fading::Antennas(fading) => {
                let all = fading.all();
                fading.snr(sequence, (tti, all), layers, level, row);
            }
            Fading::OneAntenna(fading) => {
                fading.gains(sequence, tti, row);
                for gain in row {
                    *gain *= level;
                }
            }
        }
    }

    /// Computes the SNRs as [`Self::snr`] does, but only those of `groups`. The values of other groups have no meaning.
    pub fn snr_of(&mut self, sequence: &JakesSequence, tti: u64, layers: u8, groups: Groups, row: &mut Row) {
        let level = self.level.at(tti);
        match &mut self.fading {
            Fading::None => row.fill(level / f32::from(layers)),
            Fading::Antennas(fading) => fading.snr(sequence, (tti, groups), layers, level, row),
            Fading::OneAntenna(fading) => {
                fading.gains_of(sequence, tti, groups, row);
                for group in groups {
                    row[group] *= level;
                }
            }
        }
    }

    /// Returns the linear SNR in TTI `tti`, averaged over fading.
    pub fn mean_snr(&mut self, tti: u64) -> f32 {
        self.level.at(tti)
    }

    /// Returns the first TTI in which the user has no channel, because a recording has ended. Returns `u64::MAX` if
    /// there is none.
    pub fn ends(&self) -> u64 {
        self.recorded().map_or(u64::MAX, Recorded::ends)
    }

    /// Returns the recording, or `None` if the channel is not recorded.
    pub fn recorded(&self) -> Option<&Recorded> {
        if let Level::Recorded(recorded) = &self.level { Some(recorded) } else { None }
    }

    /// Returns the user's position in TTI `tti`, or `None` if the channel has no positions. `tti` must not
    /// decrease between calls.
    pub fn place(&mut self, tti: u64) -> Option<Point> {
        if let Level::Placed { journey, .. } = &mut self.level { Some(journey.place(tti)) } else { None }
    }
}

impl Level {
    /// Returns the linear SNR in TTI `tti`, averaged over fading.
    fn at(&mut self, tti: u64) -> f32 {
        match self {
            Self::Constant(snr) => *snr,
            Self::Placed { at_rest, journey } => 1.0 / at_rest.unwrap_or_else(|| journey.disturbance(tti)),
            Self::Recorded(recorded) => recorded.snr(tti),
        }
    }
}
