//! What the radio channel is like for a user in a TTI.

pub mod ci;
