//! Turbo-coded data of LTE (TS 36.212, 5.1; TS 36.211, 7.1) on a flat channel.
//!
//! Blocks have no filler bits: the transport block sizes of TS 36.213 need none.
//!
//! # Examples
//!
//! A block of 40 bits on 60 bits of the channel, without noise:
//!
//! ```
//! use nodeb_phy::coding::turbo::{Decoder, Encoder, Settings};
//! use nodeb_phy::lte::interleaver::permutation;
//! use nodeb_phy::lte::rate_matching::CircularBuffer;
//! use nodeb_phy::simd::Isa;
//!
//! let block: Vec<u8> = (0..40).map(|i| i % 3 % 2).collect();
//! let (mut coded, buffer) = (Vec::new(), CircularBuffer::new(40));
//! Encoder::with_interleaver(permutation(40)?).encode(&block, &mut coded);
//! let sent: Vec<u8> = buffer.bits(0).take(60).map(|bit| coded[bit]).collect();
//!
//! let mut llrs = vec![0.0; coded.len()];
//! for (bit, sent) in buffer.bits(0).zip(sent) {
//!     llrs[bit] += 1.0 - 2.0 * f32::from(sent);
//! }
//! let mut decoder = Decoder::with_interleaver(permutation(40)?, Settings::default(), Isa::best())?;
//! assert_eq!(decoder.decode(&[&llrs], |_, bits| bits == block)[0].bits, block);
//! # Ok::<(), nodeb_phy::Error>(())
//! ```

pub mod interleaver;
pub mod link;
pub mod modulation;
pub mod rate_matching;
