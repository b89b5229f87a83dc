//! The turbo code of TS 25.212, 4.2.3.2, and its iterative decoder.
//!
//! One forward-backward algorithm (`siso`) serves every arithmetic (`metric`): 16 code blocks
//! are decoded side by side, one in each lane.

pub mod decoder;
pub mod encoder;
pub mod interleaver;
mod metric;
mod siso;

pub use decoder::{Algorithm, Decoded, Decoder, Schedule, Settings};
pub use encoder::{Encoder, TAIL};
pub use interleaver::{K_MAX, K_MIN};
pub use metric::LANES;
