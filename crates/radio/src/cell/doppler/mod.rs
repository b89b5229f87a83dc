//! Rayleigh fading with Jakes' Doppler spectrum (Clarke 1968; Jakes, "Microwave Mobile Communications",
//! 1974), fast enough for every path of every user in every TTI.
//!
//! A long complex Gaussian sequence is made once per run, by an inverse DFT of noise shaped with
//! the spectrum `1 / (pi f_d sqrt(1 - (f / f_d)^2))` (Young & Beaulieu, IEEE Trans. Commun. 48(7),
//! 2000), with 16 samples per period of the maximum Doppler shift. A path ([`Ray`]) reads the
//! sequence at its own speed from a random position, with linear interpolation. After 512 Doppler
//! periods it continues at another random position. The transition takes 32 periods, with weights
//! whose squares sum to 1, so that the process stays Gaussian with unit power and never repeats.
//!
//! Linear interpolation loses power, more for faster components; the spectrum of the noise is
//! raised to compensate for the loss. Not modelled: the resulting variation of power by 1 % between
//! samples; the autocorrelation at lags of many periods during transitions, which take 6 % of the
//! time; and the correlation of two paths that read the same position at different times.

mod bundle;

use nodeb_base::rng::{Indexed, Stream, uniform};

pub use bundle::Bundle;

/// Number of samples of the sequence per period of the maximum Doppler shift.
pub const SAMPLES_PER_PERIOD: u64 = 16;
/// Binary logarithm of [`LENGTH`].
const LENGTH_BITS: u32 = 15;
/// Number of samples of the sequence, after which it repeats.
const LENGTH: usize = 1 << LENGTH_BITS;

/// Length in samples of a segment, after which a path continues at another random position of the
/// sequence.
const SEGMENT: u64 = 512 * SAMPLES_PER_PERIOD;
/// Number of samples at the end of a segment during which a path passes over to the next segment.
const CHANGE: u64 = 32 * SAMPLES_PER_PERIOD;

/// Maximum number of TTIs for which [`Ray::peak`] gives one bound. Only paths that hardly fade have
/// bounds for so many TTIs.
const MAX_PEAK_TTIS: u64 = 1 << 10;

/// Number of fractional bits of a fixed-point position in the fading sequence.
const FRACTION_BITS: u32 = 20;

/// Complex number, as real and imaginary part.
type Complex<T> = (T, T);

/// Number of samples after sample `i` that entry `i` of `JakesSequence::peaks` covers.
const PEAK_SPAN: u64 = 8;

/// Fading sequence of a run, which all paths of all users read at different positions.
#[derive(Clone, Debug)]
pub struct JakesSequence {
    /// Complex samples of the sequence. The first sample is repeated at the end, so that
    /// interpolation after the last sample does not have to wrap around.
    samples: Box<[Complex<f32>; LENGTH + 1]>,
    /// For each sample, the highest power of this sample and the [`PEAK_SPAN`] samples after it. Empty
    /// in a sequence of zeros.
    peaks: Box<[f32]>,
}

impl JakesSequence {
    /// Creates a fading sequence from random numbers of `stream`. Its mean power, including values
    /// interpolated between samples, is 1.
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

    /// Creates a sequence of zeros for runs without fading users, in which no path reads the
    /// sequence.
    pub fn silent() -> Self {
        let samples: Box<[_]> = vec![(0.0, 0.0); LENGTH + 1].into();
        let samples = samples.try_into().unwrap_or_else(|_| unreachable!("as many samples as were made"));
        Self { samples, peaks: Box::default() }
    }

    /// Returns the complex amplitude between sample `place` and the next sample, by linear
    /// interpolation. `fraction` is the distance from sample `place` in samples, from 0 to 1.
    #[inline]
    fn between(&self, place: u64, fraction: f32) -> Complex<f32> {
        let i = place as usize % LENGTH;
        let (from, to) = (self.samples[i], self.samples[i + 1]);
        (from.0 + (to.0 - from.0) * fraction, from.1 + (to.1 - from.1) * fraction)
    }
}

/// Returns, for each sample, the highest power of this sample and the [`PEAK_SPAN`] samples after
/// it. The first sample follows the last one.
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

/// Replaces the spectrum `x` by its inverse DFT, `x[n] = sum_k X[k] exp(2 pi i k n / N)`, by
/// decimation in time. The length must be a power of two.
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

/// Fading of one path. It can be computed for any TTI from the TTI's number, so TTIs that are not
/// evaluated cost nothing.
#[derive(Clone, Debug)]
pub struct Ray {
    /// Number of samples by which the path advances per TTI, a fixed-point number with
    /// [`FRACTION_BITS`] fractional bits.
    step: u64,
    start: u64,
    /// Number of the segment that the path read in the latest evaluation.
    segment: u64,
    begins: [u32; 2],
    draws: Indexed,
}

impl Ray {
    /// Creates a path whose fading advances by `doppler_per_tti` periods of the maximum Doppler
    /// shift per TTI.
    pub fn new(doppler_per_tti: f64, draws: Indexed) -> Self {
        let one = (1u64 << FRACTION_BITS) as f64;
        let step = samples_per_tti(doppler_per_tti);
        let start = (draws.uniform(0) * SEGMENT as f64 * one) as u64;
        let mut ray = Self { step, start, segment: 0, begins: [0; 2], draws };
        ray.move_to(0);
        ray
    }

    /// Returns the path's power gain in TTI `tti`, relative to its mean.
    #[inline]
    pub fn gain(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        power(self.amplitude(sequence, tti))
    }

    /// Computes the power gains in `N` TTIs from `tti` on, each multiplied by `mean`. Loops over
    /// arrays instead of closures let the compiler vectorize this function, which is called often.
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

    /// Returns the number of TTIs for which [`Self::peak`] gives one bound: at most 1024, fewer if
    /// the path fades faster, and 0 if it fades very fast.
    pub fn peak_ttis(&self) -> u64 {
        (((PEAK_SPAN - 1) << FRACTION_BITS) / self.step.max(1)).min(MAX_PEAK_TTIS)
    }

    /// Returns an upper bound of the power gain in `ttis` TTIs (1 to [`Self::peak_ttis`]) from
    /// `tti` on. Only rounding errors can exceed the bound. It is infinite if the TTIs belong to
    /// two segments.
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

    /// Returns the complex amplitude in the transition to the next segment. `here` is the amplitude
    /// in the current segment, which ends after `left - fraction` samples.
    fn change(&self, sequence: &JakesSequence, here: Complex<f32>, left: u64, fraction: f32) -> Complex<f32> {
        let weight = left as f32 - fraction;
        let others = CHANGE as f32 - weight;
        let next = sequence.between(u64::from(self.begins[1]) + LENGTH as u64 - left, fraction);
        let scale = 1.0 / (weight * weight + others * others).sqrt();
        ((weight * here.0 + others * next.0) * scale, (weight * here.1 + others * next.1) * scale)
    }
}

/// Returns the number of samples per TTI, with [`FRACTION_BITS`] fractional bits.
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
