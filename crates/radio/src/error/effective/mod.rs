//! Effective SNR of a block whose groups of resource blocks have different SNRs: the SNR of a flat
//! channel with the same block error rate.
//!
//! Two mappings exist, both of the form `beta C^-1(mean of C(snr / beta))`:
//!
//! - [`Mapping::Information`]: C is the mutual information per bit of the modulation, beta is 1 (IEEE
//!   C802.16m-07/097, "Link performance abstraction based on mean mutual information per bit (MMIB) of the LLR
//!   channel");
//! - [`Mapping::Exponential`]: `C(x) = 1 - e^-x` (EESM; TR 25.892, annex A), with a fitted beta for each MCS.
//!
//! [`Mapping::Information`] is the default. It needs no fitted constants ("without the need of
//! adjustment factors", as its source states), while published betas differ: at 64QAM with rate
//! 0.93, 28 to 35. The documentation of ns-3's LTE model gives two reasons for this mapping: its
//! accuracy (citing COST 2100 TD(10)11052), and that the information of retransmissions adds up,
//! even if their MCSs differ.
//!
//! The effective SNR follows from a mean over the block's resource blocks. Computing it takes one
//! table look-up for each group, and one search.

pub mod curve;
pub mod information;
pub mod modulation;

use std::sync::OnceLock;

use curve::Curve;
use modulation::Modulation;

use crate::mac::band::{Groups, MAX_GROUPS, Row};

/// Mapping from the SNRs of groups to one SNR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    /// Mean mutual information per bit.
    #[default]
    Information,
    /// Exponential effective SNR mapping.
    Exponential,
}

/// Mapping from the SNRs of groups to the effective SNR, for each format of a standard.
#[derive(Clone, Debug)]
pub struct EffectiveSnr {
    curves: Vec<&'static Curve>,
    /// For each format, the index of its curve in `curves`, and its beta.
    formats: Vec<(u8, f32)>,
}

impl EffectiveSnr {
    // Clause: IEEE C802.16m-07/097: effective SNR by mutual information
    /// Creates the mapping by mutual information, for formats with the given modulations.
    pub fn by_information(modulations: &[Modulation]) -> Self {
        let mut known: Vec<Modulation> = modulations.to_vec();
        known.sort_unstable();
        known.dedup();
        let place = |one: &Modulation| known.partition_point(|other| other < one) as u8;
        let formats = modulations.iter().map(|one| (place(one), 1.0)).collect();
        Self { curves: known.into_iter().map(Modulation::curve).collect(), formats }
    }

    /// Creates the exponential mapping (EESM), for formats with the given betas.
    pub fn exponential(betas: &[f32]) -> Self {
        static CURVE: OnceLock<Curve> = OnceLock::new();
        let curves = vec![CURVE.get_or_init(|| Curve::new(|snr| libm::exp(-snr)))];
        Self { curves, formats: betas.iter().map(|beta| (0, *beta)).collect() }
    }

    /// Returns the effective linear SNR of a block with format `format` that is sent on `groups`, a
    /// set that is not empty. `snr` has the linear SNR of each group, and `sizes` its number of
    /// resource blocks.
    #[inline]
    pub fn of(&self, format: u8, snr: &Row, groups: Groups, sizes: &Row) -> f32 {
        let (curve, beta) = self.curve(format);
        let inverse = 1.0 / beta;
        mean(curve, beta, groups, sizes, |group| curve.missing(snr[group] * inverse))
    }

    /// Returns the values of all curves at some linear SNRs, without betas.
    ///
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

    /// Returns the index of a format's curve in [`Levels`].
    #[inline]
    pub fn curve_of(&self, format: u8) -> usize {
        usize::from(self.formats[usize::from(format)].0) % CURVES
    }

    /// Returns the linear SNR at which the curve with index `curve`, without a beta, has its value
    /// in `means`.
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

/// Largest number of curves in [`Levels`].
pub const CURVES: usize = 4;

/// Values of each curve at `N` SNRs.
#[derive(Clone, Debug)]
pub struct Levels<const N: usize>([[f32; CURVES]; N]);

impl<const N: usize> Levels<N> {
    /// Returns, for each curve, the mean of its values over the resource blocks of `groups`, a set
    /// that is not empty. `at` has the index of each group's SNR, and `sizes` its number of resource
    /// blocks.
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

/// Returns the linear SNR at which a curve with `beta` has the mean of its values over the resource
/// blocks of `groups`. `value` returns the curve's value on a group.
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
