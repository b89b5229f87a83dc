//! Simulation core of nodeb: the effects of a UMTS, HSDPA or LTE radio link on TCP.
//!
//! All components are plain structs without input and output: the caller passes the time, and the component returns
//! the packets to send and the time of its next wake-up. This crate reads no clock and no file. Its only global state
//! is the set of plugins that a program registers at its start ([`nodeb_base::plugin`]).
//!
//! # Examples
//!
//! ```
//! use nodeb_sim::{Control, run, scenario};
//!
//! let text = r#"
//!     name = "Two downloads over HSDPA"
//!     radio.hsdpa = {}
//!     users = [{ count = 2, traffic.ftp.size = "100 kB" }]
//! "#;
//! let scenario = scenario::from_toml(text, "example.toml", &[])?;
//! let result = run(&scenario, scenario.seed, 0, &Control::default())?;
//! for flow in &result.flows {
//!     assert!(flow.complete);
//!     assert!(flow.download_s > 0.0 && flow.download_s < result.end_s);
//! }
//! # Ok::<(), nodeb_sim::Error>(())
//! ```

pub mod metrics;
mod proxy;
pub mod scenario;
pub mod traffic;
pub mod world;

pub use nodeb_base::{Error, Result};
pub use proxy::ProxySpec;
pub use scenario::Scenario;
pub use world::{Control, run};

/// The same as the Python package's.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
