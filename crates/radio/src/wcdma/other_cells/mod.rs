//! Other cells: the interference that they cause, and their rates.
//!
//! Other cells are not simulated. They are assumed to be like this one: each has a Poisson number
//! of connections with mean G, and uses the rate that the one-step search would select for this
//! number. The mean rate alpha of their connections depends on the interference between cells. This
//! interference depends on alpha, so alpha is computed self-consistently unless it is given.

pub mod map;
pub mod mean;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::registry;
use nodeb_base::rng::Streams;

use super::link::{Conditions, Link};
use super::rates::{self, Averaging};

registry! {
    /// Model of the interference from other cells, as a scenario names it.
    "other cells" OtherCellsSpec = Mean {
        /// Every phone receives the same mean power from other cells (`hossain`).
        "mean" => Mean(mean::Mean),
        /// Each phone has a position on a map of hexagonal cells, with path loss and shadowing.
        "map" => Map(map::Map),
    }
}

/// Position of a phone relative to its Node B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Distance east of the Node B, in cell radii.
    pub x: f64,
    /// Distance north of the Node B, in cell radii.
    pub y: f64,
}

/// Reception conditions of a phone, and its position if it is on a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Interference from other cells, and noise, at the phone's position.
    pub conditions: Conditions,
    /// Position of the phone on the map; `None` if there is no map.
    pub position: Option<Position>,
}

impl OtherCellsSpec {
    /// Returns the placement of phone number `user`, which is random if there is a map. `eb_n0` is
    /// the mean energy per bit over noise density, as a linear ratio.
    pub fn place(&self, eb_n0: f64, user: u64, streams: &Streams) -> Placement {
        match self {
            Self::Mean(params) => {
                Placement { conditions: Conditions { other_cells: params.factor, eb_n0 }, position: None }
            }
            Self::Map(params) => params.place(eb_n0, &mut streams.stream("user", user, "position")),
        }
    }

    /// Returns the parameters that determine the load of the other cells.
    pub fn load(&self) -> &Load {
        match self {
            Self::Mean(params) => &params.load,
            Self::Map(params) => &params.load,
        }
    }

    /// Returns the reception conditions of typical phones, over which the rate search for other
    /// cells averages.
    fn typical_conditions(&self, eb_n0: f64) -> Vec<Conditions> {
        match self {
            Self::Mean(params) => vec![Conditions { other_cells: params.factor, eb_n0 }],
            Self::Map(params) => params.typical_conditions(eb_n0),
        }
    }

    /// Returns alpha, the mean rate of connections in other cells in frames per slot. This is the
    /// configured value if there is one. Otherwise alpha is computed self-consistently for cells with
    /// the link `link` and the selectable rates `rates`.
    pub fn mean_rate(&self, link: &Link, rates: &[u32], eb_n0: f64) -> f64 {
        let load = self.load();
        if let Some(given) = load.mean_rate {
            return given;
        }
        let typical = self.typical_conditions(eb_n0);
        let highest = rates.iter().copied().max().unwrap_or(1);
        rates::self_consistent(f64::from(highest), |alpha| {
            let power = alpha * load.connections;
            rates::mean_rate(load.connections, load.averaging, |n| {
                rates::one_step(rates, n, |x| {
                    let failures =
                        typical.iter().map(|conditions| link.frame_failure(*conditions, f64::from(x), power));
                    1.0 - failures.sum::<f64>() / typical.len() as f64
                })
            })
        })
    }
}

params! {
    /// Load of the other cells, which determines the power of their interference.
    pub struct Load {
        /// Mean number of connections in each other cell (G in `hossain`).
        pub connections: f64 = 2.0,
        /// Mean rate of a connection in other cells, in frames per slot (alpha). Default: computed
        /// self-consistently from the rate selection.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mean_rate: Option<f64>,
        /// Method of averaging by which `mean_rate` is computed if it is not set.
        pub averaging: Averaging,
    }
}

/// Largest mean number of connections. A larger value is rejected, as it must be a typing error.
const MAX_CONNECTIONS: f64 = 1_000.0;
const HIGHEST_RATE: f64 = 1_000.0;

impl Checked for Load {
    fn check(&self, check: &mut Check) {
        check.range("connections", self.connections, 0.0..=MAX_CONNECTIONS);
        check.require(
            self.mean_rate.is_none_or(|rate| (0.0..=HIGHEST_RATE).contains(&rate)),
            "mean_rate",
            || {
                format!(
                    "expected a mean rate of 0 to {HIGHEST_RATE} frames per slot, or none to have it found"
                )
            },
        );
    }
}
