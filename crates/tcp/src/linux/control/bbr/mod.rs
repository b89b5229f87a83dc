//! BBR: models the path by its bottleneck bandwidth and its round trip, and paces at the one what
//! the other can hold.

mod path;
#[cfg(test)]
mod pipe;
pub mod v1;
pub mod v3;
