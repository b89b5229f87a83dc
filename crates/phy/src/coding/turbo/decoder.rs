//! Turbo decoder, which decodes up to 16 code blocks side by side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::encoder::TAIL;
use super::interleaver::permutation;
use super::metric::float::Float;
use super::metric::{LANES, Metric, Row, integer};
use super::siso::{self, Received};
use crate::error::{Error, Result};
use crate::simd::Isa;

/// Decoding algorithm of the constituent decoders, and the type of numbers that it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Max-log-MAP in 16-bit integers, which is the fastest.
    #[default]
    MaxLogMap,
    /// Max-log-MAP in single-precision floats.
    MaxLogMapFloat,
    /// Log-MAP in single-precision floats. It is optimal for one constituent code, but needs the
    /// true noise variance.
    LogMap,
}

/// Choice of the iterations in which the extrinsic information is multiplied by the scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// All iterations, except that in the last two of the maximum number of iterations the second constituent
    /// decoder does not scale. These two are counted from the maximum even if decoding stops early. With
    /// three iterations this is better than `throughout` by 0.03 dB.
    #[default]
    NotAtTheEnd,
    /// All iterations, in both constituent decoders.
    Throughout,
}

/// Parameters of a turbo decoder: algorithm, number of iterations, and scale of the extrinsic
/// information.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Algorithm and arithmetic of the constituent decoders.
    pub algorithm: Algorithm,
    /// Maximum number of iterations. In each iteration both constituent codes are decoded once.
    pub iterations: u32,
    /// Factor on the extrinsic information, greater than 0 and at most 1. Max-log-MAP overestimates that information:
    /// 0.75 (Vogt and Finger, Electronics Letters 36(23), 2000) recovers most of the loss against log-MAP. Log-MAP
    /// needs 1.
    pub scale: f32,
    /// Iterations in which the extrinsic information is multiplied by the scale.
    pub schedule: Schedule,
}

impl Default for Settings {
    fn default() -> Self {
        Self { algorithm: Algorithm::default(), iterations: 3, scale: 0.75, schedule: Schedule::default() }
    }
}

impl Settings {
    /// Checks that the number of iterations and the scale are in their ranges.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter is out of its range.
    pub fn check(&self) -> Result<()> {
        if !(1..=1000).contains(&self.iterations) {
            return Err(Error::config(
                "iterations",
                format!("1 to 1000 iterations, not {}", self.iterations),
            ));
        }
        if !(self.scale > 0.0 && self.scale <= 1.0) {
            return Err(Error::config("scale", format!("above 0 and at most 1, not {}", self.scale)));
        }
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    pub bits: Vec<u8>,
    /// Until the block was accepted, or the maximum.
    pub iterations: u32,
}

/// Up to 16 blocks of one length at once.
#[derive(Clone, Debug)]
pub struct Decoder {
    settings: Settings,
    isa: Isa,
    interleaver: Vec<u32>,
    integer: Buffers<i16>,
    float: Buffers<f32>,
    signs: Vec<u16>,
}

impl Decoder {
    /// Creates a decoder of code blocks of `k` bits.
    ///
    /// # Errors
    ///
    /// Returns an error if the code has no blocks of `k` bits or the settings are out of range.
    pub fn new(k: usize, settings: Settings, isa: Isa) -> Result<Self> {
        Self::with_interleaver(permutation(k)?, settings, isa)
    }

    /// Creates a decoder of blocks whose encoder has the given interleaver, which must be a permutation.
    ///
    /// # Errors
    ///
    /// Returns an error if the settings are out of range.
    pub fn with_interleaver(interleaver: Vec<u32>, settings: Settings, isa: Isa) -> Result<Self> {
        settings.check()?;
        Ok(Self {
            settings,
            isa,
            signs: vec![0; interleaver.len()],
            interleaver,
            integer: Buffers::default(),
            float: Buffers::default(),
        })
    }

    /// Decodes up to 16 blocks of `3 K + 12` LLRs each, in the encoder's order.
    ///
    /// After each iteration `accept(block, bits)` is called for each block not yet accepted, and
    /// returns true to accept the block. An accepted block does not change further, so that a
    /// block's result does not depend on the other blocks.
    ///
    /// # Panics
    ///
    /// Panics if there are more than 16 blocks, or if a block does not have `3 K + 12` LLRs.
    pub fn decode(&mut self, blocks: &[&[f32]], accept: impl FnMut(usize, &[u8]) -> bool) -> Vec<Decoded> {
        assert!(blocks.len() <= LANES, "at most {LANES} blocks at once");
        assert!(
            blocks.iter().all(|block| block.len() == 3 * self.interleaver.len() + TAIL),
            "a block's length"
        );
        let scale = self.settings.scale;
        match (self.settings.algorithm, self.isa) {
            (Algorithm::MaxLogMap, Isa::Baseline) => {
                let mut buffers = std::mem::take(&mut self.integer);
                let decoded = self.iterate(
                    integer::Portable::new(scale),
                    integer::Portable::new(1.0),
                    &mut buffers,
                    blocks,
                    accept,
                );
                self.integer = buffers;
                decoded
            }
            #[cfg(target_arch = "x86_64")]
            (Algorithm::MaxLogMap, Isa::Avx2(avx2)) => {
                let mut buffers = std::mem::take(&mut self.integer);
                let decoded = self.iterate(
                    integer::Avx2::new(avx2, scale),
                    integer::Avx2::new(avx2, 1.0),
                    &mut buffers,
                    blocks,
                    accept,
                );
                self.integer = buffers;
                decoded
            }
            (Algorithm::MaxLogMapFloat, _) => {
                let mut buffers = std::mem::take(&mut self.float);
                let decoded = self.iterate(
                    Float::<false>::new(scale),
                    Float::<false>::new(1.0),
                    &mut buffers,
                    blocks,
                    accept,
                );
                self.float = buffers;
                decoded
            }
            (Algorithm::LogMap, _) => {
                let mut buffers = std::mem::take(&mut self.float);
                let decoded = self.iterate(
                    Float::<true>::new(scale),
                    Float::<true>::new(1.0),
                    &mut buffers,
                    blocks,
                    accept,
                );
                self.float = buffers;
                decoded
            }
        }
    }

