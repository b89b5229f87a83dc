//! Round-trip estimation and the retransmission timeout on a tick clock.
//!
//! ns-2's fixed-point form of Jacobson's estimator (RFC 2988): the smoothed RTT is kept in
//! eighths and the variation in quarters of a tick. `RTO = (8 var + srtt) / 8` ticks with the
//! scaled variables, at least the minimum, times the backoff, at most the maximum.

use crate::units::{Duration, Time};

/// Backoff beyond which the estimate itself is distrusted (ns-2's `rtt_backoff`).
const DISTRUST_BACKOFF: u64 = 8;

/// The estimator.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    tick: u64,
    phase: u64,
    min_rto: u64,
    max_rto: u64,
    /// Smoothed RTT in eighths of a tick; 0 before the first sample.
    srtt8: i64,
    /// Variation in quarters of a tick.
    var4: i64,
    /// Timeout before minimum and backoff.
    rto: u64,
    backoff: u64,
}

impl RttEstimator {
    /// An estimator with no sample yet.
    pub fn new(tick: Duration, phase: Duration, initial: Duration, min: Duration, max: Duration) -> Self {
        Self {
            tick: tick.0,
            phase: phase.0,
            min_rto: min.0,
            max_rto: max.0,
            srtt8: 0,
            var4: 0,
            rto: initial.0,
            backoff: 1,
        }
    }

    /// Takes a round trip that began at `sent` and lasted `rtt`.
    pub fn sample(&mut self, sent: Time, rtt: Duration) {
        let offset = (sent.0 + self.phase) % self.tick;
        let ticks = ((rtt.0 + offset) / self.tick).max(1).cast_signed();
        if self.srtt8 == 0 {
            self.srtt8 = ticks << 3;
            self.var4 = ticks << 1;
        } else {
            let delta = ticks - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + delta).max(1);
            self.var4 = (self.var4 + delta.abs() - (self.var4 >> 2)).max(1);
        }
        // The variation counts four times, and var4 already holds four of it: 8 var4 in eighths.
        self.rto = (((self.var4 << 3) + self.srtt8) >> 3) as u64 * self.tick;
    }

    /// The timeout to set now.
    pub fn rto(&self) -> Duration {
        Duration((self.rto.max(self.min_rto) * self.backoff).min(self.max_rto).max(2 * self.tick))
    }

    /// Doubles the timeout after it has expired. Beyond a backoff of 8 the smoothed RTT is
    /// forgotten, as a path that silent has probably changed.
    pub fn back_off(&mut self) {
        if self.rto() < Duration(self.max_rto) || self.backoff < 64 {
            self.backoff *= 2;
        }
        if self.backoff > DISTRUST_BACKOFF {
            self.var4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// Ends the backoff.
    pub fn reset_backoff(&mut self) {
        self.backoff = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator() -> RttEstimator {
        let ms = Duration::from_millis;
        RttEstimator::new(ms(10), Duration::ZERO, ms(3_000), ms(200), ms(60_000))
    }

    #[test]
    fn the_first_sample_sets_srtt_and_half_of_it_as_variation() {
        let mut rtt = estimator();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
        rtt.sample(Time::ZERO, Duration::from_millis(200));
        // 20 ticks: srtt 20, variation 10, RTO = 20 + 4 * 10 ticks.
        assert_eq!(rtt.rto(), Duration::from_millis(600));
    }

    #[test]
    fn steady_samples_bring_the_timeout_down_to_the_minimum() {
        let mut rtt = estimator();
        for _ in 0..200 {
            rtt.sample(Time::ZERO, Duration::from_millis(100));
        }
        assert_eq!(rtt.rto(), Duration::from_millis(200));
    }

    #[test]
    fn backoff_doubles_up_to_the_maximum() {
        let mut rtt = estimator();
        let timeouts: Vec<u64> = std::iter::repeat_with(|| {
            let rto = rtt.rto();
            rtt.back_off();
            rto.0 / 1_000_000_000
        })
        .take(7)
        .collect();
        assert_eq!(timeouts, [3, 6, 12, 24, 48, 60, 60]);
        rtt.reset_backoff();
        assert_eq!(rtt.rto(), Duration::from_secs(3));
    }
}
