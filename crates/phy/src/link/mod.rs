//! The whole link, from random PDUs to counted errors.
//!
//! # Examples
//!
//! ```
//! use std::num::NonZeroU32;
//! use std::ops::ControlFlow;
//!
//! use nodeb_phy::link::{Link, Service, Stop, run};
//!
//! let link = Link::new(Service::costamagna(64)?, 3.0);
//! let stop = Stop { bits: 20_000, block_errors: None };
//! let outcome = run(&link, 1, stop, NonZeroU32::MIN, &mut |_| ControlFlow::Continue(()))?;
//! assert!(outcome.counts.bits.trials >= 20_000);
//! assert!(outcome.counts.pdus.rate() < 0.1);
//! # Ok::<(), nodeb_phy::Error>(())
//! ```

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
