//! Turbo encoder of rate 1/3: two recursive 8-state encoders in parallel (TS 25.212, 4.2.3.2.1; in LTE
//! with another interleaver: TS 36.212, 5.1.3.2.1).

use super::interleaver::permutation;
use crate::error::Result;

/// Terminates the trellises of both encoders (TS 25.212, 4.2.3.2.2).
pub const TAIL: usize = 12;

/// Three registers, the newest in bit 2.
pub(super) type State = u8;

/// `(1 + D + D^3) / (1 + D^2 + D^3)`: parity bit and next state.
pub(super) const fn step(state: State, u: u8) -> (u8, State) {
    let (s1, s2, s3) = (state >> 2, state >> 1 & 1, state & 1);
    let feedback = u ^ s2 ^ s3;
    (feedback ^ s1 ^ s3, feedback << 2 | state >> 1)
}

/// Shifts a 0 into the registers.
pub(super) const fn terminating(state: State) -> u8 {
    (state >> 1 ^ state) & 1
}

#[derive(Clone, Debug)]
pub struct Encoder {
    interleaver: Vec<u32>,
}

impl Encoder {
    /// Creates an encoder of code blocks of `k` bits.
    ///
    /// # Errors
    ///
    /// Returns an error if the code has no blocks of `k` bits.
    pub fn new(k: usize) -> Result<Self> {
        Ok(Self::with_interleaver(permutation(k)?))
    }

    /// The interleaver must be a permutation.
    pub fn with_interleaver(interleaver: Vec<u32>) -> Self {
        Self { interleaver }
    }

    /// Appends the `3 K + 12` coded bits of `block` to `to`: `x1 z1 z'1 x2 z2 z'2 ...`, then the
    /// tail `x z x z x z` of the first encoder and the tail of the second encoder.
    ///
    /// # Panics
    ///
    /// Panics if `block` does not have K bits.
    pub fn encode(&self, block: &[u8], to: &mut Vec<u8>) {
        assert_eq!(block.len(), self.interleaver.len(), "the block's length");
        let (mut first, mut second) = (0, 0);
        for (&x, &other) in block.iter().zip(&self.interleaver) {
            let (z1, next) = step(first, x);
            first = next;
            let (z2, next) = step(second, block[other as usize]);
            second = next;
            to.extend([x, z1, z2]);
        }
        for mut state in [first, second] {
            for _ in 0..3 {
                let x = terminating(state);
                let (z, next) = step(state, x);
                to.extend([x, z]);
                state = next;
            }
            debug_assert_eq!(state, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By polynomial division: 1 1 1 1 0 0 1 0 | 1 1 1 0 0 1 0 ..., with period 7 from the second bit on.
    #[test]
    fn impulse_response_matches_polynomial_division() {
        let mut state = 0;
        let response: Vec<u8> = (0..15)
            .map(|i| {
                let (z, next) = step(state, u8::from(i == 0));
                state = next;
                z
            })
            .collect();
        assert_eq!(response, [1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0]);
    }

    #[test]
    fn encoder_is_linear_and_terminates_in_state_zero() {
        let encoder = Encoder::new(40).unwrap();
        let code = |block: &[u8]| {
            let mut coded = Vec::new();
            encoder.encode(block, &mut coded);
            assert_eq!(coded.len(), 3 * 40 + TAIL);
            coded
        };
        let a: Vec<u8> = (0..40).map(|i| u8::from(i % 3 == 0)).collect();
        let b: Vec<u8> = (0..40).map(|i| u8::from(i % 7 < 3)).collect();
        let sum: Vec<u8> = a.iter().zip(&b).map(|(a, b)| a ^ b).collect();
        let coded_sum: Vec<u8> = code(&a).iter().zip(code(&b)).map(|(a, b)| a ^ b).collect();
        assert_eq!(code(&sum), coded_sum);
    }
}
