//! The whole link, from random PDUs to counted errors.

pub mod config;
pub mod experiment;
mod run;
pub mod service;
mod simulator;
pub mod tally;

pub use config::{Air, Link, OtherCells, Receiver};
pub use experiment::Experiment;
pub use run::{Counts, Outcome, Stop, run, run_on};
pub use service::{Service, TransportChannel};
pub use tally::Tally;
