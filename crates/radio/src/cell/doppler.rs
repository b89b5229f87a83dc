//! Rayleigh fading with Jakes' Doppler spectrum (Clarke 1968; Jakes, "Microwave Mobile
//! Communications", 1974), cheap enough for every path of every user in every TTI.
//!
//! One long complex Gaussian sequence is made once per run, by an inverse DFT of noise shaped with
//! the spectrum `1 / (pi f_d sqrt(1 - (f / f_d)^2))` (Young & Beaulieu, IEEE Trans. Commun. 48(7),
//! 2000), 16 samples to a period of the maximum Doppler shift. A path ([`Ray`]) reads it at its own
//! speed, with linear interpolation, from a random place. After 512 Doppler periods it goes on
//! at another random place, over to which it fades within 32 periods with weights whose squares
//! add up to one, so that the process stays Gaussian with unit power and never repeats.
//!
//! Linear interpolation takes power, the more the faster a component is, which the spectrum makes
//! up for in advance. Left out: that the power therefore varies by 1 % between samples; the
//! autocorrelation of the 6 % of time within a change of place at lags of many periods; and that two paths may read
//! the same place at different times.

use crate::rng::{Indexed, Stream, uniform};

/// Samples in one period of the maximum Doppler shift.
pub const SAMPLES_PER_PERIOD: u64 = 16;
const LENGTH_BITS: u32 = 15;
const LENGTH: usize = 1 << LENGTH_BITS;

/// Samples that a ray reads from one place, and the last of them in which it changes to another.
const SEGMENT: u64 = 512 * SAMPLES_PER_PERIOD;
const CHANGE: u64 = 32 * SAMPLES_PER_PERIOD;

/// Fractional bits of a position in the sequence.
const FRACTION_BITS: u32 = 20;

/// A complex number.
type Complex<T> = (T, T);

/// The sequence that all paths read.
#[derive(Clone, Debug)]
pub struct JakesSequence(Box<[Complex<f32>]>);

impl JakesSequence {
    /// A sequence of unit power.
    pub fn new(stream: &mut Stream) -> Self {
        let half = LENGTH / SAMPLES_PER_PERIOD as usize;
        let mut bins = vec![(0.0, 0.0); LENGTH];
        for k in 0..=2 * half {
            let offset = k as f64 - half as f64;
            // The spectrum's integral over a bin: finite at its edges, too.
            let edge = |f: f64| libm::asin((f / half as f64).clamp(-1.0, 1.0));
            let power = (edge(offset + 0.5) - edge(offset - 0.5)) / std::f64::consts::PI;
            let power = power / kept_by_interpolation(offset);
            let radius = libm::sqrt(-libm::log(1.0 - uniform(stream)) * power);
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * uniform(stream));
            bins[(k + LENGTH - half) % LENGTH] = (radius * cos, radius * sin);
        }
        let offset = |k: usize| ((k + LENGTH / 2) % LENGTH) as f64 - (LENGTH / 2) as f64;
        let power: f64 = bins
            .iter()
            .enumerate()
            .map(|(k, (re, im))| (re * re + im * im) * kept_by_interpolation(offset(k)))
            .sum();
        inverse_dft(&mut bins);
        let scale = 1.0 / libm::sqrt(power);
        let wrapped = bins.iter().chain(&bins[..1]);
        Self(wrapped.map(|(re, im)| ((re * scale) as f32, (im * scale) as f32)).collect())
    }

    /// A sequence for users who do not fade, which is never read.
    pub fn silent() -> Self {
        Self(Box::default())
    }

    /// The line from a place to the next.
    fn after(&self, place: u64) -> Line {
        let i = place as usize % LENGTH;
        let (from, to) = (self.0[i], self.0[i + 1]);
        Line { from, rise: (to.0 - from.0, to.1 - from.1) }
    }
}

/// A straight line between two samples.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    from: Complex<f32>,
    rise: Complex<f32>,
}

impl Line {
    #[inline]
    fn at(self, fraction: f32) -> Complex<f32> {
        (self.from.0 + self.rise.0 * fraction, self.from.1 + self.rise.1 * fraction)
    }
}

/// Share of a bin's power that linear interpolation keeps: at a fraction `a` between two samples
/// `a^2 + (1 - a)^2 + 2 a (1 - a) cos w` of it, in the mean over `a` `(2 + cos w) / 3`.
fn kept_by_interpolation(offset: f64) -> f64 {
    (2.0 + libm::cos(std::f64::consts::TAU * offset / LENGTH as f64)) / 3.0
}

/// `x[n] = sum_k X[k] exp(2 pi i k n / N)` in place, by decimation in time.
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

