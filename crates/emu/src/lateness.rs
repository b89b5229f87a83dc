//! How late deliveries are, and other times of which quantiles are asked.

use hdrhistogram::Histogram;

/// Times in nanoseconds, kept in buckets of 1 % of their value at most; nothing is allocated while they are added.
#[derive(Clone, Debug)]
pub struct Lateness {
    times: Histogram<u64>,
    total: u128,
}

/// The longest time that is told from longer ones, ns: an hour.
const LONGEST: u64 = 3_600_000_000_000;

impl Default for Lateness {
    fn default() -> Self {
        let times = Histogram::new_with_bounds(1, LONGEST, 2).expect("the bounds are in order");
        Self { times, total: 0 }
    }
}

impl Lateness {
    /// Adds a time, ns.
    pub fn add(&mut self, nanoseconds: u64) {
        self.times.saturating_record(nanoseconds);
        self.total += u128::from(nanoseconds);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.times.len()
    }

    /// Their mean, s; 0 of none.
    pub fn mean_s(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.total as f64 / self.count() as f64 * 1e-9 }
    }

    /// A quantile, s; 0 of none.
    pub fn quantile_s(&self, share: f64) -> f64 {
        self.times.value_at_quantile(share).min(self.times.max()) as f64 * 1e-9
    }

    /// The longest, s; 0 of none.
    pub fn max_s(&self) -> f64 {
        self.times.max() as f64 * 1e-9
    }

    /// How many there are in each bucket, with the longest of the bucket in s; those in which there is none are left out.
    pub fn steps(&self) -> impl Iterator<Item = (f64, u64)> {
        let steps = self.times.iter_recorded();
        steps.map(|step| (step.value_iterated_to() as f64 * 1e-9, step.count_since_last_iteration()))
    }

    /// The share of those that are longer than a limit in ns, rounded to a bucket; 0 of none.
    pub fn share_beyond(&self, limit: u64) -> f64 {
        let all = self.count();
        let within = self.times.count_between(0, limit.min(LONGEST));
        if all == 0 { 0.0 } else { all.saturating_sub(within) as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_one_percent() {
        let mut times = Lateness::default();
        for time in 1..=100_000 {
            times.add(time * 1_000);
        }
        for (share, wanted) in [(0.5, 0.05), (0.99, 0.099), (0.999, 0.0999)] {
            assert!((times.quantile_s(share) / wanted - 1.0).abs() < 0.01, "{share}");
        }
        assert!((times.mean_s() - 0.050_000_5).abs() < 1e-9);
        assert!((times.share_beyond(90_000_000) - 0.1).abs() < 0.01);
        assert_eq!(times.count(), 100_000);
    }

    #[test]
    fn buckets_have_all_of_them_in_order() {
        let mut times = Lateness::default();
        for time in [5, 5, 1_000_000, 2_000_000_000] {
            times.add(time);
        }
        let steps: Vec<_> = times.steps().collect();
        let counts: Vec<_> = steps.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2, 1, 1]);
        for ((up_to, _), wanted) in steps.iter().zip([5e-9, 1e-3, 2.0]) {
            assert!((up_to / wanted - 1.0).abs() < 0.01, "{up_to}");
        }
    }

    #[test]
    fn of_nothing_there_is_nothing() {
        let none = Lateness::default();
        assert_eq!((none.count(), none.mean_s(), none.quantile_s(0.99), none.max_s()), (0, 0.0, 0.0, 0.0));
        assert!(none.share_beyond(1) < f64::EPSILON);
    }

    #[test]
    fn what_is_longer_than_the_longest_is_kept_as_that() {
        let mut times = Lateness::default();
        times.add(u64::MAX);
        assert!(times.max_s() >= 3_600.0);
        assert!(times.share_beyond(1_000) > 1.0 - f64::EPSILON);
    }
}
