use super::bins::Merge;

/// Bits of a delay in ns that are ignored: 1024 ns.
const UNIT_BITS: u32 = 10;

/// Of buckets per octave: at most 1/16 as wide as their delays.
const PART_BITS: u32 = 4;
const PARTS: usize = 1 << PART_BITS;

/// In units of 1024 ns: 2^32 are 73 min.
const OCTAVES: u32 = 32;

/// For all octaves.
const BUCKETS: usize = (OCTAVES - PART_BITS + 1) as usize * PARTS;

/// 16 buckets per factor of two, as in a high dynamic range histogram.
#[derive(Debug)]
pub struct Delays {
    counts: [u32; BUCKETS],
}

impl Default for Delays {
    fn default() -> Self {
        Self { counts: [0; BUCKETS] }
    }
}

impl Merge for Delays {
    fn merge(&mut self, later: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&later.counts) {
            *count = count.saturating_add(*more);
        }
    }
}

impl Delays {
    #[inline]
    pub fn add(&mut self, nanoseconds: u64) {
        let count = &mut self.counts[bucket(nanoseconds)];
        *count = count.saturating_add(1);
    }

    /// Interpolated linearly within its bucket; NaN without delays.
    pub fn quantile_s(&self, share: f64) -> f64 {
        let all: u64 = self.counts.iter().copied().map(u64::from).sum();
        let wanted = share * all as f64;
        let mut below = 0.0;
        for (bucket, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = f64::from(*count);
            if below + count >= wanted {
                let (from, to) = (beginning(bucket), beginning(bucket + 1));
                return (from + (to - from) * (wanted - below) / count) * 1e-9;
            }
            below += count;
        }
        f64::NAN
    }
}

#[inline]
fn bucket(nanoseconds: u64) -> usize {
    let units = (nanoseconds >> UNIT_BITS).min((1 << OCTAVES) - 1);
    if units < PARTS as u64 {
        return units as usize;
    }
    let octave = units.ilog2() - PART_BITS;
    (octave as usize + 1) * PARTS + ((units >> octave) as usize & (PARTS - 1))
}

fn beginning(bucket: usize) -> f64 {
    let unit = f64::from(1 << UNIT_BITS);
    if bucket < PARTS {
        return bucket as f64 * unit;
    }
    let (octave, part) = (bucket / PARTS - 1, bucket % PARTS);
    ((PARTS + part) as f64) * power_of_two(octave) * unit
}

fn power_of_two(power: usize) -> f64 {
    (1_u64 << power) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A bucket is at most 1/16 as wide as its delays, or 1024 ns.
        #[test]
        fn delay_is_within_its_bucket(nanoseconds in 0..(1_u64 << (OCTAVES + UNIT_BITS))) {
            let bucket = bucket(nanoseconds);
            let (from, to) = (beginning(bucket), beginning(bucket + 1));
            prop_assert!(from <= nanoseconds as f64 && (nanoseconds as f64) < to);
            prop_assert!(to - from <= (from / PARTS as f64).max(f64::from(1 << UNIT_BITS)));
        }

        #[test]
        fn merged_histogram_equals_a_joint_one(first in prop::collection::vec(0..1_u64 << 40, 0..50),
                              second in prop::collection::vec(0..1_u64 << 40, 1..50)) {
            let [mut one, mut other, mut all] = [Delays::default(), Delays::default(), Delays::default()];
            for it in &first { one.add(*it); }
            for it in &second { other.add(*it); }
            first.iter().chain(&second).for_each(|it| all.add(*it));
            one.merge(&other);
            prop_assert_eq!(one.counts, all.counts);
        }
    }

    #[test]
    fn quantiles_are_within_a_bucket() {
        let mut delays = Delays::default();
        (1..=100_000_u64).for_each(|at| delays.add(at * 1_000));
        for (share, wanted) in [(0.5, 0.05), (0.99, 0.099)] {
            assert!((delays.quantile_s(share) / wanted - 1.0).abs() < 1.0 / 16.0, "{share}");
        }
    }

    #[test]
    fn delays_above_the_range_are_counted_and_an_empty_histogram_has_no_quantile() {
        assert!(Delays::default().quantile_s(0.5).is_nan());
        let mut delays = Delays::default();
        delays.add(u64::MAX);
        assert!(delays.quantile_s(0.99) > 4_000.0);
    }
}
