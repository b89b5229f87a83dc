//! RFC 6298; as in Linux (`tcp_rtt_estimator`), the variation term is the largest deviation of the last
//! round, and falls by a quarter of the difference per round, since almost every ACK gives a sample.
//! `min_rto` bounds this term, not the timeout, so that the first late ACK on a steady path causes none. The
//! caller implements Karn's rule.

use nodeb_base::units::Duration;

use super::jiffies;

/// The default parameters reach the maximum before.
const MAX_DOUBLINGS: u32 = 16;
/// Without a round-trip time (RFC 6298, 5.7).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub struct RttEstimator {
    srtt: Option<Duration>,
    /// `4 * RTTVAR` of RFC 6298 in ns.
    deviation: u64,
    /// Of this round, at least `floor`.
    largest: u64,
    /// Variation term in ns, which follows `largest`.
    counted: u64,
    min: Option<Duration>,
    initial: Duration,
    floor: Duration,
    max: Duration,
    doublings: u32,
    /// With backoff, from the other fields.
    rto: Duration,
}

impl RttEstimator {
    /// `floor` bounds the variation term.
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

    /// `tcp_ack_update_rtt`: the smallest round-trip time uses the newest segment, [`Self::sample`] the
    /// oldest.
    pub fn record_newest(&mut self, rtt: Duration) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
    }

    /// Ends the backoff; `new_round` if data sent after the start of the round is acknowledged.
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

    /// Weight 1/4 (RFC 6298, 2.3), as in Linux divided by eight if the deviation grows while the round-trip
    /// time falls.
    fn deviate(&mut self, srtt: Duration, rtt: Duration) {
        let error = srtt.0.abs_diff(rtt.0);
        let grows = error > self.deviation / 4;
        if grows && rtt < srtt {
            self.deviation += (error - self.deviation / 4) / 8;
        } else {
            self.deviation = self.deviation - self.deviation / 4 + error;
        }
    }

    /// With backoff, in whole jiffies of 4 ms.
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

    /// RFC 6298, 5.5.
    #[cold]
    pub fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        self.update_rto();
    }

    pub fn reset_backoff(&mut self) {
        self.doublings = 0;
        self.update_rto();
    }

    /// RFC 6298, 5.7: at least 3 s after a retransmitted SYN without a round-trip time.
    #[cold]
    pub fn lost_syn(&mut self) {
        self.initial = self.initial.max(AFTER_LOST_SYN).min(self.max);
        self.update_rto();
    }

    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// RFC 8985, 6.2, recommends recent measurements (Linux: of five minutes); routes do not change in a
    /// simulation.
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
