/// Lower SNRs count as this one.
pub const LOWEST: f32 = 1.0 / 8192.0;
/// Higher SNRs count as this one.
pub const HIGHEST: f32 = 8192.0;

/// Mantissa bits within a step; the 3 others number the 8 steps of an octave.
const STEP_BITS: u32 = f32::MANTISSA_DIGITS - 1 - 3;
pub const STEPS: usize = ((HIGHEST.to_bits() - LOWEST.to_bits()) >> STEP_BITS) as usize;

/// Decreases from about 1 to about 0 over the linear SNR; interpolated linearly between SNRs at 1/8 to 1/16
/// of their value. Indices are bits of the SNR's f32, so no logarithm is needed. The inverse uses the same
/// table: except for rounding it returns the SNR that was looked up, for 0 the lowest SNR with 0.
#[derive(Clone, Debug)]
pub struct Curve {
    values: Box<[f32; STEPS + 1]>,
    /// For each bucket (a range of values), the number of values above its lower end, so that the inverse
    /// searches only one bucket. The first bucket has no lower end; the additional last element is 0.
    above: Box<[u8; BUCKETS + 1]>,
}

/// Mantissa bits within a bucket; the 3 others number the 8 buckets of an octave.
const BUCKET_BITS: u32 = f32::MANTISSA_DIGITS - 1 - 3;
/// The second bucket begins here.
const SMALLEST: f32 = 1.0 / (1u64 << 32) as f32;
const BUCKETS: usize = ((2f32.to_bits() - SMALLEST.to_bits()) >> BUCKET_BITS) as usize + 1;

impl Curve {
    pub fn new(mut missing: impl FnMut(f64) -> f64) -> Self {
        let mut curve = Box::new([0.0; STEPS + 1]);
        for (step, value) in curve.iter_mut().enumerate() {
            let exact = missing(f64::from(snr_at(step))) as f32;
            // Subnormal numbers are slow, and too coarse to be distinguished.
            *value = if exact.is_normal() { exact } else { 0.0 };
        }
        let count = |bucket: usize| match bucket {
            0 => STEPS + 1,
            BUCKETS => 0,
            _ => {
                let begin = f32::from_bits(SMALLEST.to_bits() + ((bucket as u32 - 1) << BUCKET_BITS));
                curve.partition_point(|value| *value > begin)
            }
        };
        let above = Box::new(std::array::from_fn(|bucket| count(bucket) as u8));
        Self { values: curve, above }
    }

    /// An SNR below [`LOWEST`] or above [`HIGHEST`] counts as this limit.
    #[inline]
    pub fn missing(&self, snr: f32) -> f32 {
        let snr = if snr > LOWEST { snr } else { LOWEST };
        let snr = if snr < HIGHEST { snr } else { HIGHEST };
        let bits = snr.to_bits() - LOWEST.to_bits();
        let step = ((bits >> STEP_BITS) as usize).min(STEPS - 1);
        let within = (bits - ((step as u32) << STEP_BITS)) as f32 * (1.0 / (1u32 << STEP_BITS) as f32);
        let (from, to) = (self.values[step], self.values[step + 1]);
        from + (to - from) * within
    }

    /// Limited to [`LOWEST`] and [`HIGHEST`].
    #[inline]
    pub fn snr(&self, missing: f32) -> f32 {
        let above = self.count_above(missing).clamp(1, STEPS);
        let (from, to) = (self.values[above - 1], self.values[above]);
        let within = if from > to { ((from - missing) / (from - to)).clamp(0.0, 1.0) } else { 0.0 };
        let [low, high] = [above - 1, above].map(snr_at);
        low + (high - low) * within
    }

    #[inline]
    fn count_above(&self, missing: f32) -> usize {
        let bits = missing.max(0.0).to_bits().saturating_sub(SMALLEST.to_bits() - (1 << BUCKET_BITS));
        let bucket = ((bits >> BUCKET_BITS) as usize).min(BUCKETS - 1);
        let [from, to] = [bucket + 1, bucket].map(|bucket| usize::from(self.above[bucket]));
        from + self.values[from..to].partition_point(|value| *value > missing)
    }
}

fn snr_at(step: usize) -> f32 {
    f32::from_bits(LOWEST.to_bits() + ((step as u32) << STEP_BITS))
}
