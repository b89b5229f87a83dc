//! `hossain`: all connections transmit at the same time, each on its own code, and rates decrease with the
//! number of connections.

pub mod arq;
pub mod bearer;
pub mod ber;
pub mod cell;
pub mod frame;
pub mod link;
pub mod other_cells;
mod params;
pub mod profile;
pub mod rates;
pub mod selection;
pub mod sinr;
#[cfg(test)]
mod tests;

pub use params::Wcdma;
