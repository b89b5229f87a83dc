use std::f64::consts::TAU;

use nodeb_base::rng::{Stream, uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Movement of a user, whose speed determines the rate of fading even if the user stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Movement {
    /// The user does not move: path loss and shadowing are constant, as in a session that is short
    /// compared with their changes.
    #[default]
    Stays,
    /// The user moves around the Node B in the middle, at a constant distance; shadowing changes.
    Circle,
    /// The user moves straight, and at the edge of its area turns back inside at a random angle.
    Straight,
}

/// Metres east and north of the Node B in the middle.
pub type Point = [f64; 2];

pub fn distance(a: Point, b: Point) -> f64 {
    libm::hypot(a[0] - b[0], a[1] - b[1])
}

fn polar(radius: f64, angle: f64) -> Point {
    let (sin, cos) = libm::sincos(angle);
    [radius * cos, radius * sin]
}

/// All positions within `radius` metres of a site that serves users.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// At least one; the first is the origin.
    pub sites: Vec<Point>,
    pub radius: f64,
}

impl Area {
    pub fn contains(&self, place: Point) -> bool {
        self.sites.iter().any(|site| distance(place, *site) <= self.radius)
    }

    fn nearest(&self, place: Point) -> Point {
        let mut sites = self.sites.iter().copied();
        let first = sites.next().unwrap_or_default();
        sites.fold(
            first,
            |best, site| {
                if distance(place, site) < distance(place, best) { site } else { best }
            },
        )
    }

    /// At `metres` from the first site in a random direction, or uniform in the area.
    pub fn random_place(&self, metres: Option<f64>, stream: &mut Stream) -> Point {
        loop {
            let (at, angle) = (uniform(stream), TAU * uniform(stream));
            let from_site = polar(metres.unwrap_or(self.radius * libm::sqrt(at)), angle);
            if metres.is_some() || self.sites.len() == 1 {
                return from_site;
            }
            let which = (uniform(stream) * self.sites.len() as f64) as usize;
            let site = self.sites[which.min(self.sites.len() - 1)];
            let place = [site[0] + from_site[0], site[1] + from_site[1]];
            // The discs around the sites overlap. A position in `n` discs is drawn `n` times as
            // often as others, so it is accepted with probability `1 / n`.
            let discs = self.sites.iter().filter(|site| distance(place, **site) <= self.radius).count();
            if uniform(stream) * discs.max(1) as f64 <= 1.0 {
                return place;
            }
        }
    }
}

#[derive(Debug)]
pub struct Walk {
    movement: Movement,
    place: Point,
    /// Determines the circle of [`Movement::Circle`].
    start: Point,
    heading: f64,
    area: Area,
    stream: Stream,
}

impl Walk {
    /// `heading` is in radians from east to north, random if `None`.
    pub fn new(
        movement: Movement,
        place: Point,
        heading: Option<f64>,
        area: Area,
        mut stream: Stream,
    ) -> Self {
        let random = TAU * uniform(&mut stream);
        Self { movement, place, start: place, heading: heading.unwrap_or(random), area, stream }
    }

    pub fn place(&self) -> Point {
        self.place
    }

    /// `way` is the length in metres of the path from the start of the run; a straight user's position equals
    /// that of single steps bit for bit, that on a circle is computed from `way`.
    pub fn leap(&mut self, metres: f64, steps: u64, way: f64) {
        match self.movement {
            Movement::Stays => {}
            Movement::Circle => {
                let from_centre = distance(self.start, [0.0; 2]);
                let angle = libm::atan2(self.start[1], self.start[0]);
                self.place = polar(from_centre, angle + way / from_centre.max(1.0));
            }
            Movement::Straight => {
                let mut left = steps;
                while left > 0 {
                    let clear = self.clear_steps(metres).min(left);
                    let step = polar(metres, self.heading);
                    for _ in 0..clear {
                        self.place = [self.place[0] + step[0], self.place[1] + step[1]];
                    }
                    if clear == 0 {
                        self.advance(metres);
                    }
                    left -= clear.max(1);
                }
            }
        }
    }

    /// Steps that the user can certainly take in any direction within the area; more may be possible.
    fn clear_steps(&self, metres: f64) -> u64 {
        let site = self.area.nearest(self.place);
        // The result is one step less than would fit, so that rounding errors cannot lead out of
        // the area.
        ((self.area.radius - distance(self.place, site)) / metres - 1.0) as u64
    }

