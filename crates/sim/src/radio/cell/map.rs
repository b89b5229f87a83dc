//! A map of the cell: the mean SNR at places on a square grid.

use super::mobility::{Point, distance};
use super::plan::Cell;
use super::shadowing::{Shadowing, Shadows};
use crate::rng::Streams;

/// Mean SNR over the cell.
#[derive(Clone, Debug)]
pub struct Map {
    /// Places along each axis, in metres from the Node B; the same east and north.
    pub axis_m: Vec<f64>,
    /// SNR in dB on HS-PDSCH before despreading, row by row from the south; NaN outside the cell.
    pub snr_db: Vec<f64>,
    /// The Node B.
    pub sites_m: Vec<Point>,
}

impl Map {
    /// The map with `side` places along each axis, at least 2: of one path, without shadowing, in the mean
    /// over fading.
    pub fn new(cell: &Cell, side: usize) -> Self {
        let radius = cell.radius.as_metres();
        let step = 2.0 * radius / (side.max(2) - 1) as f64;
        let axis_m: Vec<f64> = (0..side.max(2)).map(|i| step * i as f64 - radius).collect();
        let sites = cell.sites();
        let no_shadows = Shadowing { sigma_db: 0.0, ..cell.shadowing.clone() };
        let shadows = Shadows::new(&no_shadows, sites.len(), Streams::new(0, 0).stream("cell", 0, "map"));
        let rake = cell.rake();
        let snr_db = |place: Point| {
            if distance(place, [0.0; 2]) > radius {
                return f64::NAN;
            }
            let disturbance = cell.disturbance(&sites, place, &shadows) as f32;
            let snr = rake.snr(std::iter::once(1.0), disturbance);
            10.0 * libm::log10(f64::from(snr))
        };
        let places = axis_m.iter().flat_map(|y| axis_m.iter().map(|x| [*x, *y]));
        Self { snr_db: places.map(snr_db).collect(), sites_m: sites[..1].to_vec(), axis_m }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_falls_off_from_the_node_b_and_ends_at_the_border() {
        let map = Map::new(&Cell::default(), 21);
        let row = |y: usize| &map.snr_db[y * 21..][..21];
        let east = &row(10)[10..];
        assert!(east.windows(2).all(|pair| pair[1] < pair[0]), "{east:?}");
        assert!(row(0)[0].is_nan() && row(0)[10].is_finite());
        // At the middle of an edge of the hexagon a neighbour is as strong as the own cell; 0.866 km
        // lie between the places 18 and 19.
        let edge = Map::new(&Cell { noise_dbm: -200.0, ..Cell::default() }, 21);
        let there = edge.snr_db[10 * 21 + 18..][..2].to_vec();
        assert!(there[0] > -3.0 && there[1] < -1.5, "{there:?}");
    }
}
