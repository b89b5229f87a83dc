//! Where a user is: a place to begin, and a way from there.

use std::f64::consts::TAU;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rng::{Stream, uniform};

/// How a user moves. The speed sets the pace of fading in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Movement {
    /// Stays: path loss and shadowing do not change, as in a session short against them.
    #[default]
    Stays,
    /// Goes round the Node B: path loss does not change, shadowing does.
    Circle,
    /// Goes straight on, and at the cell's border back in at a random angle.
    Straight,
}

/// A place in metres from the Node B.
pub type Point = [f64; 2];

/// Distance between two places.
pub fn distance(a: Point, b: Point) -> f64 {
    libm::hypot(a[0] - b[0], a[1] - b[1])
}

fn polar(radius: f64, angle: f64) -> Point {
    let (sin, cos) = libm::sincos(angle);
    [radius * cos, radius * sin]
}

/// A place at `metres` from the Node B in a random direction; absent: anywhere in the disc of
/// `radius`, every square metre alike.
pub fn random_place(metres: Option<f64>, radius: f64, stream: &mut Stream) -> Point {
    let (at, angle) = (uniform(stream), TAU * uniform(stream));
    polar(metres.unwrap_or(radius * libm::sqrt(at)), angle)
}

/// A user on the way.
#[derive(Debug)]
pub struct Walk {
    movement: Movement,
    place: Point,
    heading: f64,
    radius: f64,
    stream: Stream,
}

impl Walk {
    /// A user who begins at `place` in a random direction, in a cell of `radius`.
    pub fn new(movement: Movement, place: Point, radius: f64, mut stream: Stream) -> Self {
        let heading = TAU * uniform(&mut stream);
        Self { movement, place, heading, radius, stream }
    }

    /// Where the user is.
    pub fn place(&self) -> Point {
        self.place
    }

    /// The user goes on by `metres`.
    pub fn advance(&mut self, metres: f64) {
        let from_centre = distance(self.place, [0.0; 2]);
        match self.movement {
            Movement::Stays => {}
            Movement::Circle => {
                let angle = libm::atan2(self.place[1], self.place[0]);
                self.place = polar(from_centre, angle + metres / from_centre.max(1.0));
            }
            Movement::Straight => {
                let step = polar(metres, self.heading);
                let next = [self.place[0] + step[0], self.place[1] + step[1]];
                if distance(next, [0.0; 2]) <= self.radius {
                    self.place = next;
                } else {
                    // Within 60 degrees of the way to the centre, so that the next step stays in.
                    let inward = libm::atan2(-self.place[1], -self.place[0]);
                    self.heading = inward + TAU / 6.0 * (2.0 * uniform(&mut self.stream) - 1.0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Streams;

    fn stream(purpose: &str) -> Stream {
        Streams::new(2, 0).stream("test", 0, purpose)
    }

    #[test]
    fn random_places_fill_the_disc_evenly() {
        let mut draws = stream("places");
        let n = 40_000;
        let inner =
            (0..n).filter(|_| distance(random_place(None, 1_000.0, &mut draws), [0.0; 2]) < 500.0).count();
        let sigma = (f64::from(n) * 0.25 * 0.75).sqrt();
        assert!((inner as f64 - f64::from(n) * 0.25).abs() < 4.0 * sigma, "{inner}");
        let given = random_place(Some(450.0), 1_000.0, &mut draws);
        assert!((distance(given, [0.0; 2]) - 450.0).abs() < 1e-9);
    }

    #[test]
    fn ways_keep_what_they_promise() {
        let go = |movement| {
            let mut walk = Walk::new(movement, [300.0, 400.0], 1_000.0, stream("way"));
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
