//! Real packets through nodeb's simulated cells.
//!
//! [`Exchange`] is the sans-IO part: a [`nodeb_sim::world::Live`] world, the payloads of the packets that are in
//! it, and what becomes of them. It knows neither clock nor device, so that a flight that was recorded is flown
//! again by the same code. [`driver`] has the clock and the devices: on Linux two or more TUN devices, one of the
//! server and one of each phone whose packets are real.

#[cfg(target_os = "linux")]
pub mod clock;
pub mod connections;
#[cfg(target_os = "linux")]
pub mod doorway;
#[cfg(target_os = "linux")]
pub mod driver;
pub mod error;
pub mod exchange;
pub mod flight;
#[cfg(target_os = "linux")]
pub mod forward;
pub mod head;
pub mod ip;
pub mod lateness;
pub mod log;
pub mod pool;
#[cfg(target_os = "linux")]
mod port;
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
