//! Lateness of deliveries, delays of packets.

use hdrhistogram::Histogram;

/// In ns; a bucket is at most 1 % as wide as its durations, or 1 ns.
#[derive(Clone, Debug)]
pub struct Lateness {
    times: Histogram<u64>,
    total: u128,
    longest: u64,
}

/// 1 h.
const MAX_NS: u64 = 3_600_000_000_000;

impl Default for Lateness {
    fn default() -> Self {
        let times = Histogram::new_with_bounds(1, MAX_NS, 2).expect("the bounds are in order");
        Self { times, total: 0, longest: 0 }
    }
}

impl Lateness {
    /// A duration above 1 h is counted in the last bucket.
    pub fn add(&mut self, nanoseconds: u64) {
        self.times.saturating_record(nanoseconds);
        self.total += u128::from(nanoseconds);
        self.longest = self.longest.max(nanoseconds);
    }

    pub fn count(&self) -> u64 {
        self.times.len()
    }

    /// 0 without durations.
    pub fn mean_s(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.total as f64 / self.count() as f64 * 1e-9 }
    }

    /// 0 without durations; at most 1 % too large and never above the maximum, too small above 1 h.
    pub fn quantile_s(&self, share: f64) -> f64 {
        self.times.value_at_quantile(share).min(self.longest) as f64 * 1e-9
    }

    /// Exact; 0 without durations.
    pub fn max_s(&self) -> f64 {
        self.longest as f64 * 1e-9
    }

    /// Upper end in seconds and number of each bucket that is not empty, in increasing order.
    pub fn steps(&self) -> impl Iterator<Item = (f64, u64)> {
        let steps = self.times.iter_recorded();
        steps.map(|step| (step.value_iterated_to() as f64 * 1e-9, step.count_since_last_iteration()))
    }

    /// 0 without durations; `limit` in ns, rounded up to the end of its bucket.
    pub fn share_beyond(&self, limit: u64) -> f64 {
        let all = self.count();
        let within = self.times.count_between(0, limit.min(MAX_NS));
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
    fn maximum_is_exact_and_bounds_quantiles() {
        let mut times = Lateness::default();
        times.add(986_793_977);
        assert!((times.max_s() - 0.986_793_977).abs() < 1e-15);
        assert!(times.quantile_s(0.5) <= times.max_s());
    }

    #[test]
    fn steps_count_all_durations_in_order() {
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
    fn empty_histogram_has_zeros() {
        let none = Lateness::default();
        assert_eq!((none.count(), none.mean_s(), none.quantile_s(0.99), none.max_s()), (0, 0.0, 0.0, 0.0));
        assert!(none.share_beyond(1) < f64::EPSILON);
    }

    #[test]
    fn durations_above_the_range_are_counted() {
        let mut times = Lateness::default();
        times.add(u64::MAX);
        assert!(times.max_s() >= 3_600.0);
        assert!(times.share_beyond(1_000) > 1.0 - f64::EPSILON);
    }
}
