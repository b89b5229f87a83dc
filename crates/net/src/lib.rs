//! The fixed network: links with a rate or recorded delivery opportunities, a delay, a queue, loss,
//! jitter and reordering.

mod core;
mod foresight;
pub mod ingress;
pub mod jitter;
mod line;
mod link;
pub mod loss;
pub mod opportunities;
pub mod outage;
mod params;
pub mod propagation;
pub mod queue;
pub mod traced;

pub use core::Core;
pub use foresight::Unhappened;
pub use ingress::LinkCounts;
pub use line::Line;
pub use link::Link;
pub use loss::LossSetting;
pub use params::{Path, Uplink, Wired};
pub use queue::QueueSpec;
