//! The Node B is surrounded by two rings with 18 other sites. Path loss is a power of the distance; shadowing
//! is log-normal with a part common to all sites (3GPP TR 25.942, 5.1: exponent 3.76, 10 dB, correlation
//! 0.5). Phones are uniform in the plane, belong to the site that they receive best, and do not move.
//! Distances are in cell radii.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::rng::{Stream, Streams, normal, uniform};

use super::super::link::Conditions;
use super::{OtherCellsLoad, Placement, Position};

params! {
    /// Map of hexagonal cells: path loss, shadowing, and the load of the other cells.
    pub struct InterferenceMap {
        /// Exponent with which the path loss grows with distance.
        pub exponent: f64 = 3.76,
        /// Standard deviation of the shadowing in dB.
        pub shadowing_db: f64 = 10.0,
        /// Correlation of the shadowing between two sites.
        pub correlation: f64 = 0.5,
        /// Load of the other cells, which determines the power of their interference.
        pub load: OtherCellsLoad,
    }
}

impl Checked for InterferenceMap {
    fn check(&self, check: &mut Check) {
        check.range("exponent", self.exponent, 2.0..=8.0);
        check.range("shadowing_db", self.shadowing_db, 0.0..=30.0);
        check.require((0.0..=1.0).contains(&self.correlation), "correlation", || {
            "expected a correlation from 0 to 1".to_owned()
        });
        check.within("load", |check| self.load.check(check));
    }
}

/// The square root of 3, in cell radii.
const SITE_DISTANCE: f64 = 1.732_050_807_568_877_2;
/// In x or y direction, in cell radii; the few phones beyond are neglected.
const FARTHEST: f64 = 2.0;
/// Between phone and antenna, in cell radii; shorter distances count as this one.
const NEAREST: f64 = 0.02;
/// In cell radii, where a phone without shadowing receives the configured energy per bit: the mean distance
/// from the centre of a disc of radius 1.
const REFERENCE_DISTANCE: f64 = 2.0 / 3.0;
/// Positions over which the rate search for other cells averages.
const TYPICAL_PLACES: usize = 24;
/// Positions drawn for a phone; the last one is used if another site is always better.
const MAX_DRAWS: u32 = 10_000;

/// The own site, then the two rings around it.
fn sites() -> impl Iterator<Item = Position> {
    let ring = |p: &(i32, i32)| p.0.abs().max(p.1.abs()).max((p.0 + p.1).abs());
    let all = (-2..=2).flat_map(|i| (-2..=2).map(move |j| (i, j)));
    let mut cells: Vec<(i32, i32)> = all.filter(|p| ring(p) <= 2).collect();
    cells.sort_by_key(ring);
    cells.into_iter().map(|(i, j)| Position {
        x: SITE_DISTANCE * (f64::from(i) + f64::from(j) / 2.0),
        y: SITE_DISTANCE * f64::from(j) * (SITE_DISTANCE / 2.0),
    })
}

impl InterferenceMap {
    pub fn place(&self, eb_n0: f64, stream: &mut Stream) -> Placement {
        for _ in 1..MAX_DRAWS {
            let (placement, is_best) = self.draw(eb_n0, stream);
            if is_best {
                return placement;
            }
        }
        self.draw(eb_n0, stream).0
    }

    /// True if the phone receives this Node B best.
    fn draw(&self, eb_n0: f64, stream: &mut Stream) -> (Placement, bool) {
        let position = Position { x: in_range(stream), y: in_range(stream) };
        let common = normal(stream);
        let gains: Vec<f64> = sites().map(|site| self.gain(position, site, common, normal(stream))).collect();
        let (own, others) = gains.split_first().expect("there is the own site");
        let conditions = Conditions {
            other_cells: others.iter().sum::<f64>() / own,
            eb_n0: eb_n0 * own * libm::pow(REFERENCE_DISTANCE, self.exponent),
        };
        (Placement { conditions, position: Some(position) }, others.iter().all(|other| other < own))
    }

    fn gain(&self, phone: Position, site: Position, common: f64, of_site: f64) -> f64 {
        let distance = libm::hypot(phone.x - site.x, phone.y - site.y).max(NEAREST);
        let shadowing = libm::sqrt(self.correlation) * common + libm::sqrt(1.0 - self.correlation) * of_site;
        libm::pow(10.0, self.shadowing_db * shadowing / 10.0) * libm::pow(distance, -self.exponent)
    }

