//! Loops over the groups are vectorized.

/// Groups that are computed at once.
pub const LANES: usize = 8;

pub type Reals = [f32; LANES];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    pub re: Reals,
    pub im: Reals,
}

impl Complex {
    pub const ZERO: Self = Self { re: [0.0; LANES], im: [0.0; LANES] };

    /// `factor` is equal on all groups.
    #[inline]
    pub fn add_scaled(&mut self, (re, im): (f32, f32), value: &Self) {
        for lane in 0..LANES {
            self.re[lane] += re * value.re[lane] - im * value.im[lane];
            self.im[lane] += re * value.im[lane] + im * value.re[lane];
        }
    }

    /// `scale * a * b*`.
    #[inline]
    pub fn add_product(&mut self, scale: &Reals, a: &Self, b: &Self) {
        for (lane, scale) in scale.iter().enumerate() {
            let (re, im) = (scale * a.re[lane], scale * a.im[lane]);
            self.re[lane] += re * b.re[lane] + im * b.im[lane];
            self.im[lane] += im * b.re[lane] - re * b.im[lane];
        }
    }

    #[inline]
    pub fn scale(&mut self, factor: &Reals) {
        for (lane, factor) in factor.iter().enumerate() {
            self.re[lane] *= factor;
            self.im[lane] *= factor;
        }
    }

    #[inline]
    #[must_use]
    pub fn conjugate(&self) -> Self {
        Self { re: self.re, im: self.im.map(|im| -im) }
    }
}
