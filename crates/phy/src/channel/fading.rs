//! Sum of sinusoids: `h(t) = sqrt(P / N) sum exp(j (2 pi fd t cos a_n + p_n))` with N = 64 directions `a_n =
//! (2 pi n + u) / N`, u and the phases p_n uniform (Xiao, Zheng and Beaulieu, IEEE Trans. Wireless Comm.
//! 5(12), 2006, with evenly spaced directions). Over time one realisation has the autocorrelation `J0(2 pi fd
//! t)` while `2 pi fd t < N`; the kurtosis of its envelope is 2 - 1/N instead of 2.

use num_complex::Complex32;
use rand_core::Rng as _;

use crate::rng::{Stream, unit};
use crate::simd::Isa;
use crate::spreading::{CHIP_RATE, FRAME_CHIPS};

/// At 120 km/h and 2 GHz the phase of each oscillator changes by at most 0.023 rad in 64 chips.
pub const SEGMENT: usize = 64;

const OSCILLATORS: usize = 64;
const LANES: usize = 8;
const TURN: f64 = 2.0 * std::f64::consts::PI;

#[derive(Clone, Debug)]
pub struct Fading {
    /// In turns per second, and phase at time 0 in turns.
    oscillators: Vec<(f64, f64)>,
    amplitude: f32,
}

impl Fading {
    /// Phases and directions are drawn from `stream`.
    pub fn rayleigh(stream: &mut Stream, power: f64, doppler_hz: f64) -> Self {
        let mut draw = || unit(stream.next_u64());
        let offset = draw();
        let oscillator = |n| {
            let direction = (n as f64 + offset) / OSCILLATORS as f64 * TURN;
            (doppler_hz * libm::cos(direction), draw())
        };
        Self {
            oscillators: (0..OSCILLATORS).map(oscillator).collect(),
            amplitude: (power / OSCILLATORS as f64).sqrt() as f32,
        }
    }

    /// Only the phase is drawn.
    pub fn constant(stream: &mut Stream, power: f64) -> Self {
        Self { oscillators: vec![(0.0, unit(stream.next_u64()))], amplitude: power.sqrt() as f32 }
    }

    /// One for each segment of 64 chips from the beginning of radio frame `frame` on.
    pub fn segments(&self, isa: Isa, frame: u64, out: &mut [Complex32]) {
        let spacing = SEGMENT as f64 / CHIP_RATE;
        let start = frame as f64 * (FRAME_CHIPS as f64 / CHIP_RATE) + spacing / 2.0;
        let mut bank = Bank::default();
        for (at, &(turns, phase)) in self.oscillators.iter().enumerate() {
            bank.set(at, phase + turns * start, turns * spacing);
        }
        let amplitude = self.amplitude;
        isa.run(
            #[inline(always)]
            || {
                for out in out.iter_mut() {
                    *out = bank.next() * amplitude;
                }
            },
        );
    }
}

/// Unit phasors, rotated from segment to segment.
#[derive(Clone, Copy)]
struct Bank {
    re: [f32; OSCILLATORS],
    im: [f32; OSCILLATORS],
    step_re: [f32; OSCILLATORS],
    step_im: [f32; OSCILLATORS],
}

impl Default for Bank {
    fn default() -> Self {
        let zeros = [0.0; OSCILLATORS];
        Self { re: zeros, im: zeros, step_re: zeros, step_im: zeros }
    }
}

impl Bank {
    /// In the first segment, and per segment, in turns.
    fn set(&mut self, at: usize, phase: f64, step: f64) {
        let (sin, cos) = libm::sincos(phase.fract() * TURN);
        (self.re[at], self.im[at]) = (cos as f32, sin as f32);
        let (sin, cos) = libm::sincos(step.fract() * TURN);
        (self.step_re[at], self.step_im[at]) = (cos as f32, sin as f32);
    }

