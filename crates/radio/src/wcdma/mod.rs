//! WCDMA downlink with variable spreading factor: every connection sends all the time, on a code of its own,
//! and the more of them there are the lower are their rates (`hossain`).
//!
//! The link is a chain of functions: [`sinr`] (interference of a path), [`ber`] (bits), [`frame`] (frames and
//! codes), [`rates`] (throughput, the common rate, the mean rate of other cells), over the paths of a
//! [`profile`] and with the interference of [`other_cells`]. A [`cell`] applies them to its phones, a
//! [`selection`] gives each its rate, [`arq`] repeats what fails, and [`bearer`] runs it slot by slot.

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
