//! Delays of an interval, in so little memory that every interval can have its own.

use super::bins::Merge;

/// Bits of a delay in ns that are not looked at: a microsecond.
const UNIT_BITS: u32 = 10;

/// Buckets of an octave, as a power of two: a bucket is at most 1/16 of its delays wide.
const PART_BITS: u32 = 4;
const PARTS: usize = 1 << PART_BITS;

/// The longest delay that is told from longer ones, as a power of two of units: 73 min.
const OCTAVES: u32 = 32;

/// Buckets of all octaves.
const BUCKETS: usize = (OCTAVES - PART_BITS + 1) as usize * PARTS;

/// How many delays were about so long: buckets that grow with the delay, as in an HDR histogram.
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
    /// Adds a delay, ns.
    #[inline]
    pub fn add(&mut self, nanoseconds: u64) {
        let count = &mut self.counts[bucket(nanoseconds)];
        *count = count.saturating_add(1);
    }

    /// A quantile, s: within its bucket, in proportion; NaN of none.
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

/// The least delay of a bucket, ns.
fn beginning(bucket: usize) -> f64 {
    let unit = f64::from(1 << UNIT_BITS);
    if bucket < PARTS {
        return bucket as f64 * unit;
    }
    let (octave, part) = (bucket / PARTS - 1, bucket % PARTS);
    ((PARTS + part) as f64) * power_of_two(octave) * unit
}

/// A power of two.
fn power_of_two(power: usize) -> f64 {
    (1_u64 << power) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A delay is in the bucket between whose ends it lies, and a bucket is narrow.
        #[test]
        fn a_delay_is_in_its_bucket(nanoseconds in 0..(1_u64 << (OCTAVES + UNIT_BITS))) {
            let bucket = bucket(nanoseconds);
            let (from, to) = (beginning(bucket), beginning(bucket + 1));
            prop_assert!(from <= nanoseconds as f64 && (nanoseconds as f64) < to);
            prop_assert!(to - from <= (from / PARTS as f64).max(f64::from(1 << UNIT_BITS)));
        }

        /// Two that are merged are as one to which all was added.
        #[test]
        fn merged_is_as_added(first in prop::collection::vec(0..1_u64 << 40, 0..50),
                              second in prop::collection::vec(0..1_u64 << 40, 1..50)) {
            let [mut one, mut other, mut all] = [Delays::default(), Delays::default(), Delays::default()];
            first.iter().for_each(|it| one.add(*it));
            second.iter().for_each(|it| other.add(*it));
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
    fn what_is_longer_than_the_longest_is_kept_as_that_and_of_none_there_is_nothing() {
        assert!(Delays::default().quantile_s(0.5).is_nan());
        let mut delays = Delays::default();
        delays.add(u64::MAX);
        assert!(delays.quantile_s(0.99) > 4_000.0);
    }
}
