//! TS 25.213, 4.3.2.2: Gold sequences of length 2^25 - 1.

use super::{Chips, FRAME_CHIPS};

/// `X^25 + X^3 + 1`.
const X_TAPS: u32 = 1 << 3 | 1;
/// `X^25 + X^3 + X^2 + X + 1`.
const Y_TAPS: u32 = 1 << 3 | 1 << 2 | 1 << 1 | 1;
const DEGREE: u32 = 25;
/// TS 25.213, 4.3.2.2, of the second sequence.
const SHIFT: u64 = 16_777_232;
pub const CODES: u32 = 1 << 24;

/// Of an m-sequence.
#[derive(Clone, Copy, Debug)]
struct Register {
    bits: u32,
    taps: u32,
}

impl Register {
    /// Bit `i` of `mask` selects the element `i` steps from now.
    fn next(&mut self, mask: u32) -> u32 {
        let element = (self.bits & mask).count_ones() & 1;
        let fed_back = (self.bits & self.taps).count_ones() & 1;
        self.bits = self.bits >> 1 | fed_back << (DEGREE - 1);
        element
    }
}

/// `X^steps` modulo the polynomial with feedback `taps`.
fn ahead(steps: u64, taps: u32) -> u32 {
    let reduce = |word: u64| {
        (u64::from(DEGREE)..64).rev().fold(word, |word, i| {
            let overflow = word >> i & 1;
            word ^ (overflow * (1 << i ^ u64::from(taps) << (i - u64::from(DEGREE))))
        })
    };
    let times = |a: u32, b: u32| {
        let product = (0..DEGREE).filter(|i| b >> i & 1 == 1).fold(0, |sum, i| sum ^ u64::from(a) << i);
        reduce(product) as u32
    };
    let (mut power, mut square, mut steps) = (1, 2, steps);
    while steps > 0 {
        if steps & 1 == 1 {
            power = times(power, square);
        }
        square = times(square, square);
        steps >>= 1;
    }
    power
}

/// Returns the complex code `number` (24 bits) over one radio frame, of unit power: `c1(i) (1 + j (-1)^i c2(2 floor(i
/// / 2))) / sqrt 2`.
///
/// # Panics
///
/// Panics if there is no such code.
pub fn long(number: u32) -> Chips {
    assert!(number < CODES, "a scrambling code number has 24 bits");
    let x = Register { bits: 1 << 24 | number, taps: X_TAPS };
    let y = Register { bits: (1 << DEGREE) - 1, taps: Y_TAPS };
    let sequence = |x_mask, y_mask| {
        let (mut x, mut y) = (x, y);
        (0..FRAME_CHIPS).map(move |_| 1.0 - 2.0 * (x.next(x_mask) ^ y.next(y_mask)) as f32)
    };
    let amplitude = std::f32::consts::FRAC_1_SQRT_2;
    let (mut code, mut even) = (Chips::default(), 0.0);
    let second = sequence(ahead(SHIFT, X_TAPS), ahead(SHIFT, Y_TAPS));
    for (i, (c1, c2)) in sequence(1, 1).zip(second).enumerate() {
        if i % 2 == 0 {
            even = c2;
        }
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        code.re.push(amplitude * c1);
        code.im.push(amplitude * c1 * sign * even);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 25.213: elements 4, 7 and 18 of x, and 4, 6 and 17 of y.
    #[test]
    fn shift_matches_the_taps_of_figure_5() {
        assert_eq!(ahead(SHIFT, X_TAPS), 1 << 4 | 1 << 7 | 1 << 18);
        assert_eq!(ahead(SHIFT, Y_TAPS), 1 << 4 | 1 << 6 | 1 << 17);
    }

    #[test]
    fn looking_ahead_matches_stepping() {
        for taps in [X_TAPS, Y_TAPS] {
            let start = Register { bits: 0x00AC_E5F1, taps };
            for steps in [0, 1, 24, 25, 1000, 65_537] {
                let mut stepped = start;
                (0..steps).for_each(|_| {
                    stepped.next(1);
                });
                assert_eq!(start.clone().next(ahead(steps, taps)), stepped.next(1), "{steps}");
            }
        }
    }

    /// 2^25 - 1, whose prime factors are 31, 601 and 1801.
    #[test]
    fn both_sequences_have_full_period() {
        let period = (1u64 << DEGREE) - 1;
        for taps in [X_TAPS, Y_TAPS] {
            assert_eq!(ahead(period, taps), 1);
            assert!([31, 601, 1801].into_iter().all(|prime| ahead(period / prime, taps) != 1));
        }
    }

    /// HPSK.
    #[test]
    fn phase_changes_by_a_quarter_turn_within_pairs() {
        let code = long(12_345);
        for i in (0..FRAME_CHIPS).step_by(2) {
            let turn = code.re[i] * code.re[i + 1] + code.im[i] * code.im[i + 1];
            assert!(turn.abs() < 1e-6, "{i}");
        }
    }

    /// A sum over 38400 chips has a standard deviation of 196.
    #[test]
    fn correlations_are_those_of_noise() {
        let code = long(1);
        let correlation = |other: &Chips, shift: usize| {
            let pairs = (0..FRAME_CHIPS).map(|i| (i, (i + shift) % FRAME_CHIPS));
            let (re, im) = pairs.fold((0.0, 0.0), |(re, im), (i, k)| {
                let (a, b) = ((code.re[i], code.im[i]), (other.re[k], other.im[k]));
                (re + a.0 * b.0 + a.1 * b.1, im + a.1 * b.0 - a.0 * b.1)
            });
            f32::hypot(re, im)
        };
        assert!((correlation(&code, 0) - 38_400.0).abs() < 1.0);
        for shift in 1..20 {
            assert!(correlation(&code, shift) < 4.0 * 196.0, "shift {shift}");
        }
        for number in [0, 2, 3, CODES - 1] {
            assert!(correlation(&long(number), 0) < 4.0 * 196.0, "code {number}");
        }
    }
}
