//! TS 25.212, 4.2.3.2: one forward-backward algorithm (`siso`) for every arithmetic (`metric`), 16 code
//! blocks side by side.

pub mod decoder;
pub mod encoder;
pub mod interleaver;
mod metric;
mod siso;

pub use decoder::{Algorithm, Decoded, Decoder, Schedule, Settings};
pub use encoder::{Encoder, TAIL};
pub use interleaver::{K_MAX, K_MIN};
pub use metric::LANES;
