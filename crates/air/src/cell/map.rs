use nodeb_base::rng::Streams;

use super::mobility::Point;
use super::path_loss::sight::Sights;
use super::plan::Cell;
use super::shadowing::{Shadowing, Shadows};

/// At each point, the SNR of the site received best.
#[derive(Clone, Debug)]
pub struct Map {
    /// In metres from the Node B in the middle, the same along both axes.
    pub axis_m: Vec<f64>,
    /// Row by row from south to north, NaN outside the served cells: on `hsdpa` that of HS-PDSCH before
    /// despreading, on `lte` that of a resource element.
    pub snr_db: Vec<f64>,
    pub sites_m: Vec<Point>,
}

impl Map {
    /// The SNR is that of a channel with a single path, without shadowing and averaged over fading. A site is
    /// in line of sight of a point if at least half of the users at the point see the site.
    pub fn new(cell: &Cell, served: usize, side: usize) -> Self {
        let sites = cell.sites();
        let area = cell.area(served);
        let furthest = area.sites.iter().flatten().fold(0.0, |most: f64, at| most.max(at.abs()));
        let reach = furthest + area.radius;
        let step = 2.0 * reach / (side.max(2) - 1) as f64;
        let axis_m: Vec<f64> = (0..side.max(2)).map(|i| step * i as f64 - reach).collect();
        let no_shadows = Shadowing { sigma_db: Some(0.0), ..cell.shadowing.clone() };
        let shadows = Shadows::new(&no_shadows, sites.len(), Streams::new(0, 0).stream("cell", 0, "map"));
        let no_sights = Sights::default();
        let rake = cell.rake();
        let mut powers = Vec::with_capacity(sites.len());
        let mut snr_db = |place: Point| {
            if !area.contains(place) {
                return f64::NAN;
            }
            cell.powers(&sites, place, (&shadows, &no_sights), &mut powers);
            let towards = (0..area.sites.len()).map(|site| cell.disturbance(&powers, site));
            let disturbance = towards.fold(f64::INFINITY, f64::min) as f32;
            let snr = rake.snr(std::iter::once(1.0), disturbance);
            10.0 * libm::log10(f64::from(snr))
        };
        let places = axis_m.iter().flat_map(|y| axis_m.iter().map(|x| [*x, *y]));
        let snr_db = places.map(&mut snr_db).collect();
        Self { snr_db, sites_m: area.sites, axis_m }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snr_decreases_with_distance_and_ends_at_the_cell_edge() {
        let map = Map::new(&Cell::default(), 1, 21);
        let row = |y: usize| &map.snr_db[y * 21..][..21];
        let east = &row(10)[10..];
        assert!(east.windows(2).all(|pair| pair[1] < pair[0]), "{east:?}");
        assert!(row(0)[0].is_nan() && row(0)[10].is_finite());
        // At the middle of an edge of the hexagon a neighbour is received as strongly as the own
        // cell. This middle is 0.866 km from the site, between grid points 18 and 19.
        let edge = Map::new(&Cell { noise_dbm: -200.0, ..Cell::default() }, 1, 21);
        let there = edge.snr_db[10 * 21 + 18..][..2].to_vec();
        assert!(there[0] > -3.0 && there[1] < -1.5, "{there:?}");
    }

    #[test]
    fn the_map_of_two_cells_covers_both() {
        let cell = Cell { noise_dbm: -200.0, ..Cell::default() };
        let map = Map::new(&cell, 2, 201);
        assert_eq!(map.sites_m.len(), 2);
        let east = &map.snr_db[100 * 201..][..201];
        let at = |metres: f64| {
            let reach = map.axis_m[200];
            east[((metres + reach) / (2.0 * reach) * 200.0).round() as usize]
        };
        assert!(at(1_732.0) > 15.0 && at(0.0) > 15.0 && at(866.0) < 0.0 && at(-1_100.0).is_nan());
        assert!(at(2_700.0).is_finite());
    }
}
