//! The mean over time comes from the user's channel: its position in the cell, a given mean, a constant or a
//! recording. Fading around it depends on frequency ([`Selective`]); constants and recordings are equal on
//! all groups. The SNR is that of a resource element: the power of the serving cell divided by noise and the
//! mean power of other cells, whose fading is not modelled. With several layers ([`layers`](super::layers)),
//! constants and recordings are the SNR of one layer that has all power, and layers do not disturb each
//! other.

use std::sync::Arc;

use nodeb_base::rng::Streams;
use nodeb_base::units::Speed;

use super::layers::{Antennas, Matrix};
use super::recorded::{Recorded, Steps};
use nodeb_air::cell::channel::{ChannelSpec, from_db};
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::mobility::Point;
use nodeb_air::cell::plan::{Cell, Journey};
use nodeb_air::cell::profile::{Profile, Tap};
use nodeb_air::cell::selective::{Response, Selective};
use nodeb_air::mac::band::{Band, Groups, Row};
use nodeb_air::numerology::Numerology;

#[derive(Clone, Copy, Debug)]
pub struct Carrier<'a> {
    pub cell: &'a Cell,
    pub band: &'a Band,
    pub numerology: Numerology,
    pub antennas: Antennas,
    /// `None` without recorded CQIs and bit rates.
    pub steps: Option<Steps>,
    /// Entity of the random streams: `user`, or `uplink` for fading independent of the downlink's.
    pub fading: &'static str,
}

/// Users with the same paths share one response, so that it stays in the CPU cache.
#[derive(Debug, Default)]
pub struct Responses(Vec<(Delays, Arc<Response>)>);

/// Delay in seconds and mean power of each path.
type Delays = Vec<(f64, f64)>;

impl Responses {
    fn of(&mut self, paths: Delays, band: &Band) -> Arc<Response> {
        if let Some((_, known)) = self.0.iter().find(|(others, _)| *others == paths) {
            return known.clone();
        }
        let response = Arc::new(Response::new(&paths, band));
        self.0.push((paths, response.clone()));
        response
    }
}

/// Linear, averaged over fading, equal on all groups.
#[derive(Debug)]
enum Level {
    Constant(f32),
    Placed { at_rest: Option<f32>, journey: Box<Journey> },
    Recorded(Box<Recorded>),
}

/// `None` for constant and recorded SNRs.
#[derive(Debug)]
enum Fading {
    None,
    OneAntenna(Box<Selective>),
    Antennas(Box<Matrix>),
}

#[derive(Debug)]
pub struct Channel {
    level: Level,
    fading: Fading,
}

/// More than the relative error of a gain between samples.
const ROUNDING: f32 = 1e-5;

impl Channel {
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
                let recorded = Recorded::new(params, carrier.steps, numerology.tti);
                Self { level: Level::Recorded(Box::new(recorded)), fading: Fading::None }
            }
        }
    }

    /// All layers have the same SNR.
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

    /// Upper bound of the SNRs of one layer; `None` unless it takes less time than these.
    pub fn peak(&mut self, sequence: &JakesSequence, tti: u64) -> Option<f32> {
        match &mut self.fading {
            Fading::OneAntenna(fading) => {
                Some(self.level.at(tti) * fading.peak(sequence, tti)? * (1.0 + ROUNDING))
            }
            Fading::None | Fading::Antennas(_) => None,
        }
    }

    /// The values of other groups have no meaning.
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

    pub fn mean_snr(&mut self, tti: u64) -> f32 {
        self.level.at(tti)
    }

    /// First TTI after the end of a recording, `u64::MAX` if there is none.
    pub fn ends(&self) -> u64 {
        self.recorded().map_or(u64::MAX, Recorded::ends)
    }

    pub fn recorded(&self) -> Option<&Recorded> {
        if let Level::Recorded(recorded) = &self.level { Some(recorded) } else { None }
    }

    /// `tti` must not decrease between calls.
    pub fn place(&mut self, tti: u64) -> Option<Point> {
        if let Level::Placed { journey, .. } = &mut self.level { Some(journey.place(tti)) } else { None }
    }
}

impl Level {
    /// Averaged over fading.
    fn at(&mut self, tti: u64) -> f32 {
        match self {
            Self::Constant(snr) => *snr,
            Self::Placed { at_rest, journey } => 1.0 / at_rest.unwrap_or_else(|| journey.disturbance(tti)),
            Self::Recorded(recorded) => recorded.snr(tti),
        }
    }
}
