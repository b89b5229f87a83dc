//! What every layer of nodeb stands on: units, time and the order of events, random streams,
//! registries of variants, tables of results, and checks of what a user has written.

pub mod blocks;
pub mod check;
pub mod context;
pub mod engine;
pub mod error;
pub mod event;
pub mod lines;
pub mod packet;
pub mod plugin;
pub mod registry;
pub mod rng;
pub mod table;
pub mod units;

pub use context::{Context, Counts, Output};
pub use error::{Error, Result};
