//! The SNR of a flat channel with the same block error rate: `beta C^-1(mean of C(snr / beta))`. For
//! [`Mapping::Information`], the default, C is the mutual information per bit and beta 1 (IEEE
//! C802.16m-07/097, "Link performance abstraction based on mean mutual information per bit (MMIB) of the LLR
//! channel"): it needs no fitted constants, while published betas differ (at 64QAM with rate 0.93, 28 to 35).
//! [`Mapping::Exponential`] has `C(x) = 1 - e^-x` (EESM; TR 25.892, annex A), with a fitted beta for each
//! MCS.

pub mod curve;
pub mod information;
pub mod modulation;

use std::sync::OnceLock;

use curve::Curve;
use modulation::Modulation;

use crate::mac::band::{Groups, MAX_GROUPS, Row};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    #[default]
    Information,
    Exponential,
}

#[derive(Clone, Debug)]
pub struct EffectiveSnr {
    curves: Vec<&'static Curve>,
    /// Curve and beta of each format.
    formats: Vec<(u8, f32)>,
}

impl EffectiveSnr {
    // Clause: IEEE C802.16m-07/097: effective SNR by mutual information
    pub fn by_information(modulations: &[Modulation]) -> Self {
        let mut known: Vec<Modulation> = modulations.to_vec();
        known.sort_unstable();
        known.dedup();
        let place = |one: &Modulation| known.partition_point(|other| other < one) as u8;
        let formats = modulations.iter().map(|one| (place(one), 1.0)).collect();
        Self { curves: known.into_iter().map(Modulation::curve).collect(), formats }
    }

    pub fn exponential(betas: &[f32]) -> Self {
        static CURVE: OnceLock<Curve> = OnceLock::new();
        let curves = vec![CURVE.get_or_init(|| Curve::new(|snr| libm::exp(-snr)))];
        Self { curves, formats: betas.iter().map(|beta| (0, *beta)).collect() }
    }

    #[inline]
    pub fn of(&self, format: u8, snr: &Row, groups: Groups, sizes: &Row) -> f32 {
        let (curve, beta) = self.curve(format);
        let inverse = 1.0 / beta;
        mean(curve, beta, groups, sizes, |group| curve.missing(snr[group] * inverse))
    }

    /// # Panics
    ///
    /// Panics if there are more than [`CURVES`] curves.
    pub fn levels<const N: usize>(&self, snrs: [f32; N]) -> Levels<N> {
        let mut levels = [[0.0; CURVES]; N];
        for (values, snr) in levels.iter_mut().zip(snrs) {
            for (at, curve) in self.curves.iter().enumerate() {
                values[at] = curve.missing(snr);
            }
        }
        Levels(levels)
    }

    #[inline]
    pub fn curve_of(&self, format: u8) -> usize {
        usize::from(self.formats[usize::from(format)].0) % CURVES
    }

    #[inline]
    pub fn at_mean(&self, curve: usize, means: &[f32; CURVES]) -> f32 {
        self.curves[curve].snr(means[curve])
    }

    #[inline]
    fn curve(&self, format: u8) -> (&'static Curve, f32) {
        let (curve, beta) = self.formats[usize::from(format)];
        (self.curves[usize::from(curve)], beta)
    }
}

pub const CURVES: usize = 4;

#[derive(Clone, Debug)]
pub struct Levels<const N: usize>([[f32; CURVES]; N]);

impl<const N: usize> Levels<N> {
    /// At least one group; `at` has the index of each group's SNR, `sizes` its number of resource blocks.
    #[inline]
    pub fn means(&self, at: &[u8; MAX_GROUPS], groups: Groups, sizes: &Row) -> [f32; CURVES] {
        let (mut sums, mut blocks) = ([0.0; CURVES], 0.0);
        for group in groups {
            let (values, size) = (&self.0[usize::from(at[group]) % N], sizes[group]);
            for curve in 0..CURVES {
                sums[curve] += values[curve] * size;
            }
            blocks += size;
        }
        sums.map(|sum| sum / blocks)
    }
}

/// `value` is the curve's value on a group.
#[inline]
fn mean(curve: &Curve, beta: f32, groups: Groups, sizes: &Row, value: impl Fn(usize) -> f32) -> f32 {
    let (mut sum, mut blocks) = (0.0, 0.0);
    for group in groups {
        sum += value(group) * sizes[group];
        blocks += sizes[group];
    }
    beta * curve.snr(sum / blocks)
}

#[cfg(test)]
mod tests;
