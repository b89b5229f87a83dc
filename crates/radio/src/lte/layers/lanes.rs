//! Complex numbers of several groups of resource blocks at once. Loops over the groups are vectorized.

/// Number of groups that are computed at once.
pub const LANES: usize = 8;

/// Real value for each group.
pub type Reals = [f32; LANES];

/// Complex value for each group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    pub re: Reals,
    pub im: Reals,
}

impl Complex {
    /// Zero on all groups.
    pub const ZERO: Self = Self { re: [0.0; LANES], im: [0.0; LANES] };

    /// Adds `factor * value`, where the complex number `factor` is equal on all groups.
    #[inline]
    pub fn add_scaled(&mut self, (re, im): (f32, f32), value: &Self) {
        for lane in 0..LANES {
            self.re[lane] += re * value.re[lane] - im * value.im[lane];
            self.im[lane] += re * value.im[lane] + im * value.re[lane];
        }
    }

    /// Adds `scale * a * b*`, where `b*` is the complex conjugate of `b`.
    #[inline]
    pub fn add_product(&mut self, scale: &Reals, a: &Self, b: &Self) {
        for (lane, scale) in scale.iter().enumerate() {
            let (re, im) = (scale * a.re[lane], scale * a.im[lane]);
            self.re[lane] += re * b.re[lane] + im * b.im[lane];
            self.im[lane] += im * b.re[lane] - re * b.im[lane];
        }
    }

    /// Multiplies by a real value for each group.
    #[inline]
    pub fn scale(&mut self, factor: &Reals) {
        for (lane, factor) in factor.iter().enumerate() {
            self.re[lane] *= factor;
            self.im[lane] *= factor;
        }
    }

    /// Returns the complex conjugate.
    #[inline]
    #[must_use]
    pub fn conjugate(&self) -> Self {
        Self { re: self.re, im: self.im.map(|im| -im) }
    }
}