    fn iterate<M: Metric>(
        &mut self,
        metric: M,
        unscaled: M,
        buffers: &mut Buffers<M::Item>,
        blocks: &[&[f32]],
        mut accept: impl FnMut(usize, &[u8]) -> bool,
    ) -> Vec<Decoded> {
        let (isa, settings) = (self.isa, self.settings);
        let (interleaver, signs) = (&self.interleaver, &mut self.signs);
        isa.run(
            #[inline(always)]
            || buffers.fill(metric, blocks, interleaver.len()),
        );
        let mut decoded = vec![Decoded::default(); blocks.len()];
        let mut open: Vec<usize> = (0..blocks.len()).collect();
        for iteration in 1..=settings.iterations {
            let ending = iteration + 1 >= settings.iterations && settings.schedule == Schedule::NotAtTheEnd;
            let metrics = [metric, if ending { unscaled } else { metric }];
            isa.run(
                #[inline(always)]
                || buffers.iterate(metrics, interleaver, signs),
            );
            open.retain(|&lane| {
                let decoded = &mut decoded[lane];
                decoded.iterations = iteration;
                decoded.bits.clear();
                decoded.bits.extend(signs.iter().map(|signs| (signs >> lane & 1) as u8));
                !accept(lane, &decoded.bits)
            });
            if open.is_empty() {
                break;
            }
        }
        decoded
    }
}

/// A square has 16 values of each of 16 blocks.
const SQUARES: usize = 16;

/// For up to 16 blocks: systematic bits (`x`), parity bits (`z`), tails, extrinsic information, and forward
/// metrics (`alpha`).
#[derive(Clone, Debug, Default)]
struct Buffers<T> {
    x: Vec<Row<T>>,
    z: [Vec<Row<T>>; 2],
    tail: [[Row<T>; 6]; 2],
    extrinsic: Vec<Row<T>>,
    alpha: Vec<[Row<T>; 8]>,
}

impl<T: Copy + Default> Buffers<T> {
    #[inline(always)]
    fn fill<M: Metric<Item = T>>(&mut self, metric: M, blocks: &[&[f32]], k: usize) {
        let [z1, z2] = &mut self.z;
        for rows in [&mut self.x, &mut *z1, &mut *z2] {
            rows.resize(k, Row::default());
        }
        self.extrinsic.clear();
        self.extrinsic.resize(k, Row::default());
        self.alpha.resize(k, [Row::default(); 8]);
        // Each block is converted in parts, so that memory is read sequentially and the result
        // stays in the first-level cache.
        let mut quantised = [[T::default(); 3 * SQUARES * LANES]; LANES];
        for first in (0..k).step_by(SQUARES * LANES) {
            let bits = first..k.min(first + SQUARES * LANES);
            for (values, block) in quantised.iter_mut().zip(blocks) {
                for (value, &llr) in values.iter_mut().zip(&block[3 * bits.start..3 * bits.end]) {
                    *value = metric.quantise(llr);
                }
            }
            let rows = self.x[bits.clone()].chunks_mut(LANES);
            let rows = rows.zip(z1[bits.clone()].chunks_mut(LANES)).zip(z2[bits].chunks_mut(LANES));
            for (at, ((x, z1), z2)) in rows.enumerate() {
                // The three squares hold, for each block, 16 information bits and the two parity
                // bits of each, that is, 48 values.
                let mut squares = [[Row::default(); LANES]; 3];
                for (i, square) in squares.iter_mut().enumerate() {
                    for (row, values) in square.iter_mut().zip(&quantised) {
                        *row = Row(values.as_chunks().0[3 * at + i]);
                    }
                    metric.transpose(square);
                }
                let triples = squares.as_flattened().as_chunks::<3>().0;
                for (((x, z1), z2), triple) in x.iter_mut().zip(z1).zip(z2).zip(triples) {
                    [*x, *z1, *z2] = *triple;
                }
            }
        }
        for (lane, block) in blocks.iter().enumerate() {
            for (i, &value) in block[3 * k..].iter().enumerate() {
                self.tail[i / 6][i % 6].0[lane] = metric.quantise(value);
            }
        }
    }

    #[inline(always)]
    fn iterate<M: Metric<Item = T>>(
        &mut self,
        [metric, second_metric]: [M; 2],
        interleaver: &[u32],
        signs: &mut [u16],
    ) {
        let [z1, z2] = &self.z;
        let first = Received { x: &self.x, z: z1, tail: &self.tail[0] };
        siso::decode(metric, &first, |k| k, &mut self.extrinsic, &mut self.alpha, |_, _| ());
        let second = Received { x: &self.x, z: z2, tail: &self.tail[1] };
        let order = |k| interleaver[k] as usize;
        let decide = |place: usize, posterior| signs[place] = metric.negative(posterior);
        siso::decode(second_metric, &second, order, &mut self.extrinsic, &mut self.alpha, decide);
    }
}