/// One path's fading: addressed by TTI, so what nobody looks at costs nothing.
#[derive(Clone, Debug)]
pub struct Ray {
    /// Samples per TTI and position at TTI 0, both with [`FRACTION_BITS`].
    step: u64,
    start: u64,
    /// The sample read last: a slow user stays between two of them for several TTIs.
    sample: u64,
    line: Line,
    places: Box<Places>,
}

/// Where a path reads. Apart from it, because it is not looked at in every TTI.
#[derive(Clone, Debug)]
struct Places {
    draws: Indexed,
    /// The segment read last, and where it and the next one begin in the sequence.
    segment: u64,
    begins: [u64; 2],
}

impl Places {
    fn new(draws: Indexed, segment: u64) -> Self {
        let place = |segment| (draws.uniform(segment + 1) * LENGTH as f64) as u64;
        Self { draws, segment, begins: [place(segment), place(segment + 1)] }
    }
}

impl Ray {
    /// A path that fades `doppler_per_tti` periods of the maximum Doppler shift in a TTI.
    pub fn new(doppler_per_tti: f64, draws: Indexed) -> Self {
        let one = (1u64 << FRACTION_BITS) as f64;
        let step = (doppler_per_tti * SAMPLES_PER_PERIOD as f64 * one).round() as u64;
        let start = (draws.uniform(0) * SEGMENT as f64 * one) as u64;
        let places = Box::new(Places::new(draws, 0));
        Self { step, start, sample: u64::MAX, line: Line::default(), places }
    }

    /// Power gain in TTI number `tti`; its mean is 1.
    pub fn gain(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        power(self.amplitude(sequence, tti))
    }

    /// The same in TTI number `tti` and those after it.
    pub fn gains<const N: usize>(&mut self, sequence: &JakesSequence, tti: u64) -> [f32; N] {
        let mut position = self.position(tti);
        let first = position >> FRACTION_BITS;
        let last = position.wrapping_add((N as u64 - 1) * self.step) >> FRACTION_BITS;
        let segments = [first, last].map(|sample| sample / SEGMENT);
        if segments != [self.places.segment; 2] || SEGMENT - last % SEGMENT <= CHANGE {
            return std::array::from_fn(|i| self.gain(sequence, tti + i as u64));
        }
        // Far from changing places, there is nothing to look at but the sequence.
        let (mut sample, mut line) = (self.sample, self.line);
        let gains = std::array::from_fn(|_| {
            if position >> FRACTION_BITS != sample {
                sample = position >> FRACTION_BITS;
                line = sequence.after(self.places.begins[0] + sample % SEGMENT);
            }
            let gain = power(line.at(fraction_of(position)));
            position = position.wrapping_add(self.step);
            gain
        });
        (self.sample, self.line) = (sample, line);
        gains
    }

    fn position(&self, tti: u64) -> u64 {
        self.start.wrapping_add(tti.wrapping_mul(self.step))
    }

    fn amplitude(&mut self, sequence: &JakesSequence, tti: u64) -> Complex<f32> {
        let position = self.position(tti);
        let (fraction, sample) = (fraction_of(position), position >> FRACTION_BITS);
        if sample != self.sample {
            self.move_to(sequence, sample);
        }
        let here = self.line.at(fraction);
        let left = SEGMENT - sample % SEGMENT;
        if left > CHANGE { here } else { self.change(sequence, here, left, fraction) }
    }

    fn move_to(&mut self, sequence: &JakesSequence, sample: u64) {
        let segment = sample / SEGMENT;
        if segment != self.places.segment {
            *self.places = Places::new(self.places.draws, segment);
        }
        self.sample = sample;
        self.line = sequence.after(self.places.begins[0] + sample % SEGMENT);
    }

    /// What becomes of `here` with `left` samples until the end of the segment.
    fn change(&self, sequence: &JakesSequence, here: Complex<f32>, left: u64, fraction: f32) -> Complex<f32> {
        let weight = left as f32 - fraction;
        let others = CHANGE as f32 - weight;
        let next = sequence.after(self.places.begins[1] + LENGTH as u64 - left).at(fraction);
        let scale = 1.0 / (weight * weight + others * others).sqrt();
        ((weight * here.0 + others * next.0) * scale, (weight * here.1 + others * next.1) * scale)
    }
}

fn fraction_of(position: u64) -> f32 {
    let within = (position & ((1 << FRACTION_BITS) - 1)) as i32;
    within as f32 * (1.0 / (1 << FRACTION_BITS) as f32)
}

fn power((re, im): Complex<f32>) -> f32 {
    re * re + im * im
}

#[cfg(test)]
mod tests;
