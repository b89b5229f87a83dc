//! Round-trip estimation without ticks, and the retransmission timeout (RFC 6298).
//!
//! Smoothed round-trip time and mean deviation are those of RFC 6298. Since almost every ACK gives
//! a round-trip time, the deviation decays quickly. As in Linux (`tcp_rtt_estimator`), the
//! variation term of the timeout is therefore the largest deviation of the last round. If that
//! deviation falls, the term falls by a quarter of the difference per round. `min_rto` is a lower
//! bound of the variation term and not of the timeout, so that on a steady path the first late ACK
//! does not cause a timeout. The caller implements Karn's rule and passes only unambiguous
//! round-trip times.

use nodeb_base::units::Duration;

use super::jiffies;

/// Maximum number of doublings of the timeout. With the default parameters the timeout reaches its
/// maximum after fewer doublings.
const MAX_DOUBLINGS: u32 = 16;
/// Smallest timeout for data if the SYN was lost and no round-trip time was measured (RFC 6298,
/// 5.7).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

/// Round-trip estimator of one connection, with the retransmission timeout that follows from it.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    srtt: Option<Duration>,
    /// Four times the mean deviation of round-trip times in nanoseconds (`4 * RTTVAR` of RFC 6298).
    deviation: u64,
    /// Largest value of `deviation` in this round, at least `floor`.
    largest: u64,
    /// Variation term of the timeout in nanoseconds, which follows `largest`.
    counted: u64,
    min: Option<Duration>,
    initial: Duration,
    floor: Duration,
    max: Duration,
    doublings: u32,
    /// Retransmission timeout with backoff, which is computed from the other fields.
    rto: Duration,
}

impl RttEstimator {
    /// Creates an estimator without measurements. `initial` is the timeout before the first
    /// measurement, `floor` the lower bound of the variation term, and `max` the largest timeout.
    pub fn new(initial: Duration, floor: Duration, max: Duration) -> Self {
        let mut estimator = Self {
            srtt: None,
            deviation: 0,
            largest: 0,
            counted: 0,
            min: None,
            initial,
            floor,
            max,
            doublings: 0,
            rto: initial,
        };
        estimator.update_rto();
        estimator
    }

