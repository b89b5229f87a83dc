//! ChaCha8, keyed by (seed, purpose, index): streams are independent, and each unit of work can open its own
//! on any thread.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

pub type Stream = ChaCha8Rng;

/// Only the first 16 bytes of the purpose are used.
pub fn stream(seed: u64, purpose: &str, index: u64) -> Stream {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    for (to, from) in key[8..24].iter_mut().zip(purpose.bytes()) {
        *to = from;
    }
    key[24..].copy_from_slice(&index.to_le_bytes());
    Stream::from_seed(key)
}

/// From the upper 53 bits.
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

pub fn fill_bits(stream: &mut Stream, bits: &mut [u8]) {
    use rand_core::Rng as _;
    for chunk in bits.chunks_mut(64) {
        let word = stream.next_u64();
        for (i, bit) in chunk.iter_mut().enumerate() {
            *bit = (word >> i & 1) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::Rng as _;

    use super::*;

    #[test]
    fn stream_depends_on_each_part_of_its_name() {
        let first = |seed, purpose, index| stream(seed, purpose, index).next_u64();
        let base = first(1, "noise", 0);
        assert_eq!(base, first(1, "noise", 0));
        for other in [first(2, "noise", 0), first(1, "data", 0), first(1, "noise", 1)] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn bits_are_equally_likely() {
        let mut bits = vec![0; 100_000];
        fill_bits(&mut stream(1, "bits", 0), &mut bits);
        let ones: u32 = bits.iter().map(|&bit| u32::from(bit)).sum();
        assert!(ones.abs_diff(50_000) < 4 * 158, "{ones}");
    }
}
