//! BBR: models the path by its bottleneck bandwidth and its round-trip time. It paces at that bandwidth and
//! limits the data in flight by their product.

mod path;
#[cfg(test)]
mod pipe;
pub mod v1;
pub mod v3;
