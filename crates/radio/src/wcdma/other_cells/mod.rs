//! Other cells are not simulated but assumed like this one: a Poisson number of connections with mean G, at
//! the rate of the one-step search. Their mean rate alpha depends on the interference, which depends on
//! alpha, so it is computed self-consistently unless given.

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
        "mean" => Mean(mean::MeanInterference),
        /// Each phone has a position on a map of hexagonal cells, with path loss and shadowing.
        "map" => Map(map::InterferenceMap),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// East of the Node B, in cell radii.
    pub x: f64,
    /// North of the Node B, in cell radii.
    pub y: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    pub conditions: Conditions,
    /// `None` without a map.
    pub position: Option<Position>,
}

impl OtherCellsSpec {
    /// Random on a map; `eb_n0` is linear.
    pub fn place(&self, eb_n0: f64, user: u64, streams: &Streams) -> Placement {
        match self {
            Self::Mean(params) => {
                Placement { conditions: Conditions { other_cells: params.factor, eb_n0 }, position: None }
            }
            Self::Map(params) => params.place(eb_n0, &mut streams.stream("user", user, "position")),
        }
    }

    pub fn load(&self) -> &OtherCellsLoad {
        match self {
            Self::Mean(params) => &params.load,
            Self::Map(params) => &params.load,
        }
    }

    /// For the rate search for other cells.
    fn typical_conditions(&self, eb_n0: f64) -> Vec<Conditions> {
        match self {
            Self::Mean(params) => vec![Conditions { other_cells: params.factor, eb_n0 }],
            Self::Map(params) => params.typical_conditions(eb_n0),
        }
    }

    /// Alpha in frames per slot: the configured value, else self-consistent.
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
    pub struct OtherCellsLoad {
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

/// A larger value must be a typing error.
const MAX_CONNECTIONS: f64 = 1_000.0;
const HIGHEST_RATE: f64 = 1_000.0;

impl Checked for OtherCellsLoad {
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
