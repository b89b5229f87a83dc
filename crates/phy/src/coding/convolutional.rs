//! Convolutional codes of constraint length 9 (TS 25.212, 4.2.3.1) and their Viterbi decoder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of zero bits at the end of each code block, which return the encoder to state 0.
pub const TAIL: usize = 8;
/// Without the tail (TS 25.212, 4.2.2.2).
pub const K_MAX: usize = 504;

const STATES: usize = 256;

/// Rate of a convolutional code, and the generators that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Rate {
    /// Rate 1/2: two coded bits for each bit, with generators 561 and 753 (octal).
    #[serde(rename = "1/2")]
    Half,
    /// Rate 1/3: three coded bits for each bit, with generators 557, 663 and 711 (octal).
    #[serde(rename = "1/3")]
    Third,
}

impl Rate {
    fn generators(self) -> &'static [u32] {
        match self {
            Self::Half => &[0o561, 0o753],
            Self::Third => &[0o557, 0o663, 0o711],
        }
    }

    pub fn coded(self, k: usize) -> usize {
        (k + TAIL) * self.generators().len()
    }

    pub fn encode(self, block: &[u8], to: &mut Vec<u8>) {
        let mut register = 0;
        for &bit in block.iter().chain(&[0; TAIL]) {
            register = register >> 1 | u32::from(bit) << 8;
            to.extend(
                self.generators().iter().map(|generator| ((register & generator).count_ones() & 1) as u8),
            );
        }
    }

    /// Returns the most likely block of `k` bits, given the LLRs of its coded bits.
    ///
    /// # Panics
    ///
    /// Panics if the number of LLRs is not [`coded(k)`](Self::coded).
    pub fn decode(self, k: usize, llrs: &[f32]) -> Vec<u8> {
        assert_eq!(llrs.len(), self.coded(k), "the block's length");
        // For each step and state, the last bit of the best predecessor state: 256 bits per step.
        let mut survivors: Vec<[u8; STATES / 8]> = Vec::with_capacity(k + TAIL);
        let mut metrics = [f32::NEG_INFINITY; STATES];
        metrics[0] = 0.0;
        for llrs in llrs.chunks(self.generators().len()) {
            let (next, survivor) = self.step(&metrics, llrs);
            metrics = next;
            survivors.push(survivor);
        }
        let mut state = 0;
        let mut bits: Vec<u8> = survivors
            .iter()
            .rev()
            .map(|survivor| {
                let bit = (state >> 7) as u8;
                state = state << 1 & 0xFF | usize::from(survivor[state / 8] >> (state % 8) & 1);
                bit
            })
            .collect();
        bits.reverse();
        bits.truncate(k);
        bits
    }

    fn step(self, metrics: &[f32; STATES], llrs: &[f32]) -> ([f32; STATES], [u8; STATES / 8]) {
        let gains = gains(llrs);
        let mut survivor = [0; STATES / 8];
        let next = std::array::from_fn(|state| {
            let from = state << 1 & 0xFF;
            let path = |oldest: usize| metrics[from | oldest] + gains[self.output(state << 1 | oldest)];
            let (zero, one) = (path(0), path(1));
            survivor[state / 8] |= u8::from(one > zero) << (state % 8);
            zero.max(one)
        });
        (next, survivor)
    }

    /// Bit 0 of this number is the coded bit of the first generator.
    fn output(self, register: usize) -> usize {
        let parity = |generator: &u32| (register as u32 & generator).count_ones() & 1;
        self.generators().iter().rev().fold(0, |word, generator| word << 1 | parity(generator) as usize)
    }
}

fn gains(llrs: &[f32]) -> [f32; 8] {
    std::array::from_fn(|word| {
        let gain = |(i, llr): (usize, &f32)| if word >> i & 1 == 1 { -llr } else { *llr };
        llrs.iter().enumerate().map(gain).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;
    use crate::{gaussian, rng};

    /// Newest bit first.
    #[test]
    fn impulse_response_is_the_generators() {
        for rate in [Rate::Half, Rate::Third] {
            let mut coded = Vec::new();
            rate.encode(&[1], &mut coded);
            let n = rate.generators().len();
            for (i, generator) in rate.generators().iter().enumerate() {
                let word = coded.iter().skip(i).step_by(n).fold(0, |word, &bit| word << 1 | u32::from(bit));
                assert_eq!(word, *generator, "{rate:?}");
            }
        }
    }

    /// The free distances are 12 at rate 1/2 and 18 at rate 1/3 (Larsen 1973;
    #[test]
    fn free_distances_match_the_literature() {
        for (rate, distance) in [(Rate::Half, 12), (Rate::Third, 18)] {
            let weight = |word: u32| {
                let bits: Vec<u8> = (0..12).map(|i| (word >> i & 1) as u8).collect();
                let mut coded = Vec::new();
                rate.encode(&bits, &mut coded);
                coded.iter().map(|&bit| u32::from(bit)).sum::<u32>()
            };
            assert_eq!((1..1 << 12).map(weight).min(), Some(distance), "{rate:?}");
        }
    }

    /// Maximum likelihood: no other code word is closer.
    #[test]
    fn decoder_finds_the_nearest_code_word() {
        for rate in [Rate::Half, Rate::Third] {
            for trial in 0..40 {
                let mut llrs = vec![0.0; rate.coded(6)];
                gaussian::fill(Isa::best(), &mut rng::stream(5, "viterbi", trial), 1.0, &mut llrs);
                let likelihood = |bits: &[u8]| {
                    let mut coded = Vec::new();
                    rate.encode(bits, &mut coded);
                    coded.iter().zip(&llrs).map(|(&bit, llr)| if bit == 1 { -llr } else { *llr }).sum::<f32>()
                };
                let words = (0..64u32).map(|word| (0..6).map(|i| (word >> i & 1) as u8).collect::<Vec<_>>());
                let best = words.max_by(|a, b| likelihood(a).total_cmp(&likelihood(b))).unwrap();
                assert_eq!(rate.decode(6, &llrs), best, "{rate:?}");
            }
        }
    }
}
