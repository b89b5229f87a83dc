//! Bindings of the crate of answers.

pub mod digits;
pub mod metrics;
pub mod stats;
pub mod tables;
