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
    /// Position and movement of a user.
    ///
    /// Each phone of a group gets an individual position, unless `position_m` is set.
    pub struct Place {
        /// Distance from the Node B in the middle, in a random direction. Default: unless `position_m` is
        /// set, a random position, uniform in the area of all served cells.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub distance: Option<Distance>,
        /// Position in metres east and north of the Node B in the middle; not with `distance`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub position_m: Option<[f64; 2]>,
        /// Speed of the user, which determines the rate of fading and, unless the user stays, its
        /// movement.
        pub speed: Speed = Speed::from_kmh(3),
        /// Movement of the user: none, on a circle, or straight.
        pub movement: Movement,
        /// Initial direction of a user who moves `straight`, in degrees from east to north. Default: random.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub heading_deg: Option<f64>,
        /// Power-delay profile by its name: delays and mean powers of the paths.
        pub profile: Profile = Profile::PedestrianA,
        /// User-defined paths, which replace the named profile.
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
            "`distance` and `position_m` cannot be combined; leave one of them out".to_owned()
        });
        let degrees = self.heading_deg.unwrap_or_default();
        check.require(degrees.abs() <= 360.0, "heading_deg", || {
            format!("{degrees} is out of range; expected -360 to 360")
        });
        let goes = self.heading_deg.is_none() || self.movement == Movement::Straight;
        check.require(goes, "heading_deg", || {
            "only users who move straight have a direction; expected `movement = \"straight\"`".to_owned()
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
            format!("{distance} is outside the cell, whose radius is {radius}; expected at most that")
        });
        check.require(self.position_m.is_none_or(|at| cell.area(served).contains(at)), "position_m", || {
            format!("the position is outside the cell, whose radius is {radius}; expected one inside")
        });
    }
}

impl Place {
    pub fn journey(
        &self,
        cell: &Cell,
        served: usize,
        id: u64,
        streams: &Streams,
        numerology: Numerology,
    ) -> Journey {
        let place = self.position_m.unwrap_or_else(|| {
            let mut stream = streams.stream("user", id, "place");
            cell.area(served).random_place(self.distance.map(Distance::as_metres), &mut stream)
        });
        let heading = self.heading_deg.map(f64::to_radians);
        let trip = Trip { place, movement: self.movement, speed: self.speed, heading, served, numerology };
        Journey::new(cell, trip, id, streams)
    }

    pub fn build(
        &self,
        cell: &Cell,
        served: usize,
        id: u64,
        streams: &Streams,
        numerology: Numerology,
    ) -> Placed {
        let paths = Paths::new(self.profile, &self.taps, self.speed, id, streams, numerology);
        let journey = self.journey(cell, served, id, streams, numerology);
        Placed { rake: cell.rake(), paths, at_rest: journey.at_rest(), journey: Box::new(journey) }
    }
}

#[derive(Debug)]
pub struct Placed {
    rake: Rake,
    paths: Paths,
    /// Power of other cells and noise, divided by the power of the serving site; `None` if the user moves.
    at_rest: Option<f32>,
    journey: Box<Journey>,
}

impl Placed {
    pub fn place(&mut self, tti: u64) -> Point {
        self.journey.place(tti)
    }

    pub fn journey(&mut self) -> Option<&mut Journey> {
        self.at_rest.is_none().then_some(&mut *self.journey)
    }

    pub fn serving(&self) -> usize {
        self.journey.serving()
    }

    pub fn snr(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        let disturbance = self.at_rest.unwrap_or_else(|| self.journey.disturbance(tti));
        let rake = self.rake;
        self.paths.gains(sequence, tti, |gains| rake.snr(gains.iter().copied(), disturbance))
    }

    pub fn ahead(&mut self, sequence: &JakesSequence, tti: u64) -> Option<[f32; BLOCK]> {
        let disturbance = self.at_rest?;
        let rake = self.rake;
        Some(self.paths.blocks(sequence, tti, |gains| rake.snrs(gains, disturbance)))
    }

    /// See [`Channel::peak`](super::Channel::peak).
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

    /// SNRs computed in advance are bit for bit equal to SNRs computed in each TTI.
    #[test]
    fn snrs_computed_in_advance_are_equal() {
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

    /// Even near the Node B, where the user's own paths interfere more than other cells.
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
