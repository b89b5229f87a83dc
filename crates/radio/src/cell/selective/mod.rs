//! The channel at the centre of group `g` is `H_g = sum over paths of sqrt(p) e^(-2 pi i f_g tau) z`, with
//! power `p`, delay `tau` and complex amplitude `z` of each path. All paths of a user read the fading
//! sequence at the same instants ([`Bundle`]), so `H_g` is linear between samples, which are 11 ms apart at 3
//! km/h and 2 GHz. Each sample takes one multiplication for each path and group; an evaluation between two
//! samples takes one multiplication for each group. For users so fast that every TTI has another sample, no
//! channel is kept: the paths at the two samples around a TTI are added with their weights. Not modelled:
//! variation within a group, which is 720 kHz wide at 20 MHz. Delays of 5 us turn phases by several periods
//! within such a group, so that its mean gain would vary less than the gain at its centre.

use std::f64::consts::TAU;
use std::sync::Arc;

use nodeb_base::rng::Streams;

use super::doppler::{Bundle, JakesSequence};
use crate::mac::band::{Band, Groups, MAX_GROUPS, Row};

type Rows = [Row; 2];

/// Groups that are computed at once, for all paths.
const LANES: usize = 16;

/// Complex factor of each path on each group, shared by all users with this profile.
#[derive(Clone, Debug)]
pub struct Response {
    factors: Box<[Rows]>,
    groups: usize,
}

impl Response {
    /// Delays in seconds and mean powers.
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
        Self { factors: paths.iter().map(factors).collect(), groups: band.groups() }
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    pub fn paths(&self) -> usize {
        self.factors.len()
    }

    #[inline]
    fn add(&self, path: usize, (re, im): (f32, f32), h: &mut Rows) {
        let [cos, sin] = &self.factors[path];
        let [h_re, h_im] = h;
        for group in 0..MAX_GROUPS {
            h_re[group] += re * cos[group] - im * sin[group];
            h_im[group] += re * sin[group] + im * cos[group];
        }
    }
}

impl Response {
    fn sum(&self, amplitudes: &[(f32, f32)]) -> Rows {
        let mut h = [[0.0; MAX_GROUPS]; 2];
        for part in 0..self.groups.div_ceil(LANES) {
            let (mut h_re, mut h_im) = ([0.0; LANES], [0.0; LANES]);
            for (factors, (re, im)) in self.factors.iter().zip(amplitudes) {
                let [cos, sin] = factors.each_ref().map(|row| &row.as_chunks::<LANES>().0[part]);
                for lane in 0..LANES {
                    h_re[lane] += re * cos[lane] - im * sin[lane];
                    h_im[lane] += re * sin[lane] + im * cos[lane];
                }
            }
            for (h, sum) in h.iter_mut().zip([h_re, h_im]) {
                h.as_chunks_mut::<LANES>().0[part] = sum;
            }
        }
        h
    }
}

/// At walking speed, a user passes fewer than three samples between a measurement and its use.
const KEPT: usize = 4;

// Clause: TS 36.101, B.2: fading in time and frequency
// Simplified: one value for each group of resource blocks and subframe
#[derive(Clone, Debug)]
pub struct Selective {
    response: Arc<Response>,
    bundle: Bundle,
    /// At the sample read last.
    amplitudes: Box<[(f32, f32)]>,
    /// Sample `s` has index `s % KEPT`; `u64::MAX` if unused.
    samples: [u64; KEPT],
    kept: Box<[Rows; KEPT]>,
}

impl Selective {
    /// `entity` selects the random streams; at `doppler_per_tti` 0 the channel does not change.
    pub fn new(
        response: Arc<Response>,
        doppler_per_tti: f64,
        entity: (&str, u64),
        streams: &Streams,
    ) -> Self {
        let (kind, id) = entity;
        let draws = (0..response.paths()).map(|i| streams.indexed(kind, id, &format!("path {i}")));
        let bundle = Bundle::new(doppler_per_tti, draws);
        Self {
            amplitudes: vec![(0.0, 0.0); response.paths()].into(),
            response,
            bundle,
            samples: [u64::MAX; KEPT],
            kept: Box::new([[[0.0; MAX_GROUPS]; 2]; KEPT]),
        }
    }

    /// Gains have mean 1.
    pub fn gains(&mut self, sequence: &JakesSequence, tti: u64, gains: &mut Row) {
        let [re, im] = self.channel(sequence, tti);
        for group in 0..MAX_GROUPS {
            gains[group] = re[group] * re[group] + im[group] * im[group];
        }
    }

    /// Also the other groups if computing all is faster.
    #[inline]
    pub fn gains_of(&mut self, sequence: &JakesSequence, tti: u64, groups: Groups, gains: &mut Row) {
        // More groups take less time if the gains of all groups are computed at once.
        if self.bundle.is_slow() && groups.len() <= LANES / 2 {
            let (sample, fraction) = self.bundle.place(tti);
            let [from, to] = self.ends(sequence, sample);
            for group in groups {
                let part = |part: usize| from[part][group] + (to[part][group] - from[part][group]) * fraction;
                let (re, im) = (part(0), part(1));
                gains[group] = re * re + im * im;
            }
        } else {
            self.gains(sequence, tti, gains);
        }
    }

    #[inline]
    pub fn channel(&mut self, sequence: &JakesSequence, tti: u64) -> [Row; 2] {
        let (sample, fraction) = self.bundle.place(tti);
        if self.bundle.is_slow() {
            let [from, to] = self.ends(sequence, sample);
            let mut h = [[0.0; MAX_GROUPS]; 2];
            for (h, (from, to)) in h.iter_mut().zip(from.iter().zip(to)) {
                for group in 0..MAX_GROUPS {
                    h[group] = from[group] + (to[group] - from[group]) * fraction;
                }
            }
            h
        } else {
            self.direct(sequence, sample, fraction)
        }
    }

    #[inline]
    pub fn channel_of(&mut self, sequence: &JakesSequence, tti: u64, groups: Groups, h: &mut [Row; 2]) {
        if self.bundle.is_slow() && groups.len() <= LANES / 2 {
            let (sample, fraction) = self.bundle.place(tti);
            let [from, to] = self.ends(sequence, sample);
            for group in groups {
                for (h, (from, to)) in h.iter_mut().zip(from.iter().zip(to)) {
                    h[group] = from[group] + (to[group] - from[group]) * fraction;
                }
            }
        } else {
            *h = self.channel(sequence, tti);
        }
    }

    #[inline]
    fn ends(&mut self, sequence: &JakesSequence, sample: u64) -> [&Rows; 2] {
        let places = [sample, sample + 1].map(|sample| (sample, sample as usize % KEPT));
        for (sample, place) in places {
            if self.samples[place] != sample {
                self.kept[place] = self.at(sequence, sample);
                self.samples[place] = sample;
            }
        }
        places.map(|(_, place)| &self.kept[place])
    }

    #[inline(never)]
    fn at(&mut self, sequence: &JakesSequence, sample: u64) -> Rows {
        let Self { response, bundle, amplitudes, .. } = self;
        bundle.read(sequence, sample, |path, z| amplitudes[path] = z);
        response.sum(amplitudes)
    }

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
