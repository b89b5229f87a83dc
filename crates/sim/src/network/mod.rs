//! The fixed network: links with a rate, a delay, a queue and random loss.

pub mod link;
pub mod queue;

pub use link::{Link, Outcome, Uplink, Wired};
pub use queue::QueueSpec;
