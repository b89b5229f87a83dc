//! Models the path by its bandwidth, at which it paces, and its round-trip time, and limits the data in
//! flight to a multiple of their product.

mod path;
#[cfg(test)]
mod pipe;
pub mod v1;
pub mod v3;
