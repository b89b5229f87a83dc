//! Simulation core of nodeb: what a UMTS or HSDPA radio link does to TCP.
//!
//! Data flows one way, `traffic -> transport -> network -> radio -> receiver -> metrics`, and
//! each module is a layer that never imports a later one; [`world`] wires them. Everything is
//! sans-IO: plain structs that are handed the time and return what they want to send and when
//! they want to be woken. There is no clock or file in this crate, and no global but the kinds
//! that a program registers at its start ([`nodeb_base::plugin`]).

pub mod metrics;
pub mod proxy;
pub mod scenario;
pub mod traffic;
pub mod world;

pub use nodeb_base::{Error, Result};
pub use scenario::Scenario;
pub use world::{Control, run};

/// Version of this crate, the same as the Python package's.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
