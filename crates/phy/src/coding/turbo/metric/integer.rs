//! Max-log-MAP in 16 bits, portable and with AVX2; both give the same bits. Additions need not saturate: a
//! step changes a path by at most S = 383 + 1535 + 383, two states differ by at most 3 S, and metrics are
//! normalised every fourth step, so they stay within 7 S, and their sum within 16 bits.

use super::{LANES, Metric, Row, sign_bits, zip};

/// Three fractional bits.
const RESOLUTION: f32 = 8.0;
/// An LLR of 47.875.
const CHANNEL_LIMIT: f32 = 383.0;
/// An LLR of 191.875.
const EXTRINSIC_LIMIT: i16 = 1535;
/// More than 3 S below any possible path, and within 16 bits after three steps and a backward metric.
const IMPOSSIBLE: i16 = -9_700;

/// Halves to even: with 1.5 * 2^23 added, the last bit of a float is worth one, so its last 16 bits are the
/// number.
#[inline(always)]
fn quantise(llr: f32) -> i16 {
    let steps = (llr * RESOLUTION).clamp(-CHANNEL_LIMIT, CHANNEL_LIMIT);
    (steps + 12_582_912.0).to_bits() as i16
}

/// Of 2^15; 1 becomes 32767/32768, which gives the same results after rounding.
fn fraction(scale: f32) -> i16 {
    (scale * 32_768.0).clamp(0.0, 32_767.0) as i16
}

#[derive(Clone, Copy, Debug)]
pub struct Portable {
    scale: i16,
}

impl Portable {
    pub fn new(scale: f32) -> Self {
        Self { scale: fraction(scale) }
    }
}

impl Metric for Portable {
    type Item = i16;
    type Lanes = Row<i16>;
    const IMPOSSIBLE: i16 = IMPOSSIBLE;

    #[inline(always)]
    fn quantise(self, llr: f32) -> i16 {
        quantise(llr)
    }

    #[inline(always)]
    fn load(self, row: &Row<i16>) -> Row<i16> {
        *row
    }

    #[inline(always)]
    fn store(self, lanes: Row<i16>, row: &mut Row<i16>) {
        *row = lanes;
    }

    #[inline(always)]
    fn splat(self, item: i16) -> Row<i16> {
        Row([item; LANES])
    }

    #[inline(always)]
    fn add(self, a: Row<i16>, b: Row<i16>) -> Row<i16> {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: Row<i16>, b: Row<i16>) -> Row<i16> {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn max_star(self, a: Row<i16>, b: Row<i16>) -> Row<i16> {
        zip(a, b, i16::max)
    }

    #[inline(always)]
    fn scale(self, extrinsic: Row<i16>) -> Row<i16> {
        Row(extrinsic.0.map(|x| {
            let scaled = (i32::from(x) * i32::from(self.scale) + (1 << 14)) >> 15;
            (scaled as i16).clamp(-EXTRINSIC_LIMIT, EXTRINSIC_LIMIT)
        }))
    }

    #[inline(always)]
    fn negative(self, lanes: Row<i16>) -> u16 {
        sign_bits(&lanes)
    }
}

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::__m256i;

    use pulp::x86::V3;

    use super::{EXTRINSIC_LIMIT, IMPOSSIBLE, LANES, Metric, Row, fraction, quantise};

    /// 16 lanes.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2 {
        isa: V3,
        scale: i16,
    }

    impl Avx2 {
        pub fn new(isa: V3, scale: f32) -> Self {
            Self { isa, scale: fraction(scale) }
        }
    }

    impl Metric for Avx2 {
        type Item = i16;
        type Lanes = __m256i;
        const IMPOSSIBLE: i16 = IMPOSSIBLE;

        #[inline(always)]
        fn quantise(self, llr: f32) -> i16 {
            quantise(llr)
        }

        #[inline(always)]
        fn load(self, row: &Row<i16>) -> __m256i {
            pulp::cast(row.0)
        }

        #[inline(always)]
        fn store(self, lanes: __m256i, row: &mut Row<i16>) {
            row.0 = pulp::cast(lanes);
        }

        #[inline(always)]
        fn splat(self, item: i16) -> __m256i {
            self.isa.avx._mm256_set1_epi16(item)
        }

        #[inline(always)]
        fn add(self, a: __m256i, b: __m256i) -> __m256i {
            self.isa.avx2._mm256_add_epi16(a, b)
        }

        #[inline(always)]
        fn sub(self, a: __m256i, b: __m256i) -> __m256i {
            self.isa.avx2._mm256_sub_epi16(a, b)
        }

        #[inline(always)]
        fn max_star(self, a: __m256i, b: __m256i) -> __m256i {
            self.isa.avx2._mm256_max_epi16(a, b)
        }

        #[inline(always)]
        fn scale(self, extrinsic: __m256i) -> __m256i {
            let avx2 = self.isa.avx2;
            let scaled = avx2._mm256_mulhrs_epi16(extrinsic, self.splat(self.scale));
            let limited = avx2._mm256_min_epi16(scaled, self.splat(EXTRINSIC_LIMIT));
            avx2._mm256_max_epi16(limited, self.splat(-EXTRINSIC_LIMIT))
        }

        #[inline(always)]
        fn negative(self, lanes: __m256i) -> u16 {
            // Packing works on halves of a register: lanes 0 to 7 become bytes 0 to 7, lanes 8 to
            // 15 become bytes 16 to 23.
            let bytes = self.isa.avx2._mm256_packs_epi16(lanes, self.isa.avx._mm256_setzero_si256());
            let mask = self.isa.avx2._mm256_movemask_epi8(bytes) as u32;
            (mask & 0xFF | mask >> 8 & 0xFF00) as u16
        }

        /// Four rounds, each of which moves a bit of a row's number into the number of the lane.
        #[inline(always)]
        fn transpose(self, rows: &mut [Row<i16>; LANES]) {
            let mut now = rows.map(|row| self.load(&row));
            for _ in 0..4 {
                let pairs: [_; LANES / 2] =
                    std::array::from_fn(|i| interleave(self.isa, now[i], now[i + LANES / 2]));
                now = std::array::from_fn(|i| pairs[i / 2][i % 2]);
            }
            for (row, lanes) in rows.iter_mut().zip(now) {
                self.store(lanes, row);
            }
        }
    }

    /// `a0 b0 a1 b1 ...` in two registers.
    #[inline(always)]
    fn interleave(isa: V3, a: __m256i, b: __m256i) -> [__m256i; 2] {
        let (low, high) = (isa.avx2._mm256_unpacklo_epi16(a, b), isa.avx2._mm256_unpackhi_epi16(a, b));
        // Unpacking works on halves of a register, so `low` has the first and third quarter of the
        // result, `high` the second and fourth.
        [
            isa.avx2._mm256_permute2x128_si256::<0x20>(low, high),
            isa.avx2._mm256_permute2x128_si256::<0x31>(low, high),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::quantise;

    #[test]
    fn llrs_are_quantised_to_eighths_within_limits() {
        let cases = [(0.0, 0), (1.0, 8), (-1.0, -8), (0.06, 0), (0.07, 1), (-0.07, -1), (47.9, 383)];
        for (llr, steps) in cases.into_iter().chain([(1e9, 383), (f32::NEG_INFINITY, -383)]) {
            assert_eq!(quantise(llr), steps, "{llr}");
        }
    }
}
