//! Error detection and channel coding (TS 25.212, 4.2.1 to 4.2.3).

pub mod channel;
pub mod convolutional;
pub mod crc;
pub mod turbo;

pub use channel::{Coding, TransportCoder};
pub use crc::Crc;
