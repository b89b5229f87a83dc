//! Mutual information of a bit and its soft value on a Gaussian channel (bit-interleaved coded modulation; Caire,
//! Taricco & Biglieri, IEEE Trans. Inf. Theory 44(3), 1998), with the Gray mappings of TS 36.211, 7.1.
//!
//! Real and imaginary part of a symbol are independent amplitude modulations with the same mapping, up to inverted
//! bits. So the information of a bit is a mean over the levels of one part, and an integral over its noise.

use std::sync::OnceLock;

use super::curve::Curve;
use super::modulation::Modulation;

/// Distance of two points of the integral, in standard deviations of the noise.
const STEP: f64 = 0.2;
/// Number of points on each side of 0.
const REACH: i32 = 40;
/// Value below which a curve is continued exponentially.
const SMALL: f64 = 1e-6;

impl Modulation {
    /// Returns the number of bits of the real or the imaginary part of a symbol.
    const fn bits_per_part(self) -> u32 {
        self.order() / 2
    }

    /// Returns 1 less the mutual information of a bit, at an SNR per symbol (linear).
    pub fn missing(self, snr: f64) -> f64 {
        let levels = 1u32 << self.bits_per_part();
        // Half the distance of two levels, in standard deviations of the noise.
        let half = libm::sqrt(3.0 * snr / f64::from(levels * levels - 1));
        let mut sum = 0.0;
        // The other half of the levels is symmetric.
        for sent in 0..levels / 2 {
            for point in -REACH..=REACH {
                let noise = f64::from(point) * STEP;
                sum += libm::exp(-noise * noise / 2.0) * self.doubt(half, sent, noise);
            }
        }
        let density = STEP / libm::sqrt(std::f64::consts::TAU);
        sum * density / f64::from(levels / 2 * self.bits_per_part())
    }

    /// Returns the uncertainty in bit, summed over the bits of a level, if this noise was added to it.
    fn doubt(self, half: f64, sent: u32, noise: f64) -> f64 {
        let bits = self.bits_per_part();
        let label = |level: u32| level ^ level >> 1;
        // Likelihoods of the levels relative to that of the one sent: all, and those with other bits.
        let (mut all, mut others) = (0.0, [0.0; 4]);
        for level in 0..1 << bits {
            let shift = 2.0 * half * (f64::from(sent) - f64::from(level));
            let likelihood = libm::exp(-shift * (shift / 2.0 + noise));
            all += likelihood;
            for (bit, other) in others.iter_mut().enumerate() {
                *other += if (label(level) ^ label(sent)) >> bit & 1 == 1 { likelihood } else { 0.0 };
            }
        }
        let doubt = |other: &f64| libm::log1p(other / (all - other)) / std::f64::consts::LN_2;
        others.iter().take(bits as usize).map(doubt).sum()
    }

    /// Returns the table of [`Self::missing`], which is computed once.
    pub fn curve(self) -> &'static Curve {
        static CURVES: [OnceLock<Curve>; 4] = [const { OnceLock::new() }; 4];
        CURVES[self as usize].get_or_init(|| self.compute_curve())
    }

    fn compute_curve(self) -> Curve {
        // The last two points.
        let mut last = [(0.0, 1.0); 2];
        Curve::new(|snr| {
            let [(before, more), (at, less)] = last;
            if less < SMALL {
                return less * libm::exp((snr - at) * libm::log(less / more) / (at - before));
            }
            last = [last[1], (snr, self.missing(snr))];
            last[1].1
        })
    }
}
