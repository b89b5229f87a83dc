//! Rayleigh fading with Jakes' Doppler spectrum (Clarke 1968; Jakes, "Microwave Mobile Communications",
//! 1974). A long complex Gaussian sequence is made once per run, by an inverse DFT of noise shaped with the
//! spectrum `1 / (pi f_d sqrt(1 - (f / f_d)^2))` (Young & Beaulieu, IEEE Trans. Commun. 48(7), 2000), with 16
//! samples per period of the maximum Doppler shift. A path reads it at its own speed from a random position
//! and continues at another one after 512 periods; in the transition of 32 periods the weights' squares sum
//! to 1, so that the process stays Gaussian with unit power and never repeats. Not modelled: the variation of
//! power by 1 % between samples, the autocorrelation at lags of many periods during transitions, and the
//! correlation of two paths that read the same position at different times.

mod bundle;

use nodeb_base::rng::{Indexed, Stream, uniform};

pub use bundle::Bundle;

pub const SAMPLES_PER_PERIOD: u64 = 16;
/// Binary logarithm of [`LENGTH`].
const LENGTH_BITS: u32 = 15;
const LENGTH: usize = 1 << LENGTH_BITS;

/// After so many samples a path continues at another random position.
const SEGMENT: u64 = 512 * SAMPLES_PER_PERIOD;
/// Samples of the transition at the end of a segment.
const CHANGE: u64 = 32 * SAMPLES_PER_PERIOD;

/// Only paths that hardly fade have one bound for so many TTIs.
const MAX_PEAK_TTIS: u64 = 1 << 10;

/// Fractional bits of a position in the sequence.
const FRACTION_BITS: u32 = 20;

type Complex<T> = (T, T);

/// Number of samples after sample `i` that entry `i` of `JakesSequence::peaks` covers.
const PEAK_SPAN: u64 = 8;

#[derive(Clone, Debug)]
pub struct JakesSequence {
    /// The first sample is repeated at the end, so that interpolation does not have to wrap around.
    samples: Box<[Complex<f32>; LENGTH + 1]>,
    /// For each sample, the highest power of it and the [`PEAK_SPAN`] after it; empty in a sequence of zeros.
    peaks: Box<[f32]>,
}

impl JakesSequence {
    /// Its mean power, including values interpolated between samples, is 1.
    pub fn new(stream: &mut Stream) -> Self {
        let half = LENGTH / SAMPLES_PER_PERIOD as usize;
        let mut bins = vec![(0.0, 0.0); LENGTH];
        for k in 0..=2 * half {
            let offset = k as f64 - half as f64;
            // Each bin gets the integral of the spectrum over its width. The integral is finite
            // even at the edges of the spectrum, where the spectrum itself is infinite.
            let edge = |f: f64| libm::asin((f / half as f64).clamp(-1.0, 1.0));
            let power = (edge(offset + 0.5) - edge(offset - 0.5)) / std::f64::consts::PI;
            let power = power / kept_by_interpolation(offset);
            let radius = libm::sqrt(-libm::log(1.0 - uniform(stream)) * power);
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * uniform(stream));
            bins[(k + LENGTH - half) % LENGTH] = (radius * cos, radius * sin);
        }
        let kept = |k: usize, (re, im): (f64, f64)| {
            let offset = ((k + LENGTH / 2) % LENGTH) as f64 - (LENGTH / 2) as f64;
            (re * re + im * im) * kept_by_interpolation(offset)
        };
        // All other bins are 0.
        let used = (0..=half).chain(LENGTH - half..LENGTH);
        let power: f64 = used.map(|k| kept(k, bins[k])).sum();
        inverse_dft(&mut bins);
        let scale = 1.0 / libm::sqrt(power);
        let mut sequence = Self::silent();
        for (sample, (re, im)) in sequence.samples.iter_mut().zip(bins.iter().chain(&bins[..1])) {
            *sample = ((re * scale) as f32, (im * scale) as f32);
        }
        sequence.peaks = highest_powers(&sequence.samples[..LENGTH]);
        sequence
    }

    /// Sequence of zeros for runs without fading.
    pub fn silent() -> Self {
        let samples: Box<[_]> = vec![(0.0, 0.0); LENGTH + 1].into();
        let samples = samples.try_into().unwrap_or_else(|_| unreachable!("as many samples as were made"));
        Self { samples, peaks: Box::default() }
    }

    #[inline]
    fn between(&self, place: u64, fraction: f32) -> Complex<f32> {
        let i = place as usize % LENGTH;
        let (from, to) = (self.samples[i], self.samples[i + 1]);
        (from.0 + (to.0 - from.0) * fraction, from.1 + (to.1 - from.1) * fraction)
    }
}

