//! RNC functions for HS-DSCH: RLC, the Iub, and bandwidth meters.

pub mod iub;
pub mod meter;
pub mod rlc;
