//! TR 38.901, 7.6.3.1 and 7.6.3.3: a link has a line of sight if `G + F(d) > 0`. `G` is a normal random
//! variable with a spatial correlation, and `F(d)` the normal quantile of the probability of line of sight.
//! Here `G` is a random process along the user's path: independent normal numbers at points of equal
//! distance, joined by arcs, so that it has unit variance everywhere. Its correlation decreases to 1/e at the
//! distance that the standard gives, but unlike an exponential correlation it is smooth: a user near the
//! limit does not change state with every step.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2};

use nodeb_base::rng::{Indexed, Streams, normal_of};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// Standard normal number that decides on the line of sight.
    pub level: f64,
    /// Uniform in [0, 1); they determine the effective environment height of UMa.
    pub ground: [f64; 2],
}

impl Sight {
    /// In line of sight exactly where at least half of the links are, with an effective environment height of
    /// 1 m.
    pub const MEDIAN: Self = Self { level: 0.0, ground: [0.0; 2] };

    pub fn is_clear(self, probability: f64) -> bool {
        0.5 * libm::erfc(self.level * FRAC_1_SQRT_2) <= probability
    }
}

/// Distance at which the correlation has decreased to 1/e, in distances between two points: solves `(1 - x /
/// 2) cos(pi x / 2) + sin(pi x / 2) / pi = 1/e`, the correlation averaged over positions.
const CORRELATION_SHARE: f64 = 0.938_668;

/// The first normal number is made from the uniform numbers 4 and 5; `phase` and `ground` use 0 to 2.
const FIRST_NORMAL: u64 = 2;

#[derive(Clone, Copy, Debug)]
struct Link {
    process: Indexed,
    /// Start of the user's path between two points of the process, 0 to 1.
    phase: f64,
    ground: [f64; 2],
}

impl Link {
    fn new(process: Indexed) -> Self {
        Self { process, phase: process.uniform(0), ground: [1, 2].map(|i| process.uniform(i)) }
    }

    /// `way` is in units of the distance between two points.
    fn at(&self, way: f64) -> Sight {
        let at = way + self.phase;
        let point = at.floor();
        let [from, to] = [0, 1].map(|i| normal_of(&self.process, FIRST_NORMAL + point as u64 + i));
        let (sin, cos) = libm::sincos(FRAC_PI_2 * (at - point));
        Sight { level: cos * from + sin * to, ground: self.ground }
    }
}

#[derive(Debug, Default)]
pub struct Sights {
    /// Empty if path loss does not depend on line of sight.
    links: Vec<Link>,
    /// Between two points of a process.
    spacing_m: f64,
    /// Length of the user's path from the start.
    way_m: f64,
}

impl Sights {
    pub fn new(correlation_m: Option<f64>, sites: usize, user: u64, streams: &Streams) -> Self {
        let Some(correlation_m) = correlation_m else { return Self::default() };
        let link = |site| Link::new(streams.indexed("user", user, &format!("sight {site}")));
        let links = (0..sites).map(link).collect();
        Self { links, spacing_m: correlation_m / CORRELATION_SHARE, way_m: 0.0 }
    }

    pub fn move_to(&mut self, way_m: f64) {
        self.way_m = way_m;
    }

    /// Returns [`Sight::MEDIAN`] if path loss does not depend on line of sight.
    pub fn of(&self, site: usize) -> Sight {
        self.links.get(site).map_or(Sight::MEDIAN, |link| link.at(self.way_m / self.spacing_m))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rho(x: f64) -> f64 {
        let angle = FRAC_PI_2 * x;
        (1.0 - x / 2.0) * angle.cos() + angle.sin() / std::f64::consts::PI
    }

    #[test]
    fn the_correlation_is_1_over_e_at_its_distance() {
        assert!((rho(CORRELATION_SHARE) - (-1f64).exp()).abs() < 1e-6, "{}", rho(CORRELATION_SHARE));
    }

    #[test]
    fn levels_are_normal_and_correlated_along_the_path() {
        let (n, streams) = (40_000, Streams::new(1, 0));
        let mut sums = [0.0; 5];
        for user in 0..n {
            let mut sights = Sights::new(Some(50.0), 2, user, &streams);
            let levels = [0.0, 20.0, 50.0, 130.0].map(|way| {
                sights.move_to(way);
                sights.of(0).level
            });
            let [start, near, far, apart] = levels;
            let other = sights.of(1).level;
            for (sum, found) in
                sums.iter_mut().zip([start * start, start * near, start * far, start * apart, apart * other])
            {
                *sum += found / n as f64;
            }
        }
        let share = 0.4 * CORRELATION_SHARE;
        // A mean of `n` products of correlated normal numbers has a standard deviation of at most
        // sqrt(2 / n).
        let tolerance = 4.0 * (2.0 / n as f64).sqrt();
        for (found, expected) in sums.into_iter().zip([1.0, rho(share), (-1f64).exp(), 0.0, 0.0]) {
            assert!((found - expected).abs() < tolerance, "{found} {expected}");
        }
    }

    #[test]
    fn the_share_of_clear_links_is_their_probability() {
        let (n, streams) = (40_000, Streams::new(2, 0));
        for probability in [0.02, 0.5, 0.9, 1.0] {
            let clear = |user| Sights::new(Some(50.0), 1, user, &streams).of(0).is_clear(probability);
            let share = (0..n).filter(|user| clear(*user)).count() as f64 / n as f64;
            let tolerance = 4.0 * (probability * (1.0 - probability) / n as f64).sqrt();
            assert!((share - probability).abs() <= tolerance, "{share} {probability}");
        }
    }

    /// Between two points 53 m apart a process crosses a level at most twice.
    #[test]
    fn a_user_near_the_limit_does_not_flicker() {
        let streams = Streams::new(3, 0);
        for user in 0..200 {
            let mut sights = Sights::new(Some(50.0), 1, user, &streams);
            let mut changes = |steps: u32| {
                let states: Vec<bool> = (0..=steps)
                    .map(|step| {
                        sights.move_to(100.0 * f64::from(step) / f64::from(steps));
                        sights.of(0).is_clear(0.5)
                    })
                    .collect();
                states.windows(2).filter(|pair| pair[0] != pair[1]).count()
            };
            let [coarse, fine] = [100, 10_000].map(&mut changes);
            assert!(coarse == fine && fine <= 3, "user {user}: {coarse} {fine}");
        }
    }
}
