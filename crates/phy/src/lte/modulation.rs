//! TS 36.211, 7.1: real and imaginary part of a symbol are independent amplitudes with the same mapping, even
//! bits select the real, odd bits the imaginary part.

use crate::simd::Isa;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modulation {
    Qpsk,
    Qam16,
    Qam64,
    Qam256,
}

impl Modulation {
    pub const ALL: [Self; 4] = [Self::Qpsk, Self::Qam16, Self::Qam64, Self::Qam256];

    /// Q_m.
    pub const fn order(self) -> usize {
        2 * self.bits_per_amplitude()
    }

    const fn bits_per_amplitude(self) -> usize {
        self as usize + 1
    }

    /// In units of half the distance of neighbours: the first bit is the sign, the others as the standard's
    /// nested form, such as `(1 - 2 b0) (4 - (1 - 2 b2) (2 - (1 - 2 b4)))` for 64QAM.
    fn level(bits: &[u8]) -> f32 {
        let sign = |bit: u8| 1.0 - 2.0 * f32::from(bit);
        let (first, others) = bits.split_first().expect("an amplitude has bits");
        let inner = others
            .iter()
            .rev()
            .fold((1.0, 1.0), |(inner, distance), &bit| (2.0 * distance - sign(bit) * inner, 2.0 * distance));
        sign(*first) * inner.0
    }

    /// Of neighbouring amplitudes, for a mean symbol energy of 1.
    fn half_distance(self) -> f32 {
        let levels = (1 << self.bits_per_amplitude()) as f32;
        (1.5 / (levels * levels - 1.0)).sqrt()
    }

    /// Appends the amplitudes of `bits` to `to`: real and imaginary part of each symbol in turn. The mean
    /// energy of a symbol is 1.
    ///
    /// # Panics
    ///
    /// Panics if the bits do not fill their last symbol.
    pub fn modulate(self, bits: &[u8], to: &mut Vec<f32>) {
        assert!(bits.len().is_multiple_of(self.order()), "whole symbols");
        let (half, n) = (self.half_distance(), self.bits_per_amplitude());
        let mut labels = [[0; 4]; 2];
        for symbol in bits.chunks(self.order()) {
            for (at, pair) in symbol.as_chunks::<2>().0.iter().enumerate() {
                [labels[0][at], labels[1][at]] = *pair;
            }
            to.extend(labels.iter().map(|label| half * Self::level(&label[..n])));
        }
    }

    /// Writes the LLRs of the bits of received `amplitudes` to `llrs`, by max-log: the difference
    /// of the squared distances to the nearest amplitude with bit 1 and with bit 0, in units of
    /// twice the noise variance. `variance` is the variance of the noise on one amplitude.
    ///
    /// # Panics
    ///
    /// Panics unless there are two amplitudes for each symbol of `llrs`.
    pub fn demodulate(self, isa: Isa, amplitudes: &[f32], variance: f32, llrs: &mut [f32]) {
        assert_eq!(amplitudes.len() * self.bits_per_amplitude(), llrs.len(), "two amplitudes per symbol");
        isa.run(
            #[inline(always)]
            || match self {
                Self::Qpsk => self.demodulate_by::<1, 2>(amplitudes, variance, llrs),
                Self::Qam16 => self.demodulate_by::<2, 4>(amplitudes, variance, llrs),
                Self::Qam64 => self.demodulate_by::<3, 8>(amplitudes, variance, llrs),
                Self::Qam256 => self.demodulate_by::<4, 16>(amplitudes, variance, llrs),
            },
        );
    }

