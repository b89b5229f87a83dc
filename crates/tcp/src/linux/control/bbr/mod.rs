//! BBR: models the path by its bottleneck bandwidth and its round-trip time. It paces at the
//! bandwidth and limits the data in flight to a multiple of the product of bandwidth and round-trip
//! time. There are versions 1 and 3.

mod path;
#[cfg(test)]
mod pipe;
pub mod v1;
pub mod v3;
