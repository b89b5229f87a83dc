//! Transport channel type switching (TS 25.301, 5.3.1.1; modelled as in `prabhu`): users are on a
//! shared FACH or on dedicated channels of a pool.
//!
//! The mechanism is common to all policies: [`cell`] tracks the holders of channels and the time
//! that switches take, `fach` serves the shared channel, and [`bearer`] adds the users' queues. A
//! [`policy`] decides on switches from queue lengths, states and timers of its own.

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
