//! Radio channel of a cell of `hsdpa` or `lte`: positions, path loss, shadowing, fading, interference
//! and SNR.

pub mod channel;
pub mod doppler;
pub mod handover;
pub mod interference;
pub mod map;
pub mod mobility;
pub mod path_loss;
pub mod plan;
pub mod profile;
pub mod selective;
pub mod shadowing;
pub(crate) mod tally;
