//! BBR, a congestion control that models the path by its bottleneck bandwidth and its round-trip
//! time. It paces segments at the bandwidth, and limits the data in flight to a multiple of the
//! product of bandwidth and round-trip time. Versions 1 and 3 are available.

mod path;
#[cfg(test)]
mod pipe;
pub mod v1;
pub mod v3;
