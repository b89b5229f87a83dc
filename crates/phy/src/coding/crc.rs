//! Cyclic redundancy checks of transport blocks (TS 25.212, 4.2.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CRC that is attached to each transport block, by its number of parity bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Crc {
    /// No CRC, so that errors are not detected.
    #[serde(rename = "0")]
    None,
    /// CRC of 8 bits with the generator `D^8 + D^7 + D^4 + D^3 + D + 1`.
    #[serde(rename = "8")]
    Crc8,
    /// CRC of 12 bits with the generator `D^12 + D^11 + D^3 + D^2 + D + 1`.
    #[serde(rename = "12")]
    Crc12,
    /// CRC of 16 bits with the generator `D^16 + D^12 + D^5 + 1`.
    #[serde(rename = "16")]
    Crc16,
    /// CRC of 24 bits with the generator `D^24 + D^23 + D^6 + D^5 + D + 1`.
    #[serde(rename = "24")]
    Crc24,
}

impl Crc {
    pub fn size(self) -> usize {
        match self {
            Self::None => 0,
            Self::Crc8 => 8,
            Self::Crc12 => 12,
            Self::Crc16 => 16,
            Self::Crc24 => 24,
        }
    }

    /// Without its leading term; bit 0 is the coefficient of `D^0`.
    fn polynomial(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Crc8 => 0x9B,
            Self::Crc12 => 0x80F,
            Self::Crc16 => 0x1021,
            Self::Crc24 => 0x80_0063,
        }
    }

    /// Of `bits * D^size`.
    fn remainder(self, bits: &[u8]) -> u32 {
        let (size, polynomial) = (self.size(), self.polynomial());
        bits.iter().fold(0u32, |register, &bit| {
            let feedback = (register >> (size - 1) ^ u32::from(bit)) & 1;
            (register << 1 ^ (polynomial & feedback.wrapping_neg())) & ((1 << size) - 1)
        })
    }

    /// Parity bits in reverse order (TS 25.212, 4.2.1.1).
    pub fn attach(self, bits: &[u8], to: &mut Vec<u8>) {
        to.extend_from_slice(bits);
        if self != Self::None {
            let remainder = self.remainder(bits);
            to.extend((0..self.size()).map(|i| (remainder >> i & 1) as u8));
        }
    }

    /// True without CRC; at least [`size`](Self::size) bits.
    pub fn holds(self, block: &[u8]) -> bool {
        if self == Self::None {
            return true;
        }
        let (bits, parity) = block.split_at(block.len() - self.size());
        let remainder = self.remainder(bits);
        parity.iter().enumerate().all(|(i, &bit)| u32::from(bit) == remainder >> i & 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Crc; 4] = [Crc::Crc8, Crc::Crc12, Crc::Crc16, Crc::Crc24];

    /// TS 25.212, 4.2.1.1, as defined.
    fn long_division(bits: &[u8], exponents: &[usize]) -> Vec<u8> {
        let degree = exponents[0];
        let mut dividend = bits.to_vec();
        dividend.resize(bits.len() + degree, 0);
        for at in 0..bits.len() {
            if dividend[at] == 1 {
                for exponent in exponents {
                    dividend[at + degree - exponent] ^= 1;
                }
            }
        }
        dividend.split_off(bits.len())
    }

    #[test]
    fn parity_matches_long_division_by_the_published_polynomials() {
        let generators: [&[usize]; 4] =
            [&[8, 7, 4, 3, 1, 0], &[12, 11, 3, 2, 1, 0], &[16, 12, 5, 0], &[24, 23, 6, 5, 1, 0]];
        let bits: Vec<u8> = (0..320u32).map(|i| (i * i % 7 % 2) as u8).collect();
        for (crc, exponents) in ALL.into_iter().zip(generators) {
            let mut block = Vec::new();
            crc.attach(&bits, &mut block);
            let mut parity = block.split_off(bits.len());
            parity.reverse();
            assert_eq!(parity, long_division(&bits, exponents), "{crc:?}");
        }
    }

    #[test]
    fn crc_detects_single_errors_and_bursts_up_to_its_size() {
        for crc in ALL {
            let mut block = Vec::new();
            crc.attach(&[1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 0], &mut block);
            assert!(crc.holds(&block));
            for at in 0..block.len() {
                for length in 1..=crc.size().min(block.len() - at) {
                    let mut bad = block.clone();
                    bad[at] ^= 1;
                    bad[at + length - 1] ^= u8::from(length > 1);
                    assert!(!crc.holds(&bad), "{crc:?}: {at}, {length}");
                }
            }
        }
    }
}