    /// The same in every replication.
    pub fn typical_conditions(&self, eb_n0: f64) -> Vec<Conditions> {
        let mut stream = Streams::new(0, 0).stream("cell", 0, "typical positions");
        (0..TYPICAL_PLACES).map(|_| self.place(eb_n0, &mut stream).conditions).collect()
    }

    /// Power from other cells divided by that from the own, over `n` phones: equivalent as
    /// [`super::mean::Mean`].
    pub fn mean_factor(&self, n: u32) -> f64 {
        let mut stream = Streams::new(0, 0).stream("cell", 0, "mean factor");
        (0..n).map(|_| self.place(1.0, &mut stream).conditions.other_cells).sum::<f64>() / f64::from(n)
    }
}

fn in_range(stream: &mut Stream) -> f64 {
    FARTHEST * (2.0 * uniform(stream) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Streams::new(1, 0).stream("test", 0, "map")
    }

    #[test]
    fn sites_are_two_rings_around_the_own_one() {
        let sites: Vec<Position> = sites().collect();
        assert_eq!(sites.len(), 19);
        assert_eq!(sites[0], Position { x: 0.0, y: 0.0 });
        let distance = |site: &Position| site.x.hypot(site.y) / SITE_DISTANCE;
        assert!(sites[1..7].iter().all(|site| (distance(site) - 1.0).abs() < 1e-12));
        assert!(sites[7..].iter().all(|site| distance(site) > 1.7 && distance(site) < 2.01));
    }

    /// Phones belong to the nearest site.
    #[test]
    fn without_shadowing_a_cell_is_a_hexagon() {
        let map = InterferenceMap { shadowing_db: 0.0, ..InterferenceMap::default() };
        let mut stream = stream();
        let (n, mut squares) = (20_000, 0.0);
        for _ in 0..n {
            let position = map.place(1.0, &mut stream).position.unwrap();
            let apothem = SITE_DISTANCE / 2.0;
            let across = |angle: f64| (position.x * angle.cos() + position.y * angle.sin()).abs();
            for third in 0..3 {
                let angle = f64::from(third) * std::f64::consts::FRAC_PI_3;
                assert!(across(angle) <= apothem + 1e-9, "{position:?}");
            }
            squares += position.x * position.x + position.y * position.y;
        }
        // The mean square distance in a hexagon of radius 1 is 5/12.
        assert!((squares / f64::from(n) - 5.0 / 12.0).abs() < 0.006, "{}", squares / f64::from(n));
    }

    /// At a corner two other sites are as near as the own.
    #[test]
    fn interference_increases_from_the_middle_to_the_corner() {
        let map = InterferenceMap { shadowing_db: 0.0, ..InterferenceMap::default() };
        let ratio = |x: f64, y: f64| {
            let gains: Vec<f64> = sites().map(|site| map.gain(Position { x, y }, site, 0.0, 0.0)).collect();
            gains[1..].iter().sum::<f64>() / gains[0]
        };
        assert!(ratio(0.05, 0.0) < 1e-3);
        let corner = ratio(0.0, 1.0);
        assert!(corner > 2.0 && corner < 2.6, "{corner}");
        assert!(ratio(0.0, 0.5) < corner);
    }

    #[test]
    fn phones_at_the_reference_distance_receive_the_mean_energy() {
        let map = InterferenceMap { shadowing_db: 0.0, ..InterferenceMap::default() };
        let mut stream = stream();
        for _ in 0..100 {
            let Placement { conditions, position } = map.place(10.0, &mut stream);
            let position = position.unwrap();
            let distance = position.x.hypot(position.y).max(NEAREST);
            let expected = 10.0 * (REFERENCE_DISTANCE / distance).powf(3.76);
            assert!((conditions.eb_n0 / expected - 1.0).abs() < 1e-9);
        }
    }

    /// 0.3 to 0.6 without shadowing, 0.4 to 0.9 with it, where a phone belongs to the best of several
    /// shadowed sites.
    #[test]
    fn the_mean_factor_is_in_the_range_of_textbooks() {
        let plain = InterferenceMap { shadowing_db: 0.0, ..InterferenceMap::default() }.mean_factor(4_000);
        assert!(plain > 0.3 && plain < 0.6, "{plain}");
        let shadowed = InterferenceMap::default().mean_factor(4_000);
        assert!(shadowed > 0.4 && shadowed < 0.9, "{shadowed}");
    }
}
