//! Phones of a cell by their distance from the Node B.

use crate::answer::{Cell, Rows};
use crate::digits::{Unit, general, plain, scale_of};
use crate::metrics::{Tables, is_mixed};
use crate::stats::mean;

pub const RINGS: usize = 5;

/// Phones of a cell grouped by their distance from the Node B.
#[derive(Clone, Debug, PartialEq)]
pub struct Rings {
    pub distance_m: Vec<f64>,
    /// Distances that separate the rings; the first is 0.
    pub edges_m: [f64; RINGS + 1],
}

impl Rings {
    /// `None` without distances, with uploads, and with fewer than two phones per ring on average.
    pub fn new(tables: &dyn Tables) -> Option<Self> {
        if !tables.has("phones", "distance_m") || is_mixed(tables) {
            return None;
        }
        // Positions from a distance and an angle differ from it by rounding, perhaps at an edge.
        let rounded = |distance: &f64| (distance * 1e3).round_ties_even() / 1e3;
        let distance_m: Vec<f64> = tables.numbers("phones", "distance_m").iter().map(rounded).collect();
        let phones = distance_m.len();
        let is_each = phones == tables.numbers("flows", "run").len();
        if phones < 2 * RINGS || !is_each || distance_m.iter().any(|distance| !distance.is_finite()) {
            return None;
        }
        let last = rounded_up(distance_m.iter().copied().fold(0.0, f64::max));
        let step = last / RINGS as f64;
        let mut edges_m = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|ring| ring * step);
        edges_m[RINGS] = last;
        Some(Self { distance_m, edges_m })
    }

    /// Ring of each phone, from 0 for the one nearest to the Node B.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        let place = |distance: &f64| self.edges_m[1..RINGS].partition_point(|edge| edge <= distance);
        self.distance_m.iter().map(place)
    }

    fn each(&self, values: &[f64]) -> [Vec<f64>; RINGS] {
        let mut rings = [const { Vec::new() }; RINGS];
        for (ring, value) in self.places().zip(values) {
            rings[ring].push(*value);
        }
        rings
    }
}

/// Mean rates of the phones by ring; `None` without rings.
pub fn distance_table(tables: &dyn Tables) -> Option<Rows> {
    let rings = Rings::new(tables)?;
    let each = rings.each(&tables.numbers("flows", "received_bps"));
    let means = each.each_ref().map(|rates| mean(rates));
    let (unit, factor) = scale_of(means.iter().copied().fold(0.0, f64::max), "bit/s".into());
    let rate = |mean: f64| plain(mean, Unit::new("bit/s", false).with_scale(("", factor))).number;
    let edge = |edge: &f64| format!("{} m", general(*edge, 6));
    let row =
        |name: String, cells: Vec<String>| [vec![name], cells].concat().into_iter().map(Cell::Text).collect();
    let edges = rings.edges_m[1..].iter().map(edge);
    Some(Rows {
        head: [vec!["distance, up to".to_owned()], edges.collect()].concat(),
        rows: vec![
            row(format!("mean received, {unit}"), means.map(rate).to_vec()),
            row("phones".to_owned(), each.iter().map(|rates| rates.len().to_string()).collect()),
        ],
        ..Rows::default()
    })
}

/// Rounds up to a number of two digits that five rings divide evenly.
fn rounded_up(value: f64) -> f64 {
    let power = if value > 0.0 { 10_f64.powi(value.log10().floor() as i32) / 2.0 } else { 1.0 };
    (value / power).ceil() * power
}