fn highest_powers(samples: &[Complex<f32>]) -> Box<[f32]> {
    let mut highest: Vec<f32> = samples.iter().map(|sample| power(*sample)).collect();
    // Maxima over 1, 2, 4, ... samples are combined to maxima over twice as many samples, so the
    // loop needs few rounds.
    let mut reach = 1;
    while reach <= PEAK_SPAN as usize {
        let next = reach.min(PEAK_SPAN as usize + 1 - reach);
        let ring = highest.clone();
        let later = ring[next..].iter().chain(&ring[..next]);
        highest.iter_mut().zip(later).for_each(|(here, later)| *here = here.max(*later));
        reach += next;
    }
    highest.into()
}

/// Returns the share of its power that a bin of the spectrum keeps under linear interpolation. If
/// `w` is the bin's phase advance per sample, this share is `a^2 + (1 - a)^2 + 2 a (1 - a) cos w`
/// at a fraction `a` between two samples, and `(2 + cos w) / 3` on average over `a`.
fn kept_by_interpolation(offset: f64) -> f64 {
    (2.0 + libm::cos(std::f64::consts::TAU * offset / LENGTH as f64)) / 3.0
}

/// `x[n] = sum_k X[k] exp(2 pi i k n / N)`, by decimation in time, for a power of two.
fn inverse_dft(x: &mut [Complex<f64>]) {
    let bits = x.len().trailing_zeros();
    for i in 0..x.len() {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            x.swap(i, j);
        }
    }
    let circle = |i: usize| {
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * i as f64 / x.len() as f64);
        (cos, sin)
    };
    let twiddles: Vec<_> = (0..x.len() / 2).map(circle).collect();
    let mut half = 1;
    while half < x.len() {
        let stride = x.len() / (2 * half);
        for block in x.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((a, b), w) in low.iter_mut().zip(high).zip(twiddles.iter().step_by(stride)) {
                let turned = (b.0 * w.0 - b.1 * w.1, b.0 * w.1 + b.1 * w.0);
                (*a, *b) = ((a.0 + turned.0, a.1 + turned.1), (a.0 - turned.0, a.1 - turned.1));
            }
        }
        half *= 2;
    }
}

#[derive(Clone, Debug)]
pub struct Ray {
    /// With [`FRACTION_BITS`] fractional bits.
    step: u64,
    start: u64,
    segment: u64,
    begins: [u32; 2],
    draws: Indexed,
}

impl Ray {
    pub fn new(doppler_per_tti: f64, draws: Indexed) -> Self {
        let one = (1u64 << FRACTION_BITS) as f64;
        let step = samples_per_tti(doppler_per_tti);
        let start = (draws.uniform(0) * SEGMENT as f64 * one) as u64;
        let mut ray = Self { step, start, segment: 0, begins: [0; 2], draws };
        ray.move_to(0);
        ray
    }

    /// Relative to the mean power gain.
    #[inline]
    pub fn gain(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        power(self.amplitude(sequence, tti))
    }

