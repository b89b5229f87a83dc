//! In white noise: redundancy version 0, without retransmissions.

use super::interleaver::permutation;
use super::modulation::Modulation;
use super::rate_matching::CircularBuffer;
use crate::coding::turbo::{Decoder, Encoder, LANES, Settings};
use crate::error::{Error, Result};
use crate::gaussian;
use crate::rng::{self, Stream};
use crate::simd::Isa;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub modulation: Modulation,
    /// K, with CRC.
    pub k: usize,
    pub channel_bits: usize,
}

impl Format {
    pub fn of_rate(modulation: Modulation, k: usize, rate: f64) -> Self {
        let symbols = (k as f64 / rate / modulation.order() as f64).round() as usize;
        Self { modulation, k, channel_bits: modulation.order() * symbols }
    }

    pub fn bits_per_symbol(self) -> f64 {
        (self.k * self.modulation.order()) as f64 / self.channel_bits as f64
    }

    fn check(self) -> Result<()> {
        if self.channel_bits > 0 && self.channel_bits.is_multiple_of(self.modulation.order()) {
            return Ok(());
        }
        let message = format!("{} bits are no whole number of symbols, at least one", self.channel_bits);
        Err(Error::config("channel_bits", message))
    }
}

/// In blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// No further group of 16 then, unless below `at_least`.
    pub errors: u64,
    /// Even if another limit is reached before.
    pub at_least: u64,
    /// No further group of 16 then, unless below `at_least`.
    pub at_most: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub blocks: u64,
    pub errors: u64,
}

#[derive(Clone, Debug)]
pub struct Link {
    format: Format,
    isa: Isa,
    encoder: Encoder,
    decoder: Decoder,
    selected: Vec<usize>,
}

impl Link {
    /// Creates the link of a format.
    ///
    /// # Errors
    ///
    /// Returns an error if LTE has no code block of this size, the channel bits do not fill whole
    /// symbols, or the decoder's settings are out of range.
    pub fn new(format: Format, settings: Settings, isa: Isa) -> Result<Self> {
        format.check()?;
        let interleaver = permutation(format.k)?;
        Ok(Self {
            format,
            isa,
            encoder: Encoder::with_interleaver(interleaver.clone()),
            decoder: Decoder::with_interleaver(interleaver, settings, isa)?,
            selected: CircularBuffer::new(format.k).bits(0).take(format.channel_bits).collect(),
        })
    }

    /// `snr` is linear, per symbol.
    pub fn count(&mut self, snr: f64, seed: u64, stop: Stop) -> Counts {
        let mut counts = Counts::default();
        while counts.blocks < stop.at_least || counts.errors < stop.errors && counts.blocks < stop.at_most {
            counts.errors += self.errors_of_group(snr, seed, counts.blocks / LANES as u64);
            counts.blocks += LANES as u64;
        }
        counts
    }

    /// 16 blocks. A real receiver can do this with the CRC of 24 bits, which one in 17 million wrong blocks
    /// passes.
    fn errors_of_group(&mut self, snr: f64, seed: u64, group: u64) -> u64 {
        let mut streams = ["data", "noise"].map(|purpose| rng::stream(seed, purpose, group));
        let blocks: Vec<_> = (0..LANES).map(|_| self.block(snr, &mut streams)).collect();
        let received: Vec<&[f32]> = blocks.iter().map(|(_, llrs)| llrs.as_slice()).collect();
        let decoded = self.decoder.decode(&received, |block, bits| bits == blocks[block].0);
        decoded.iter().zip(&blocks).filter(|(decoded, (sent, _))| decoded.bits != *sent).count() as u64
    }

    fn block(&self, snr: f64, [data, noise]: &mut [Stream; 2]) -> (Vec<u8>, Vec<f32>) {
        let mut bits = vec![0; self.format.k];
        rng::fill_bits(data, &mut bits);
        let mut coded = Vec::with_capacity(3 * bits.len() + 12);
        self.encoder.encode(&bits, &mut coded);
        let sent: Vec<u8> = self.selected.iter().map(|&bit| coded[bit]).collect();
        let mut llrs = vec![0.0; coded.len()];
        for (&bit, soft) in self.selected.iter().zip(self.transmit(&sent, snr, noise)) {
            llrs[bit] += soft;
        }
        (bits, llrs)
    }

    fn transmit(&self, sent: &[u8], snr: f64, noise: &mut Stream) -> Vec<f32> {
        let (modulation, variance) = (self.format.modulation, 0.5 / snr);
        let mut amplitudes = Vec::with_capacity(sent.len());
        modulation.modulate(sent, &mut amplitudes);
        let mut added = vec![0.0; amplitudes.len()];
        gaussian::fill(self.isa, noise, variance.sqrt() as f32, &mut added);
        amplitudes.iter_mut().zip(added).for_each(|(amplitude, noise)| *amplitude += noise);
        let mut llrs = vec![0.0; sent.len()];
        modulation.demodulate(self.isa, &amplitudes, variance as f32, &mut llrs);
        llrs
    }
}
