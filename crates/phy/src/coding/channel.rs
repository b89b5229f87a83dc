//! Channel coding of one transport channel: CRC attachment, concatenation of transport blocks,
//! segmentation into code blocks, and the code itself (TS 25.212, 4.2.1 to 4.2.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::convolutional::{self, Rate};
use super::crc::Crc;
use super::turbo::{self, Encoder};
use crate::error::{Error, Result};

/// Channel code of a transport channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Coding {
    /// Convolutional code of rate 1/2 (TS 25.212, 4.2.3.1).
    #[serde(rename = "convolutional_1/2")]
    ConvolutionalHalf,
    /// Convolutional code of rate 1/3 (TS 25.212, 4.2.3.1).
    #[serde(rename = "convolutional_1/3")]
    ConvolutionalThird,
    /// Turbo code of rate 1/3 (TS 25.212, 4.2.3.2).
    #[serde(rename = "turbo_1/3")]
    Turbo,
}

impl Coding {
    fn convolutional(self) -> Option<Rate> {
        match self {
            Self::ConvolutionalHalf => Some(Rate::Half),
            Self::ConvolutionalThird => Some(Rate::Third),
            Self::Turbo => None,
        }
    }

    /// Z in bits (TS 25.212, 4.2.2.2).
    fn longest(self) -> usize {
        if self == Self::Turbo { turbo::K_MAX } else { convolutional::K_MAX }
    }
}

/// Of a TTI into blocks of equal length (TS 25.212, 4.2.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// With CRCs.
    pub total: usize,
    pub blocks: usize,
    pub k: usize,
}

impl Segmentation {
    /// The fewest blocks that the code allows.
    pub fn new(total: usize, coding: Coding) -> Self {
        let blocks = total.div_ceil(coding.longest()).max(1);
        let shortest = if coding == Coding::Turbo { turbo::K_MIN } else { 0 };
        Self { total, blocks, k: total.div_ceil(blocks).max(shortest) }
    }

    pub fn filler(&self) -> usize {
        self.blocks * self.k - self.total
    }
}

#[derive(Clone, Debug)]
pub struct TransportCoder {
    block_bits: usize,
    crc: Crc,
    coding: Coding,
    segmentation: Segmentation,
    turbo: Option<Encoder>,
}

impl TransportCoder {
    /// Creates the coder for a TTI with `blocks` transport blocks of `block_bits` bits each, without CRC.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no blocks or bits, or if the turbo code has no blocks of the
    /// length needed.
    pub fn new(blocks: usize, block_bits: usize, crc: Crc, coding: Coding) -> Result<Self> {
        if blocks == 0 || block_bits == 0 {
            return Err(Error::config("pdus", "at least one PDU of at least one bit in a TTI"));
        }
        let segmentation = Segmentation::new(blocks * (block_bits + crc.size()), coding);
        let turbo = (coding == Coding::Turbo).then(|| Encoder::new(segmentation.k)).transpose()?;
        Ok(Self { block_bits, crc, coding, segmentation, turbo })
    }

    pub fn segmentation(&self) -> Segmentation {
        self.segmentation
    }

    pub fn is_turbo(&self) -> bool {
        self.turbo.is_some()
    }

    pub fn has_crc(&self) -> bool {
        self.crc != Crc::None
    }

    pub fn block_bits(&self) -> usize {
        self.block_bits
    }

    /// Including the tail.
    pub fn coded_block(&self) -> usize {
        let k = self.segmentation.k;
        self.coding.convolutional().map_or(3 * k + turbo::TAIL, |rate| rate.coded(k))
    }

    pub fn coded(&self) -> usize {
        self.segmentation.blocks * self.coded_block()
    }

    pub fn encode(&self, bits: &[u8]) -> Vec<u8> {
        let mut blocks = vec![0; self.segmentation.filler()];
        for block in bits.chunks(self.block_bits) {
            self.crc.attach(block, &mut blocks);
        }
        let mut coded = Vec::with_capacity(self.coded());
        for block in blocks.chunks(self.segmentation.k) {
            match (&self.turbo, self.coding.convolutional()) {
                (Some(turbo), _) => turbo.encode(block, &mut coded),
                (None, Some(rate)) => rate.encode(block, &mut coded),
                (None, None) => unreachable!("a turbo code has an encoder"),
            }
        }
        coded
    }

    pub fn viterbi(&self, llrs: &[f32]) -> Option<Vec<u8>> {
        let rate = self.coding.convolutional()?;
        let blocks = llrs.chunks(self.coded_block());
        Some(blocks.flat_map(|block| rate.decode(self.segmentation.k, block)).collect())
    }

    /// Each with its CRC; `code_blocks` has those of the TTI in order.
    pub fn transport_blocks<'a>(&self, code_blocks: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        code_blocks[self.segmentation.filler()..].chunks(self.block_bits + self.crc.size())
    }

    /// True without CRC.
    pub fn passes(&self, block: &[u8]) -> bool {
        self.crc.holds(block)
    }

    pub fn payload<'a>(&self, block: &'a [u8]) -> &'a [u8] {
        &block[..self.block_bits]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segmentation_matches_the_standard() {
        let of = |total, coding| {
            let s = Segmentation::new(total, coding);
            (s.blocks, s.k, s.filler())
        };
        assert_eq!(of(4032, Coding::Turbo), (1, 4032, 0));
        assert_eq!(of(5115, Coding::Turbo), (2, 2558, 1));
        assert_eq!(of(20, Coding::Turbo), (1, 40, 20));
        assert_eq!(of(504, Coding::ConvolutionalThird), (1, 504, 0));
        assert_eq!(of(505, Coding::ConvolutionalThird), (2, 253, 1));
    }

    #[test]
    fn transport_blocks_survive_coding_and_decoding() {
        for coding in [Coding::ConvolutionalHalf, Coding::ConvolutionalThird] {
            let coder = TransportCoder::new(3, 201, Crc::Crc12, coding).unwrap();
            let bits: Vec<u8> = (0..603u32).map(|i| (i * i % 11 % 2) as u8).collect();
            let llrs: Vec<f32> = coder.encode(&bits).iter().map(|&bit| 1.0 - 2.0 * f32::from(bit)).collect();
            assert_eq!(llrs.len(), coder.coded());
            let decoded = coder.viterbi(&llrs).unwrap();
            let blocks: Vec<_> = coder.transport_blocks(&decoded).collect();
            assert!(blocks.iter().all(|block| coder.passes(block)));
            assert_eq!(
                blocks.iter().flat_map(|block| coder.payload(block)).copied().collect::<Vec<_>>(),
                bits
            );
        }
    }
}