    /// A user who moves straight and would leave the area turns instead, without moving.
    pub fn advance(&mut self, metres: f64) {
        match self.movement {
            Movement::Stays => {}
            Movement::Circle => {
                let from_centre = distance(self.place, [0.0; 2]);
                let angle = libm::atan2(self.place[1], self.place[0]);
                self.place = polar(from_centre, angle + metres / from_centre.max(1.0));
            }
            Movement::Straight => {
                let step = polar(metres, self.heading);
                let next = [self.place[0] + step[0], self.place[1] + step[1]];
                if self.area.contains(next) {
                    self.place = next;
                } else {
                    // The new direction is within 60 degrees of the direction to the nearest site,
                    // so that the next step remains inside the area.
                    let site = self.area.nearest(self.place);
                    let inward = libm::atan2(-(self.place[1] - site[1]), -(self.place[0] - site[0]));
                    self.heading = inward + TAU / 6.0 * (2.0 * uniform(&mut self.stream) - 1.0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::Streams;

    fn stream(purpose: &str) -> Stream {
        Streams::new(2, 0).stream("test", 0, purpose)
    }

    #[test]
    fn random_places_fill_the_disc_evenly() {
        let mut draws = stream("places");
        let n = 40_000;
        let disc = Area { sites: vec![[0.0; 2]], radius: 1_000.0 };
        let inner =
            (0..n).filter(|_| distance(disc.random_place(None, &mut draws), [0.0; 2]) < 500.0).count();
        let sigma = (f64::from(n) * 0.25 * 0.75).sqrt();
        assert!((inner as f64 - f64::from(n) * 0.25).abs() < 4.0 * sigma, "{inner}");
        let given = disc.random_place(Some(450.0), &mut draws);
        assert!((distance(given, [0.0; 2]) - 450.0).abs() < 1e-9);
    }

    /// Two discs of radius `r` whose centres are `r` apart overlap in `(2 pi / 3 - sqrt(3) / 2) r^2`.
    #[test]
    fn random_places_fill_two_discs_evenly() {
        let area = Area { sites: vec![[0.0; 2], [1_000.0, 0.0]], radius: 1_000.0 };
        let mut draws = stream("two discs");
        let n = 40_000;
        let in_both = |place: Point| area.sites.iter().all(|site| distance(place, *site) <= 1_000.0);
        let found = (0..n).filter(|_| in_both(area.random_place(None, &mut draws))).count() as f64;
        let shared = TAU / 3.0 - libm::sqrt(3.0) / 2.0;
        let p = shared / (TAU - shared);
        let sigma = (f64::from(n) * p * (1.0 - p)).sqrt();
        assert!((found - f64::from(n) * p).abs() < 4.0 * sigma, "{found}");
    }

    #[test]
    fn a_straight_path_crosses_from_one_disc_into_the_next() {
        let area = Area { sites: vec![[0.0; 2], [1_700.0, 0.0]], radius: 1_000.0 };
        let start = [300.0, 0.0];
        let mut walk = Walk::new(Movement::Straight, start, Some(0.0), area.clone(), stream("way"));
        (0..1_200).for_each(|_| walk.advance(2.0));
        assert!((walk.place()[0] - 2_700.0).abs() < 1e-6);
        for _ in 0..5_000 {
            walk.advance(2.0);
            assert!(area.contains(walk.place()));
        }
    }

    #[test]
    fn movements_stay_on_their_paths() {
        let disc = Area { sites: vec![[0.0; 2]], radius: 1_000.0 };
        let go = |movement| {
            let mut walk = Walk::new(movement, [300.0, 400.0], None, disc.clone(), stream("way"));
            let mut far: f64 = 0.0;
            for _ in 0..10_000 {
                let before = walk.place();
                walk.advance(2.0);
                assert!(distance(walk.place(), before) < 2.0 + 1e-9);
                far = far.max(distance(walk.place(), [0.0; 2]));
            }
            (distance(walk.place(), [0.0; 2]), far)
        };
        assert_eq!(go(Movement::Stays), (500.0, 500.0));
        let (end, far) = go(Movement::Circle);
        assert!((end - 500.0).abs() < 1e-6 && (far - 500.0).abs() < 1e-6);
        let (_, far) = go(Movement::Straight);
        assert!(far <= 1_000.0 && far > 900.0, "{far}");
    }
}
