//! The fixed network: links with a rate, a delay, a queue, loss, jitter and reordering.

pub(crate) use nodeb_base::{check, context, engine, event, packet, registry, rng, units};

mod core;
pub mod flight;
pub mod jitter;
mod link;
pub mod loss;
pub mod outage;
mod params;
pub mod queue;

pub use core::Core;
pub use link::{Link, LinkCounts};
pub use loss::LossSetting;
pub use params::{Path, Uplink, Wired};
pub use queue::QueueSpec;
