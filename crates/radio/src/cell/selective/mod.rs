//! Fading in frequency and time: the power gain of each group of resource blocks.
//!
//! The channel at the centre of group `g` is `H_g = sum over paths of sqrt(p) e^(-2 pi i f_g tau) z`, with power
//! `p`, delay `tau` and complex amplitude `z` of each path. All paths of a user read the fading sequence at the
//! same instants ([`Bundle`]), so `H_g` is linear between samples, which are 11 ms apart at 3 km/h and 2 GHz.
//! A sample takes a multiplication for each path and group, an evaluation between samples one for each group.
//! For users so fast that every TTI has another sample, nothing is kept: the paths of both samples
//! are added with their weights. In either case a value depends on the TTI only, and TTIs that are
//! not evaluated cost nothing.
//!
//! Not modelled: variation within a group, which is 720 kHz wide at 20 MHz. Delays of 5 us turn phases by several
//! periods within such a group, so that its mean gain would vary less than the gain at its centre.

use std::f64::consts::TAU;
use std::sync::Arc;

use nodeb_base::rng::Streams;

use super::doppler::{Bundle, JakesSequence};
use crate::mac::band::{Band, MAX_GROUPS, Row};

/// Real and imaginary parts for each group.
type Rows = [Row; 2];

/// Factors of a profile's paths on the groups of a band, shared by all users with this profile.
#[derive(Clone, Debug)]
pub struct Response(Box<[Rows]>);

impl Response {
    /// Creates the factors for paths with the given delays in seconds and mean powers.
    pub fn new(paths: &[(f64, f64)], band: &Band) -> Self {
        let factors = |&(delay, power): &(f64, f64)| {
            let factor = |group: usize| {
                let (sin, cos) = libm::sincos(-TAU * band.centre_hz(group) * delay);
                [cos, sin].map(|part| (part * libm::sqrt(power)) as f32)
            };
            let mut rows = [[0.0; MAX_GROUPS]; 2];
            for group in band.all() {
                [rows[0][group], rows[1][group]] = factor(group);
            }
            rows
        };
        Self(paths.iter().map(factors).collect())
    }

    /// Returns the number of paths.
    pub fn paths(&self) -> usize {
        self.0.len()
    }

    /// Adds a path with amplitude `z` to the channel `h`.
    #[inline]
    fn add(&self, path: usize, (re, im): (f32, f32), h: &mut Rows) {
        let [cos, sin] = &self.0[path];
        let [h_re, h_im] = h;
        for group in 0..MAX_GROUPS {
            h_re[group] += re * cos[group] - im * sin[group];
            h_im[group] += re * sin[group] + im * cos[group];
        }
    }
}

/// Fading channel of a user on the groups of a band.
#[derive(Clone, Debug)]
pub struct Selective {
    response: Arc<Response>,
    bundle: Bundle,
    /// Sample to which the first of `ends` belongs.
    sample: u64,
    /// Channel at `sample` and the next one, if the user is slow.
    ends: [Rows; 2],
}

impl Selective {
    /// Creates the channel of user `id`, which fades by `doppler_per_tti` periods of the maximum Doppler shift per
    /// TTI; at 0 it does not change.
    pub fn new(response: Arc<Response>, doppler_per_tti: f64, id: u64, streams: &Streams) -> Self {
        let draws = (0..response.paths()).map(|i| streams.indexed("user", id, &format!("path {i}")));
        let bundle = Bundle::new(doppler_per_tti, draws);
        Self { response, bundle, sample: u64::MAX, ends: [[[0.0; MAX_GROUPS]; 2]; 2] }
    }

    /// Computes the power gain of each group in TTI `tti`; its mean is 1.
    pub fn gains(&mut self, sequence: &JakesSequence, tti: u64, gains: &mut Row) {
        let [re, im] = self.channel(sequence, tti);
        for group in 0..MAX_GROUPS {
            gains[group] = re[group] * re[group] + im[group] * im[group];
        }
    }

    /// Returns the complex channel of each group in TTI `tti`.
    #[inline]
    pub fn channel(&mut self, sequence: &JakesSequence, tti: u64) -> [Row; 2] {
        let (sample, fraction) = self.bundle.place(tti);
        if self.bundle.is_slow() {
            self.move_to(sequence, sample);
            self.between(fraction)
        } else {
            self.direct(sequence, sample, fraction)
        }
    }

    /// Makes `ends` valid at a sample and the next one.
    #[inline]
    fn move_to(&mut self, sequence: &JakesSequence, sample: u64) {
        if sample == self.sample {
            return;
        }
        self.ends[0] =
            if sample == self.sample.wrapping_add(1) { self.ends[1] } else { self.at(sequence, sample) };
        self.ends[1] = self.at(sequence, sample + 1);
        self.sample = sample;
    }

    /// Returns the channel at a fraction of the distance between the two samples.
    #[inline]
    fn between(&self, fraction: f32) -> Rows {
        let [from, to] = &self.ends;
        let part = |part: usize| {
            std::array::from_fn(|group| from[part][group] + (to[part][group] - from[part][group]) * fraction)
        };
        [part(0), part(1)]
    }

    /// Returns the channel at a sample.
    fn at(&mut self, sequence: &JakesSequence, sample: u64) -> Rows {
        let mut h = [[0.0; MAX_GROUPS]; 2];
        let Self { response, bundle, .. } = self;
        bundle.read(sequence, sample, |path, z| response.add(path, z, &mut h));
        h
    }

    /// Returns the channel at a fraction of the distance from a sample to the next: the weighted
    /// sum of the paths at both samples.
    fn direct(&mut self, sequence: &JakesSequence, sample: u64, fraction: f32) -> Rows {
        let mut h = [[0.0; MAX_GROUPS]; 2];
        let Self { response, bundle, .. } = self;
        let [before, after] = [1.0 - fraction, fraction];
        bundle
            .read(sequence, sample, |path, (re, im)| response.add(path, (re * before, im * before), &mut h));
        bundle.read(sequence, sample + 1, |path, (re, im)| {
            response.add(path, (re * after, im * after), &mut h);
        });
        h
    }
}

#[cfg(test)]
mod tests;
