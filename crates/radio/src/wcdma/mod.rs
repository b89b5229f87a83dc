//! WCDMA downlink with variable spreading factor: all connections transmit at the same time, each
//! on its own code, and rates decrease with the number of connections (`hossain`).
//!
//! The link model is a chain of functions. [`sinr`] computes the interference on a path, [`ber`] the
//! bit error rate, [`frame`] the frame error rate with an error-correcting code, and [`rates`] the
//! throughput, the common rate and the mean rate of other cells. The paths are those of a
//! [`profile`], and the interference from other cells is that of [`other_cells`].
//!
//! A [`cell`] applies these functions to its phones, a [`selection`] gives each phone its rate,
//! [`arq`] retransmits failed frames, and a [`bearer`] simulates the cell slot by slot.

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