    /// [`Self::demodulate`] for `LEVELS` = 2^`BITS`.
    #[inline(always)]
    fn demodulate_by<const BITS: usize, const LEVELS: usize>(
        self,
        amplitudes: &[f32],
        variance: f32,
        llrs: &mut [f32],
    ) {
        let half = self.half_distance();
        // A label is a number whose bit `b` is bit `b` of the amplitude.
        let bits_of = |label: usize| std::array::from_fn::<u8, BITS, _>(|bit| (label >> bit & 1) as u8);
        let levels: [f32; LEVELS] = std::array::from_fn(|label| half * Self::level(&bits_of(label)));
        let scale = 0.5 / variance;
        let symbols = amplitudes.as_chunks::<2>().0.iter().zip(llrs.chunks_exact_mut(2 * BITS));
        for (parts, llrs) in symbols {
            for (part, &amplitude) in parts.iter().enumerate() {
                let squares = levels.map(|level| (amplitude - level) * (amplitude - level));
                for bit in 0..BITS {
                    let mut nearest = [f32::INFINITY; 2];
                    for (label, &square) in squares.iter().enumerate() {
                        let nearest = &mut nearest[label >> bit & 1];
                        *nearest = if square < *nearest { square } else { *nearest };
                    }
                    llrs[2 * bit + part] = scale * (nearest[1] - nearest[0]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 36.211, 7.1.2 to 7.1.5, real parts in units of half the distance.
    #[test]
    fn levels_are_those_of_the_tables() {
        let levels = |bits: usize| -> Vec<f32> {
            let label =
                |label: usize| (0..bits).rev().map(|bit| (label >> bit & 1) as u8).collect::<Vec<_>>();
            (0..1 << bits).map(|number| Modulation::level(&label(number))).collect()
        };
        assert_eq!(levels(1), [1.0, -1.0]);
        assert_eq!(levels(2), [1.0, 3.0, -1.0, -3.0]);
        assert_eq!(levels(3), [3.0, 1.0, 5.0, 7.0, -3.0, -1.0, -5.0, -7.0]);
        assert_eq!(levels(4)[..8], [5.0, 7.0, 3.0, 1.0, 11.0, 9.0, 13.0, 15.0]);
    }

    fn bits(n: usize) -> Vec<u8> {
        let mut bits = vec![0; n];
        crate::rng::fill_bits(&mut crate::rng::stream(1, "bits", 0), &mut bits);
        bits
    }

    #[test]
    fn symbols_have_energy_one_and_neighbours_differ_in_one_bit() {
        for modulation in Modulation::ALL {
            let n = modulation.bits_per_amplitude();
            let label = |label: usize| (0..n).map(|bit| (label >> bit & 1) as u8).collect::<Vec<_>>();
            let mut points: Vec<_> = (0..1 << n)
                .map(|at| (Modulation::level(&label(at)) * modulation.half_distance(), at))
                .collect();
            let energy = points.iter().map(|(x, _)| x * x).sum::<f32>() / points.len() as f32;
            assert!((2.0 * energy - 1.0).abs() < 1e-6, "{modulation:?}: {energy}");
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(
                points.windows(2).all(|pair| (pair[0].1 ^ pair[1].1).is_power_of_two()),
                "{modulation:?}"
            );
        }
    }

    #[test]
    fn demodulation_inverts_modulation() {
        for modulation in Modulation::ALL {
            let (bits, mut amplitudes, mut llrs) = (bits(480), Vec::new(), vec![0.0; 480]);
            modulation.modulate(&bits, &mut amplitudes);
            modulation.demodulate(Isa::best(), &amplitudes, 0.1, &mut llrs);
            assert!(bits.iter().zip(&llrs).all(|(bit, llr)| (*llr < 0.0) == (*bit == 1)), "{modulation:?}");
            let mut portable = vec![0.0; 480];
            modulation.demodulate(Isa::Baseline, &amplitudes, 0.1, &mut portable);
            assert_eq!(portable, llrs);
        }
    }

    /// `2 sqrt(2) y / (2 sigma^2)`; max-log is exact.
    #[test]
    fn llrs_of_qpsk_match_the_closed_form() {
        let (amplitudes, mut llrs) = ([0.3, -0.9], [0.0; 2]);
        Modulation::Qpsk.demodulate(Isa::best(), &amplitudes, 0.25, &mut llrs);
        for (llr, y) in llrs.into_iter().zip(amplitudes) {
            let expected = std::f32::consts::SQRT_2 * y / 0.25;
            assert!((llr - expected).abs() < 1e-5, "{llr}, not {expected}");
        }
    }
}
