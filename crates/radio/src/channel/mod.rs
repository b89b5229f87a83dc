//! Channel quality of a user in a TTI, given directly.

pub mod ci;
