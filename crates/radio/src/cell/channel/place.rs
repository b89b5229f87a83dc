//! A user's place in the cell, and the SNR that follows from it.

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::params;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Distance, Speed};

use super::super::doppler::JakesSequence;
use super::super::mobility::{Movement, Point};
use super::super::plan::{Cell, Journey, Rake, Trip};
use super::super::profile::{BLOCK, Paths, Profile, Tap, check_taps};
use super::fading::{BY_TAPS, check_speed};
use super::{ChannelFacts, ChannelParams};
use crate::numerology::Numerology;

params! {
    /// Where a user is and how it moves.
    ///
    /// Each phone of a group gets a place of its own, unless `position_m` gives one.
    pub struct Place {
        /// Distance from the Node B, in a random direction. Absent: anywhere in the cell.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub distance: Option<Distance>,
        /// Place in metres east and north of the Node B instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub position_m: Option<[f64; 2]>,
        /// Speed.
        pub speed: Speed = Speed::from_kmh(3),
        /// How the user moves on.
        pub movement: Movement,
        /// Direction in which a user sets off who goes `straight`, in degrees from east to north; random
        /// when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub heading_deg: Option<f64>,
        /// Paths, by name.
        pub profile: Profile = Profile::PedestrianA,
        /// Paths of the user's own instead.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub taps: Vec<Tap>,
    }
}

impl Checked for Place {
    fn check(&self, check: &mut Check) {
        check_speed(self.speed, check);
        check_taps(&self.taps, check);
        check.idle(!self.taps.is_empty(), &keys!(self; profile), BY_TAPS);
        check.require(self.distance.is_none() || self.position_m.is_none(), "position_m", || {
            "a place says the distance; leave out one of `distance` and `position_m`".to_owned()
        });
        let degrees = self.heading_deg.unwrap_or_default();
        check.require(degrees.abs() <= 360.0, "heading_deg", || {
            format!("{degrees} degrees are no direction; expected -360 to 360")
        });
        let goes = self.heading_deg.is_none() || self.movement == Movement::Straight;
        check.require(goes, "heading_deg", || {
            "only a user who goes straight has a direction; expected `movement = \"straight\"`".to_owned()
        });
    }
}

impl ChannelParams for Place {
    fn facts(&self) -> ChannelFacts {
        let moves = self.movement != Movement::Stays;
        ChannelFacts { has_place: true, moves, fades: true, ..ChannelFacts::default() }
    }

    fn check_on(&self, cell: &Cell, served: usize, check: &mut Check) {
        let inside = |metres: f64| metres <= cell.radius.as_metres();
        let radius = cell.radius;
        check.require(self.distance.is_none_or(|d| inside(d.as_metres())), "distance", || {
            let distance = self.distance.unwrap_or_default();
            format!("{distance} is outside the cell, whose radius is {radius}; expected a place in it")
        });
        check.require(self.position_m.is_none_or(|at| cell.area(served).contains(at)), "position_m", || {
            format!("the place is outside the cell, whose radius is {radius}; expected one in it")
        });
    }
}

impl Place {
    /// The channel of user number `id`, whom the first `served` sites serve.
    pub fn build(
        &self,
        cell: &Cell,
        served: usize,
        id: u64,
        streams: &Streams,
        numerology: Numerology,
    ) -> Placed {
        let place = self.position_m.unwrap_or_else(|| {
            let mut stream = streams.stream("user", id, "place");
            cell.area(served).random_place(self.distance.map(Distance::as_metres), &mut stream)
        });
        let paths = Paths::new(self.profile, &self.taps, self.speed, id, streams, numerology);
        let heading = self.heading_deg.map(f64::to_radians);
        let trip = Trip { place, movement: self.movement, speed: self.speed, heading, served, numerology };
        let journey = Journey::new(cell, trip, id, streams);
        Placed { rake: cell.rake(), paths, at_rest: journey.at_rest(), journey: Box::new(journey) }
    }
}

/// A user in the cell.
#[derive(Debug)]
pub struct Placed {
    rake: Rake,
    paths: Paths,
    /// The disturbance, if it does not change.
    at_rest: Option<f32>,
    journey: Box<Journey>,
}

impl Placed {
    /// Where the user is in TTI number `tti`, at least the latest asked for.
    pub fn place(&mut self, tti: u64) -> Point {
        self.journey.place(tti)
    }

    /// The way, of a user who is on one.
    pub fn journey(&mut self) -> Option<&mut Journey> {
        self.at_rest.is_none().then_some(&mut *self.journey)
    }

    /// The site that serves the user.
    pub fn serving(&self) -> usize {
        self.journey.serving()
    }

    /// Linear SNR per chip in TTI number `tti`.
    pub fn snr(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        let disturbance = self.at_rest.unwrap_or_else(|| self.journey.disturbance(tti));
        let rake = self.rake;
        self.paths.gains(sequence, tti, |gains| rake.snr(gains.iter().copied(), disturbance))
    }

    /// The same in TTI number `tti` and those after it, if the user stays.
    pub fn ahead(&mut self, sequence: &JakesSequence, tti: u64) -> Option<[f32; BLOCK]> {
        let disturbance = self.at_rest?;
        let rake = self.rake;
        Some(self.paths.blocks(sequence, tti, |gains| rake.snrs(gains, disturbance)))
    }

    /// An SNR that is exceeded in no TTI from number `tti` to the one that comes with it, if the user stays.
    pub fn peak(&mut self, sequence: &JakesSequence, tti: u64) -> Option<(f32, u64)> {
        let disturbance = self.at_rest?;
        let rake = self.rake;
        self.paths.peaks(sequence, tti, |gains| rake.highest_snr(gains, disturbance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::units::Probability;

    /// What is worked out ahead is what one looks up TTI by TTI, to the last bit.
    #[test]
    fn working_ahead_changes_nothing() {
        let (cell, streams) = (Cell::default(), Streams::new(5, 0));
        let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
        for kmh in [0, 3, 120] {
            let place = Place { speed: Speed::from_kmh(kmh), ..Place::default() };
            let [mut ahead, mut single] =
                [0, 0].map(|id| place.build(&cell, 1, id, &streams, Numerology::HSDPA));
            for first in (0..60_000).step_by(BLOCK).chain([8, 0]) {
                let found = ahead.ahead(&sequence, first).expect("the user stays");
                for (tti, found) in (first..).zip(found) {
                    let expected = single.snr(&sequence, tti);
                    assert_eq!(found.to_bits(), expected.to_bits(), "{kmh} km/h, TTI {tti}");
                }
            }
        }
    }

    /// However near the Node B, where paths disturb each other more than other cells do.
    #[test]
    fn no_snr_is_above_its_peak() {
        let streams = Streams::new(5, 0);
        let sequence = JakesSequence::new(&mut streams.stream("cell", 0, "fading"));
        let shared = Some(Probability(0.4));
        for (metres, orthogonality) in [(900, None), (900, shared), (20, None), (20, shared)] {
            let cell = Cell { orthogonality, ..Cell::default() };
            for profile in [Profile::Flat, Profile::PedestrianA, Profile::VehicularA] {
                let distance = Some(Distance::from_metres(metres));
                let place = Place { distance, profile, ..Place::default() };
                let mut user = place.build(&cell, 1, 0, &streams, Numerology::HSDPA);
                let mut first = 0;
                while first < 100_000 {
                    let (peak, until) = user.peak(&sequence, first).expect("the user stays");
                    for tti in first..until {
                        assert!(user.snr(&sequence, tti) <= peak, "{metres} m, {profile:?}, TTI {tti}");
                    }
                    first = until;
                }
            }
        }
    }
}
