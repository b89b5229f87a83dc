//! Bindings of the crate of answers.

pub mod metrics;
pub mod tables;
