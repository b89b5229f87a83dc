use nodeb_base::params;
use std::f64::consts::PI;

use nodeb_base::check::{Check, Checked};
use nodeb_base::registry;
use nodeb_base::units::Probability;

use super::mobility::Point;

registry! {
    /// Interference from other cells, as a scenario names it.
    "interference" InterferenceSpec = Hexagonal {
        /// Other Node Bs on a hexagonal grid around this one.
        "hexagonal" => Hexagonal(Hexagonal),
        /// Interference of a fixed power, the same at every position.
        "fixed" => Fixed(FixedLevel),
    }
}

impl InterferenceSpec {
    pub fn has_sites(&self) -> bool {
        matches!(self, Self::Hexagonal(_))
    }
}

params! {
    /// Parameters of interference from Node Bs on a hexagonal grid around the cell.
    pub struct Hexagonal {
        /// Number of rings of sites around this one, at most 10: one ring has 6 sites, two rings
        /// have 18 together.
        pub rings: u32 = 1,
        /// Share of its power that each other Node B transmits.
        pub load: Probability = Probability(1.0),
    }
}

impl Checked for Hexagonal {
    fn check(&self, check: &mut Check) {
        check.at_most("rings", self.rings, 10);
    }
}

impl Hexagonal {
    /// In metres, the own cell first; `radius` is the distance from a cell's centre to its corners.
    pub fn sites(&self, radius: f64) -> Vec<Point> {
        let apart = radius * libm::sqrt(3.0);
        let mut sites = vec![[0.0; 2]];
        let directions: [_; 7] = std::array::from_fn(|side| libm::sincos(side as f64 * PI / 3.0));
        for ring in (1..=self.rings).map(f64::from) {
            let corners = directions.map(|(sin, cos)| [cos * apart * ring, sin * apart * ring]);
            for side in corners.windows(2) {
                let (from, to) = (side[0], side[1]);
                for way in (0..ring as u32).map(|step| f64::from(step) / ring) {
                    sites.push([0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * way));
                }
            }
        }
        sites
    }
}

params! {
    /// Parameters of interference with a fixed power, the same at every position.
    pub struct FixedLevel {
        /// Power received from all other cells together, in dBm.
        pub level_dbm: f64 = -70.0,
    }
}

impl Checked for FixedLevel {
    fn check(&self, check: &mut Check) {
        check.range("level_dbm", self.level_dbm, -200.0..=50.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::mobility::distance;
    use super::*;

    #[test]
    fn sites_form_hexagons() {
        let sites = Hexagonal { rings: 2, ..Hexagonal::default() }.sites(1_000.0);
        assert_eq!(sites.len(), 19);
        let apart = 1_000.0 * 3f64.sqrt();
        // Neighbouring sites are sqrt(3) cell radii apart. The central site and the sites of the
        // first ring have 6 such neighbours, the outer sites at least 3.
        for (i, site) in sites.iter().enumerate() {
            let near: Vec<f64> = sites.iter().map(|other| distance(*site, *other)).collect();
            let neighbours = near.iter().filter(|d| (**d - apart).abs() < 1e-6).count();
            assert!(near.iter().all(|d| *d < 1e-6 || *d > apart - 1e-6));
            assert!(if i < 7 { neighbours == 6 } else { neighbours >= 3 }, "site {i}: {neighbours}");
        }
    }
}