    /// Updates the smallest round-trip time with that of the newest segment that an ACK delivers.
    /// For the smoothed round-trip time, [`Self::sample`] uses the oldest segment instead (Linux:
    /// `tcp_ack_update_rtt`).
    pub fn record_newest(&mut self, rtt: Duration) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
    }

    /// Records a round-trip time and ends the backoff. `new_round` is true if a round has ended:
    /// data sent after the start of the round is acknowledged.
    pub fn sample(&mut self, rtt: Duration, new_round: bool) {
        self.doublings = 0;
        if let Some(srtt) = self.srtt {
            self.update(srtt, rtt, new_round);
        } else {
            self.srtt = Some(rtt);
            self.deviation = 2 * rtt.0;
            self.counted = self.deviation.max(self.floor.0);
            self.largest = self.counted;
        }
        self.update_rto();
    }

    fn update(&mut self, srtt: Duration, rtt: Duration, new_round: bool) {
        self.srtt = Some(Duration(srtt.0 - srtt.0 / 8 + rtt.0 / 8));
        self.deviate(srtt, rtt);
        self.largest = self.largest.max(self.deviation);
        self.counted = self.counted.max(self.largest);
        if new_round {
            self.counted -= (self.counted - self.largest) / 4;
            self.largest = self.floor.0;
        }
    }

    /// Updates the deviation: a new deviation `|SRTT - R|` has the weight 1/4 (RFC 6298, 2.3). As
    /// in Linux, this weight is divided by eight if the deviation grows while the round-trip time
    /// falls.
    fn deviate(&mut self, srtt: Duration, rtt: Duration) {
        let error = srtt.0.abs_diff(rtt.0);
        let grows = error > self.deviation / 4;
        if grows && rtt < srtt {
            self.deviation += (error - self.deviation / 4) / 8;
        } else {
            self.deviation = self.deviation - self.deviation / 4 + error;
        }
    }

    /// Returns the retransmission timeout with backoff, in whole jiffies of 4 ms unless the maximum
    /// limits it.
    pub fn rto(&self) -> Duration {
        self.rto
    }

    fn update_rto(&mut self) {
        let base = match self.srtt {
            Some(srtt) => srtt.0 + self.counted,
            None => self.initial.0,
        };
        let whole = jiffies::whole(Duration(base.min(self.max.0))).0.max(jiffies::JIFFY.0);
        self.rto = Duration(whole.saturating_mul(1 << self.doublings).min(self.max.0));
    }

    /// Doubles the timeout after it has expired, up to the maximum (RFC 6298, 5.5).
    #[cold]
    pub fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        self.update_rto();
    }

    /// Ends the backoff after an ACK, so that the timeout is no longer doubled.
    pub fn reset_backoff(&mut self) {
        self.doublings = 0;
        self.update_rto();
    }

    /// Raises the initial timeout to at least 3 s, or to the maximum if that is shorter, because
    /// the SYN was retransmitted and no round-trip time is known (RFC 6298, 5.7).
    #[cold]
    pub fn lost_syn(&mut self) {
        self.initial = self.initial.max(AFTER_LOST_SYN).min(self.max);
        self.update_rto();
    }

    /// Returns the smoothed round-trip time, or `None` before the first measurement.
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// Returns the smallest round-trip time of the connection so far, or `None` before the first
    /// measurement. RFC 8985, 6.2, recommends the smallest one of recent measurements (Linux: of
    /// five minutes), which is not needed here, since routes do not change in a simulation.
    pub fn min(&self) -> Option<Duration> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn estimator(floor: u64) -> RttEstimator {
        RttEstimator::new(MS(1_000), MS(floor), MS(120_000))
    }

    #[test]
    fn rfc_6298_arithmetic() {
        let mut rtt = estimator(0);
        assert_eq!(rtt.rto(), MS(1_000));
        rtt.sample(MS(400), true);
        // By RFC 6298, 2.2, the first measurement gives SRTT = R, RTTVAR = R / 2 and RTO = SRTT + 4
        // RTTVAR.
        assert_eq!((rtt.srtt, rtt.deviation, rtt.rto()), (Some(MS(400)), MS(800).0, MS(1_200)));
        rtt.sample(MS(480), true);
        // By RFC 6298, 2.3, in ms: RTTVAR = 3/4 * 200 + 1/4 * 80 = 170 and SRTT = 7/8 * 400 + 1/8 *
        // 480 = 410.
        assert_eq!((rtt.srtt, rtt.deviation), (Some(MS(410)), MS(4 * 170).0));
    }

    #[test]
    fn largest_deviation_of_round_counts_and_decays() {
        let mut rtt = estimator(200);
        for _ in 0..100 {
            rtt.sample(MS(100), true);
        }
        assert_eq!(rtt.rto(), MS(300));
        for _ in 0..4 {
            rtt.sample(MS(500), false);
        }
        let high = rtt.counted;
        assert!(high > MS(800).0, "{high}");
        for _ in 0..50 {
            rtt.sample(MS(500), false);
        }
        assert_eq!(rtt.counted, rtt.largest);
        let largest = rtt.largest;
        rtt.sample(MS(500), true);
        rtt.sample(MS(500), true);
        assert_eq!(rtt.counted, largest - (largest - MS(200).0) / 4);
    }

    #[test]
    fn falling_rtt_adds_little_deviation() {
        let mut rtt = estimator(0);
        for _ in 0..100 {
            rtt.sample(MS(800), true);
        }
        rtt.sample(MS(400), true);
        assert!(rtt.deviation < MS(60).0, "{}", rtt.deviation);
    }

    #[test]
    fn timeout_backs_off_to_maximum_and_resets() {
        let mut rtt = estimator(200);
        for _ in 0..100 {
            rtt.sample(MS(300), true);
        }
        // The timeout is slightly more than 500 ms, which is rounded up to 126 jiffies of 4 ms.
        assert_eq!(rtt.rto(), MS(504));
        rtt.back_off();
        assert_eq!(rtt.rto(), MS(1_008));
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), MS(120_000));
        rtt.sample(MS(300), true);
        assert_eq!(rtt.rto(), MS(504));
    }
}
