//! TS 25.301, 5.3.1.1, modelled as in `prabhu`: users are on a shared FACH or on dedicated channels of a
//! pool, and a [`policy`] decides on switches by queue lengths, states and its own timers.

pub mod bearer;
pub mod cell;
mod fach;
mod params;
pub mod policy;
pub mod state;
#[cfg(test)]
mod tests;

pub use params::FachDch;
pub use state::{ChannelUse, PhonePower, State};
