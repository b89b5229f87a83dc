//! Chip-level link simulator of UTRA FDD (3GPP Release 99, dedicated channels, uplink). No module
//! imports one of a later stage: [`coding`], `multiplexing`, `spreading`, [`channel`], [`receiver`], [`link`], whose
//! [`link::run`] is the entry point; [`lte`] uses only [`coding`].
//!
//! Bits are bytes of 0 or 1. Soft values are log-likelihood ratios `ln P(0)/P(1)`: positive for a 0, which the
//! modulator sends as +1 (TS 25.213, 4.2.1). The same seed gives the same results, whatever the number of threads and
//! the instruction set of the processor (see [`simd`]).
//!
//! # Examples
//!
//! Encode a block with the turbo code and decode it without noise:
//!
//! ```
//! use nodeb_phy::coding::turbo::{Decoder, Encoder, Settings};
//! use nodeb_phy::simd::Isa;
//!
//! let block: Vec<u8> = (0..40).map(|i| i % 3 % 2).collect();
//! let mut coded = Vec::new();
//! Encoder::new(40)?.encode(&block, &mut coded);
//! assert_eq!(coded.len(), 3 * 40 + 12);
//!
//! let llrs: Vec<f32> = coded.iter().map(|&bit| 1.0 - 2.0 * f32::from(bit)).collect();
//! let mut decoder = Decoder::new(40, Settings::default(), Isa::best())?;
//! let decoded = decoder.decode(&[&llrs], |_, bits| bits == block);
//! assert_eq!((&decoded[0].bits, decoded[0].iterations), (&block, 1));
//! # Ok::<(), nodeb_phy::Error>(())
//! ```

#![allow(
    clippy::inline_always,
    reason = "only inlined functions are compiled for the instruction set of their caller"
)]
#![allow(clippy::cast_possible_wrap, reason = "numbers of bits and chips are small")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "sums of a few ones are exact"))]

pub mod channel;
pub mod coding;
mod error;
pub mod gaussian;
pub mod link;
pub mod lte;
mod multiplexing;
pub mod receiver;
pub mod rng;
pub mod simd;
mod spreading;

pub use error::{Error, Result};

/// The same as the Python package's.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
