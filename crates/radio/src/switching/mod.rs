//! Transport channel type switching: users on a shared FACH or on dedicated channels of a pool
//! (TS 25.301, 5.3.1.1; here as `prabhu` models it).
//!
//! The mechanism lives once: [`cell`] keeps who holds what, with the time that switches take,
//! `fach` serves the shared channel, and [`bearer`] puts both under the users' queues. Who is
//! switched when is a [`policy`], which sees queue lengths, states and its own timers.

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
