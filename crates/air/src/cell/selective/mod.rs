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

/// Groups in one vector instruction.
const LANES: usize = 4;
const VECTORS: usize = MAX_GROUPS / LANES;
/// Computed at once, so that their sums stay in registers.
const FIRST: usize = 4;

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
    fn sum(&self, amplitudes: &[(f32, f32)], h: &mut Rows) {
        self.sum_on::<0, FIRST>(amplitudes, h);
        self.sum_on::<FIRST, { VECTORS - FIRST }>(amplitudes, h);
    }

    #[inline]
    fn sum_on<const BEGIN: usize, const COUNT: usize>(&self, amplitudes: &[(f32, f32)], h: &mut Rows) {
        let (mut h_re, mut h_im) = ([[0.0; LANES]; COUNT], [[0.0; LANES]; COUNT]);
        for (factors, (re, im)) in self.factors.iter().zip(amplitudes) {
            let [cos, sin] = factors.each_ref().map(|row| &row.as_chunks::<LANES>().0[BEGIN..BEGIN + COUNT]);
            for vector in 0..COUNT {
                for lane in 0..LANES {
                    let (cos, sin) = (cos[vector][lane], sin[vector][lane]);
                    h_re[vector][lane] += re * cos - im * sin;
                    h_im[vector][lane] += re * sin + im * cos;
                }
            }
        }
        for (h, sum) in h.iter_mut().zip([h_re, h_im]) {
            h.as_chunks_mut::<LANES>().0[BEGIN..BEGIN + COUNT].copy_from_slice(&sum);
        }
    }
}

/// More groups take less time if all are computed at once.
const FEW: usize = 8;

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
        let (sample, fraction) = self.bundle.place(tti);
        if self.bundle.is_slow() {
            let [from, to] = self.ends(sequence, sample);
            for (group, gain) in gains.iter_mut().enumerate() {
                *gain = gain_between(from, to, group, fraction);
            }
        } else {
            let [re, im] = self.direct(sequence, sample, fraction);
            for group in 0..MAX_GROUPS {
                gains[group] = re[group] * re[group] + im[group] * im[group];
            }
        }
    }

    /// Also the other groups if computing all is faster.
    #[inline]
    pub fn gains_of(&mut self, sequence: &JakesSequence, tti: u64, groups: Groups, gains: &mut Row) {
        if self.bundle.is_slow() && groups.len() <= FEW {
            let (sample, fraction) = self.bundle.place(tti);
            let [from, to] = self.ends(sequence, sample);
            for group in groups {
                gains[group] = gain_between(from, to, group, fraction);
            }
        } else {
            self.gains(sequence, tti, gains);
        }
    }

    /// Upper bound of the gains on all groups, which only rounding errors can exceed; `None` if the gains
    /// themselves take no longer. Between two samples `H_g` is on the line between its values there.
    pub fn peak(&mut self, sequence: &JakesSequence, tti: u64) -> Option<f32> {
        let (sample, _) = self.bundle.place(tti);
        let [from, to] = self.bundle.is_slow().then(|| self.ends(sequence, sample))?;
        let mut gains = [0.0; MAX_GROUPS];
        higher_gains(from, to, &mut gains);
        let mut highest = [0.0; LANES];
        for gains in gains.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                highest[lane] = if highest[lane] > gains[lane] { highest[lane] } else { gains[lane] };
            }
        }
        Some(highest.into_iter().fold(0.0, f32::max))
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
        if self.bundle.is_slow() && groups.len() <= FEW {
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
                self.keep(sequence, sample, place);
            }
        }
        places.map(|(_, place)| &self.kept[place])
    }

    #[inline(never)]
    fn keep(&mut self, sequence: &JakesSequence, sample: u64, place: usize) {
        let Self { response, bundle, amplitudes, samples, kept, .. } = self;
        bundle.read(sequence, sample, |path, z| amplitudes[path] = z);
        response.sum(amplitudes, &mut kept[place]);
        samples[place] = sample;
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

#[inline(never)] // If inlined, it is not vectorized, which costs a large cell of LTE 2 %.
fn higher_gains(from: &Rows, to: &Rows, gains: &mut Row) {
    for (group, gain) in gains.iter_mut().enumerate() {
        let [from, to] = [from, to].map(|[re, im]| re[group] * re[group] + im[group] * im[group]);
        *gain = if from > to { from } else { to };
    }
}

#[inline]
fn gain_between(from: &Rows, to: &Rows, group: usize, fraction: f32) -> f32 {
    let [re, im] = [0, 1].map(|part| from[part][group] + (to[part][group] - from[part][group]) * fraction);
    re * re + im * im
}

#[cfg(test)]
mod tests;
