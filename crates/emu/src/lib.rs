//! Real packets through nodeb's simulated cells.
//!
//! [`Exchange`] is the part without input and output: a [`nodeb_sim::world::Live`] world, the payloads of the
//! packets in transit, and the counts of delivered and lost packets. On Linux, [`driver`] adds the clock and
//! two or more TUN devices: one for the server and one for each phone whose packets are real.
//!
//! [`recording`] is the log file of an emulation, and [`replay`] repeats the emulation from this file in virtual time.

#[cfg(target_os = "linux")]
mod clock;
pub mod connections;
#[cfg(target_os = "linux")]
pub mod device_socket;
#[cfg(target_os = "linux")]
pub mod driver;
mod error;
pub mod exchange;
pub mod head;
pub mod ip;
mod lateness;
pub mod log;
mod pool;
#[cfg(target_os = "linux")]
mod port;
pub mod recording;
pub mod replay;
pub mod report;
pub mod series;
#[cfg(target_os = "linux")]
pub mod watch;

pub use error::{Error, Result};
pub use exchange::{Arrival, Exchange, Phone};
pub use lateness::Lateness;
pub use log::Log;
pub use pool::Pool;
pub use report::Report;
