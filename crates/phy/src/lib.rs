//! Chip-level link simulator of UTRA FDD (3GPP Release 99, dedicated channels, uplink).
//!
//! Data flows one way, and each module is a stage that never imports a later one:
//! `coding -> multiplexing -> spreading -> channel -> receiver -> link`. What the receiver undoes
//! stands next to what the transmitter does, in the module of the stage.
//!
//! Bits are bytes of 0 or 1. Soft values are log-likelihood ratios `ln P(0)/P(1)`, positive for a
//! 0, which the modulator sends as +1 (TS 25.213, 4.2.1). Same seed, same bytes: nothing depends
//! on the number of threads or on the instructions that the processor has (see [`simd`]).

#![allow(
    clippy::inline_always,
    reason = "what is not inlined is not compiled for the instruction set of its caller"
)]
#![allow(clippy::cast_possible_wrap, reason = "numbers of bits and chips are small")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "sums of a few ones are exact"))]

pub mod channel;
pub mod coding;
pub mod error;
pub mod gaussian;
pub mod link;
pub mod multiplexing;
pub mod receiver;
pub mod rng;
pub mod simd;
pub mod spreading;

pub use error::{Error, Result};

/// Version of this crate, the same as the Python package's.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
