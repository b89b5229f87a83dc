//! What the radio channel of a high-speed downlink cell is like: places, losses, fading, SNR.

pub mod channel;
pub mod doppler;
pub mod interference;
pub mod map;
pub mod mobility;
pub mod path_loss;
pub mod plan;
pub mod profile;
pub mod shadowing;
