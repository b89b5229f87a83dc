//! Mutual information of a bit and its soft value on a Gaussian channel (bit-interleaved coded modulation;
//! Caire, Taricco & Biglieri, IEEE Trans. Inf. Theory 44(3), 1998), with the Gray mappings of TS 36.211, 7.1.
//! So the information of a bit is an integral over the noise of one part, averaged over the levels of this
//! part.

use std::sync::OnceLock;

use super::curve::Curve;
use super::modulation::Modulation;

/// In standard deviations of the noise.
const STEP: f64 = 0.2;
const REACH: usize = 40;
const POINTS: usize = 2 * REACH + 1;
/// Below it a curve is continued exponentially.
const SMALL: f64 = 1e-6;

impl Modulation {
    const fn bits_per_part(self) -> u32 {
        self.order() / 2
    }

    /// 1 minus the mutual information of a bit; `snr` is per symbol, linear.
    pub fn missing(self, snr: f64) -> f64 {
        let levels = 1u32 << self.bits_per_part();
        // Half the distance of neighbouring levels, in standard deviations of the noise.
        let half = libm::sqrt(3.0 * snr / f64::from(levels * levels - 1));
        let likelihoods = Likelihoods::new(half, levels as usize);
        let density = densities();
        let mut sum = 0.0;
        // The other half of the levels is symmetric.
        for sent in 0..levels as usize / 2 {
            for (point, density) in density.iter().enumerate() {
                sum += density * self.doubt(&likelihoods, sent, point);
            }
        }
        let density = STEP / libm::sqrt(std::f64::consts::TAU);
        sum * density / f64::from(levels / 2 * self.bits_per_part())
    }

    /// In bits, summed over the bits of the level `sent`, with the noise of `point`.
    fn doubt(self, likelihoods: &Likelihoods, sent: usize, point: usize) -> f64 {
        let bits = self.bits_per_part();
        let label = |level: usize| level ^ level >> 1;
        // Sums of the levels' likelihoods, relative to the likelihood of the level sent: over all
        // levels, and for each bit over the levels in which this bit differs.
        let (mut all, mut others) = (0.0, [0.0; 4]);
        for level in 0..1 << bits {
            let likelihood = likelihoods.of(sent, level, point);
            all += likelihood;
            for (bit, other) in others.iter_mut().enumerate() {
                *other += if (label(level) ^ label(sent)) >> bit & 1 == 1 { likelihood } else { 0.0 };
            }
        }
        let doubt = |other: &f64| libm::log1p(other / (all - other)) / std::f64::consts::LN_2;
        others.iter().take(bits as usize).map(doubt).sum()
    }

    pub fn curve(self) -> &'static Curve {
        static CURVES: [OnceLock<Curve>; 4] = [const { OnceLock::new() }; 4];
        CURVES[self as usize].get_or_init(|| self.compute_curve())
    }

    fn compute_curve(self) -> Curve {
        // SNRs and values of the last two points that were computed by the integral.
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

/// In standard deviations.
fn noise_at(point: usize) -> f64 {
    (point as f64 - REACH as f64) * STEP
}

/// Times the root of 2 pi.
fn densities() -> &'static [f64; POINTS] {
    static DENSITIES: OnceLock<[f64; POINTS]> = OnceLock::new();
    let density = |point: usize| {
        let noise = noise_at(point);
        libm::exp(-noise * noise / 2.0)
    };
    DENSITIES.get_or_init(|| std::array::from_fn(density))
}

/// Relative to that of the level sent; they depend only on the distance between the two levels.
struct Likelihoods {
    /// Indexed by the level sent minus the other level, from `1 - levels` to `levels / 2 - 1`.
    by_distance: Vec<[f64; POINTS]>,
    zero: usize,
}

impl Likelihoods {
    /// Neighbouring levels are `2 * half` standard deviations apart.
    fn new(half: f64, levels: usize) -> Self {
        let zero = levels - 1;
        let at = |distance: usize| {
            let shift = 2.0 * half * (distance as f64 - zero as f64);
            std::array::from_fn(|point| libm::exp(-shift * (shift / 2.0 + noise_at(point))))
        };
        Self { by_distance: (0..levels + levels / 2 - 1).map(at).collect(), zero }
    }

    /// `sent` is one of the lower half.
    fn of(&self, sent: usize, level: usize, point: usize) -> f64 {
        self.by_distance[self.zero + sent - level][point]
    }
}
