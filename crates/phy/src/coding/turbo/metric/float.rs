use super::{LANES, Metric, Row, sign_bits, zip};

/// Beyond it the correction of max* is less than 4e-4.
const REACH: f32 = 8.0;
const TERMS: usize = 12;

/// Chebyshev series of `ln(1 + e^-x)` on [0, 8], with an error of at most 5e-5.
#[derive(Clone, Copy, Debug)]
pub struct Correction([f32; TERMS]);

impl Correction {
    pub fn new() -> Self {
        let angle = |node: usize| std::f64::consts::PI * (node as f64 + 0.5) / TERMS as f64;
        let value = |node| libm::log1p(libm::exp(-f64::from(REACH) / 2.0 * (1.0 + libm::cos(angle(node)))));
        let coefficient = |term: usize| {
            let sum: f64 = (0..TERMS).map(|node| value(node) * libm::cos(term as f64 * angle(node))).sum();
            sum * if term == 0 { 1.0 } else { 2.0 } / TERMS as f64
        };
        Self(std::array::from_fn(|term| coefficient(term) as f32))
    }

    /// By Clenshaw's recurrence, from 0 on.
    #[inline(always)]
    fn at(&self, difference: f32) -> f32 {
        let t = difference.min(REACH) * (2.0 / REACH) - 1.0;
        let (mut now, mut before) = (0.0, 0.0);
        for term in (1..TERMS).rev() {
            (now, before) = (2.0 * t * now - before + self.0[term], now);
        }
        t * now - before + self.0[0]
    }
}

/// Log-MAP if `CORRECTED`, otherwise max-log-MAP.
#[derive(Clone, Copy, Debug)]
pub struct Float<const CORRECTED: bool> {
    correction: Correction,
    scale: f32,
}

impl<const CORRECTED: bool> Float<CORRECTED> {
    pub fn new(scale: f32) -> Self {
        Self { correction: Correction::new(), scale }
    }
}

impl<const CORRECTED: bool> Metric for Float<CORRECTED> {
    type Item = f32;
    type Lanes = Row<f32>;
    const IMPOSSIBLE: f32 = -1e6;

    #[inline(always)]
    fn quantise(self, llr: f32) -> f32 {
        llr
    }

    #[inline(always)]
    fn load(self, row: &Row<f32>) -> Row<f32> {
        *row
    }

    #[inline(always)]
    fn store(self, lanes: Row<f32>, row: &mut Row<f32>) {
        *row = lanes;
    }

    #[inline(always)]
    fn splat(self, item: f32) -> Row<f32> {
        Row([item; LANES])
    }

    #[inline(always)]
    fn add(self, a: Row<f32>, b: Row<f32>) -> Row<f32> {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: Row<f32>, b: Row<f32>) -> Row<f32> {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn max_star(self, a: Row<f32>, b: Row<f32>) -> Row<f32> {
        zip(a, b, |a, b| {
            let max = if a > b { a } else { b };
            if CORRECTED { max + self.correction.at((a - b).abs()) } else { max }
        })
    }

    #[inline(always)]
    fn scale(self, extrinsic: Row<f32>) -> Row<f32> {
        Row(extrinsic.0.map(|x| x * self.scale))
    }

    #[inline(always)]
    fn negative(self, lanes: Row<f32>) -> u16 {
        sign_bits(&lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correction_matches_the_logarithm() {
        let correction = Correction::new();
        for i in 0..1000u32 {
            let x = f64::from(i) * 0.01;
            let error = f64::from(correction.at(x as f32)) - libm::log1p(libm::exp(-x));
            assert!(error.abs() < if x <= 8.0 { 5e-5 } else { 4e-4 }, "{x}: {error}");
        }
    }
}
