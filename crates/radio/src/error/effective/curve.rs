//! Tables of functions that decrease with the SNR.

/// Lowest SNR of a table (-39 dB). Lower ones count as this one.
pub const LOWEST: f32 = 1.0 / 8192.0;
/// Highest SNR of a table (39 dB). Higher ones count as this one.
pub const HIGHEST: f32 = 8192.0;

/// Number of mantissa bits within a step, which leave 8 steps per octave.
const STEP_BITS: u32 = f32::MANTISSA_DIGITS - 1 - 3;
/// Number of steps between [`LOWEST`] and [`HIGHEST`].
pub const STEPS: usize = ((HIGHEST.to_bits() - LOWEST.to_bits()) >> STEP_BITS) as usize;

/// A function of the linear SNR that decreases from about 1 to about 0, such as the part of the
/// information that noise removes.
///
/// Its values are interpolated linearly between SNRs with distances of 1/8 to 1/16 of their value.
/// Indices of the table are bits of the SNR's f32, so no logarithm is needed. The inverse uses the
/// same table. Except for rounding, it returns the SNR that was looked up if that is within the
/// table and the function decreases there; where the function is 0, it returns the lowest such SNR.
#[derive(Clone, Debug)]
pub struct Curve(Box<[f32; STEPS + 1]>);

impl Curve {
    /// Creates a table of a function, which is evaluated from low to high SNRs.
    pub fn new(mut missing: impl FnMut(f64) -> f64) -> Self {
        let mut curve = Box::new([0.0; STEPS + 1]);
        for (step, value) in curve.iter_mut().enumerate() {
            let exact = missing(f64::from(snr_at(step))) as f32;
            // Subnormal numbers are slow, and too coarse to be told apart.
            *value = if exact.is_normal() { exact } else { 0.0 };
        }
        Self(curve)
    }

    /// Returns the value at a linear SNR, which is limited to [`LOWEST`] to [`HIGHEST`] and must
    /// not be NaN.
    #[inline]
    pub fn missing(&self, snr: f32) -> f32 {
        let bits = snr.clamp(LOWEST, HIGHEST).to_bits() - LOWEST.to_bits();
        let step = ((bits >> STEP_BITS) as usize).min(STEPS - 1);
        let within = (bits - ((step as u32) << STEP_BITS)) as f32 * (1.0 / (1u32 << STEP_BITS) as f32);
        let (from, to) = (self.0[step], self.0[step + 1]);
        from + (to - from) * within
    }

    /// Returns the linear SNR at which the value is `missing`, [`LOWEST`] to [`HIGHEST`].
    #[inline]
    pub fn snr(&self, missing: f32) -> f32 {
        let above = self.0.partition_point(|value| *value > missing).clamp(1, STEPS);
        let (from, to) = (self.0[above - 1], self.0[above]);
        let within = if from > to { ((from - missing) / (from - to)).clamp(0.0, 1.0) } else { 0.0 };
        let [low, high] = [above - 1, above].map(snr_at);
        low + (high - low) * within
    }
}

/// Returns the SNR at the beginning of a step.
fn snr_at(step: usize) -> f32 {
    f32::from_bits(LOWEST.to_bits() + ((step as u32) << STEP_BITS))
}