    /// Loops over arrays instead of closures let the compiler vectorize this function, which is called often.
    #[inline]
    pub fn gains<const N: usize>(
        &mut self,
        sequence: &JakesSequence,
        tti: u64,
        mean: f32,
        gains: &mut [f32; N],
    ) {
        let position = self.position(tti);
        let first = position >> FRACTION_BITS;
        let last = position.wrapping_add((N as u64 - 1) * self.step) >> FRACTION_BITS;
        let segments = [first, last].map(|sample| sample / SEGMENT);
        if segments != [self.segment; 2] || SEGMENT - last % SEGMENT <= CHANGE {
            for (tti, gain) in (tti..).zip(gains) {
                *gain = self.gain(sequence, tti) * mean;
            }
            return;
        }
        // Outside of a transition, gains depend on a single segment of the sequence. A slow user stays
        // between two samples for several TTIs, but a branch for this case would be unpredictable and
        // cost more than reading the samples again. All samples are read first, so that the computation
        // can be vectorized.
        let place = u64::from(self.begins[0]) + first % SEGMENT;
        let mut ahead = position & ((1 << FRACTION_BITS) - 1);
        let (mut from, mut to) = ([[0.0; N]; 2], [[0.0; N]; 2]);
        let mut fractions = [0.0; N];
        for i in 0..N {
            let at = (place + (ahead >> FRACTION_BITS)) as usize % LENGTH;
            let (before, after) = (sequence.samples[at], sequence.samples[at + 1]);
            (from[0][i], from[1][i]) = before;
            (to[0][i], to[1][i]) = after;
            fractions[i] = fraction_of(ahead);
            ahead += self.step;
        }
        for i in 0..N {
            let at = |part: usize| from[part][i] + (to[part][i] - from[part][i]) * fractions[i];
            gains[i] = power((at(0), at(1))) * mean;
        }
    }

    pub fn peak_ttis(&self) -> u64 {
        (((PEAK_SPAN - 1) << FRACTION_BITS) / self.step.max(1)).min(MAX_PEAK_TTIS)
    }

    /// Bound for 1 to [`Self::peak_ttis`] TTIs, which only rounding errors can exceed; infinite if they
    /// belong to two segments.
    pub fn peak(&mut self, sequence: &JakesSequence, tti: u64, ttis: u64) -> f32 {
        let [first, last] = [tti, tti + ttis - 1].map(|tti| self.position(tti) >> FRACTION_BITS);
        if first / SEGMENT != last / SEGMENT {
            return f32::INFINITY;
        }
        if first / SEGMENT != self.segment {
            self.move_to(first / SEGMENT);
        }
        let peak = |place: u64| sequence.peaks[place as usize % LENGTH];
        let here = peak(u64::from(self.begins[0]) + first % SEGMENT);
        if SEGMENT - last % SEGMENT > CHANGE {
            return here;
        }
        // In a transition, the amplitudes of two segments are added with weights whose squares sum
        // to 1. So the power is at most the sum of the powers in both segments.
        let left = SEGMENT - first % SEGMENT;
        here + peak(u64::from(self.begins[1]) + LENGTH as u64 - left)
    }

    fn position(&self, tti: u64) -> u64 {
        self.start.wrapping_add(tti.wrapping_mul(self.step))
    }

    fn amplitude(&mut self, sequence: &JakesSequence, tti: u64) -> Complex<f32> {
        let position = self.position(tti);
        let (fraction, sample) = (fraction_of(position), position >> FRACTION_BITS);
        if sample / SEGMENT != self.segment {
            self.move_to(sample / SEGMENT);
        }
        let here = sequence.between(u64::from(self.begins[0]) + sample % SEGMENT, fraction);
        let left = SEGMENT - sample % SEGMENT;
        if left > CHANGE { here } else { self.change(sequence, here, left, fraction) }
    }

    #[cold]
    fn move_to(&mut self, segment: u64) {
        let place = |segment| (self.draws.uniform(segment + 1) * LENGTH as f64) as u32;
        (self.begins, self.segment) = ([place(segment), place(segment + 1)], segment);
    }

    fn change(&self, sequence: &JakesSequence, here: Complex<f32>, left: u64, fraction: f32) -> Complex<f32> {
        let weight = left as f32 - fraction;
        let others = CHANGE as f32 - weight;
        let next = sequence.between(u64::from(self.begins[1]) + LENGTH as u64 - left, fraction);
        let scale = 1.0 / (weight * weight + others * others).sqrt();
        ((weight * here.0 + others * next.0) * scale, (weight * here.1 + others * next.1) * scale)
    }
}

fn samples_per_tti(doppler_per_tti: f64) -> u64 {
    (doppler_per_tti * SAMPLES_PER_PERIOD as f64 * (1u64 << FRACTION_BITS) as f64).round() as u64
}

#[inline]
fn fraction_of(position: u64) -> f32 {
    let within = (position & ((1 << FRACTION_BITS) - 1)) as i32;
    within as f32 * (1.0 / (1 << FRACTION_BITS) as f32)
}

#[inline]
fn power((re, im): Complex<f32>) -> f32 {
    re * re + im * im
}

#[cfg(test)]
mod tests;