    #[inline(always)]
    fn next(&mut self) -> Complex32 {
        let (mut sum_re, mut sum_im) = ([0.0; LANES], [0.0; LANES]);
        for group in 0..OSCILLATORS / LANES {
            for lane in 0..LANES {
                let at = group * LANES + lane;
                let (re, im) = (self.re[at], self.im[at]);
                sum_re[lane] += re;
                sum_im[lane] += im;
                self.re[at] = re * self.step_re[at] - im * self.step_im[at];
                self.im[at] = re * self.step_im[at] + im * self.step_re[at];
            }
        }
        Complex32::new(sum_re.iter().sum(), sum_im.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    const SEGMENTS: usize = FRAME_CHIPS / SEGMENT;

    fn frames(seed: u64, doppler_hz: f64, n: u64) -> Vec<Complex32> {
        let fading = Fading::rayleigh(&mut stream(seed, "fading", 0), 1.0, doppler_hz);
        let mut all = vec![Complex32::ZERO; SEGMENTS * n as usize];
        for (frame, out) in all.chunks_mut(SEGMENTS).enumerate() {
            fading.segments(Isa::best(), frame as u64, out);
        }
        all
    }

    #[test]
    fn mean_power_is_as_set_and_frames_are_continuous() {
        let h = frames(1, 222.0, 500);
        let power = h.iter().map(Complex32::norm_sqr).sum::<f32>() / h.len() as f32;
        assert!((power - 1.0).abs() < 0.05, "{power}");
        assert!(h.windows(2).all(|pair| (pair[1] - pair[0]).norm() < 0.03 * 3.0));
    }

    #[test]
    fn autocorrelation_is_the_bessel_function() {
        let (doppler, runs) = (222.0, 40);
        for lag in [10, 40, 70, 103, 150, 300] {
            let time = lag as f64 * SEGMENT as f64 / CHIP_RATE;
            let mut sum = 0.0;
            for seed in 0..runs {
                let h = frames(seed, doppler, 20);
                let pairs = h.iter().zip(&h[lag..]);
                sum += pairs.map(|(a, b)| f64::from((b * a.conj()).re)).sum::<f64>() / (h.len() - lag) as f64;
            }
            let expected = libm::j0(TURN * doppler * time);
            assert!((sum / f64::from(runs as u32) - expected).abs() < 0.04, "{lag}: {sum} for {expected}");
        }
    }

    /// Rice: rho times the root mean square is crossed upwards `sqrt(2 pi) fd rho exp(-rho^2)` times per
    /// second, and undercut for `1 - exp(-rho^2)` of the time.
    #[test]
    fn level_crossings_and_fade_durations_follow_rice() {
        let doppler = 222.0;
        let h: Vec<Complex32> = (0..20).flat_map(|seed| frames(seed, doppler, 200)).collect();
        let h: Vec<f32> = h.into_iter().map(Complex32::norm).collect();
        let seconds = h.len() as f64 * SEGMENT as f64 / CHIP_RATE;
        for rho in [0.1f64, 0.3, 1.0, 1.5] {
            let level = rho as f32;
            let crossings = h.windows(2).filter(|pair| pair[0] < level && pair[1] >= level).count() as f64;
            let expected = TURN.sqrt() * doppler * rho * libm::exp(-rho * rho) * seconds;
            assert!((crossings / expected - 1.0).abs() < 0.08, "{rho}: {crossings} for {expected}");
            let below = h.iter().filter(|&&x| x < level).count() as f64 / h.len() as f64;
            let expected = 1.0 - libm::exp(-rho * rho);
            assert!((below / expected - 1.0).abs() < 0.08, "{rho}: {below} for {expected}");
        }
    }

    #[test]
    fn instruction_sets_give_the_same_coefficients() {
        let fading = Fading::rayleigh(&mut stream(1, "fading", 0), 1.0, 222.0);
        let mut both = [vec![Complex32::ZERO; SEGMENTS], vec![Complex32::ZERO; SEGMENTS]];
        fading.segments(Isa::Baseline, 9, &mut both[0]);
        fading.segments(Isa::best(), 9, &mut both[1]);
        assert_eq!(both[0], both[1]);
    }
}
