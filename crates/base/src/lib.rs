//! Foundations of the nodeb simulator, used by all its layers.
//!
//! The modules form three groups:
//!
//! - **Simulation time and events.** [`engine`] orders events in integer time. [`packet`] defines what links,
//!   queues and bearers carry. [`event`] is the stream in which all layers report what happens. [`context`] is
//!   the argument through which a place (a link or bearer) is called.
//! - **Random numbers.** [`rng`] gives each entity a random stream of its own, named by seed, replication and
//!   purpose.
//! - **Scenarios and results.** [`units`] defines the quantities in a scenario. [`registry!`] and [`plugin`] make
//!   model variants selectable by name, [`check`] finds invalid values, and [`lines`] parses numbers in text
//!   files. [`table!`] declares the tables of results.
//! - **Explanations.** [`cause`] lists the causes of waiting, and [`remedy`] the changes of a scenario that reduce them.
//!
//! `nodeb-net` (links and queues), `nodeb-air` (what radios share), `nodeb-radio` (radios), `nodeb-tcp` (end hosts)
//! and `nodeb-sim`, which connects them, build on this crate.

pub mod cause;
pub mod check;
pub mod context;
pub mod engine;
mod error;
pub mod event;
pub mod lines;
pub mod packet;
pub mod plugin;
pub mod registry;
pub mod remedy;
pub mod rng;
pub mod table;
pub mod units;

pub use context::{Context, Counts, Output};
pub use error::{Error, Result};
