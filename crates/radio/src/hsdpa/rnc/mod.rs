//! The RNC, as far as HS-DSCH goes: where RLC ends, the Iub begins, and bandwidth is measured.

pub mod iub;
pub mod meter;
pub mod rlc;
