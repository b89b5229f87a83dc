//! Linux 6, `tcp_cubic.c`; Ha and Rhee, Computer Networks 55(9), 2011: slow start ends if round-trip times
//! grow, or if a train of ACKs lasts longer than the smallest round-trip time plus 1 ms with pacing, half of
//! it without.

use nodeb_base::units::{Duration, Time};

use super::AckEvent;

/// `hystart_low_window`.
const MIN_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// `hystart_ack_delay`; Linux uses less only at very high rates.
const OFFLOAD: Duration = Duration::from_millis(1);
/// At the start of a round, not compared with the path's smallest (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// `HYSTART_DELAY_MIN`.
const MIN_INCREASE: Duration = Duration::from_millis(4);
/// `HYSTART_DELAY_MAX`.
const MAX_INCREASE: Duration = Duration::from_millis(16);

#[derive(Clone, Debug)]
pub struct HyStart {
    paced: bool,
    /// 0 before any round.
    begun: Time,
    /// Last ACK of the train.
    last: Time,
    /// Acknowledged at the end of the round.
    end: u64,
    /// Smallest in the round, with at least `MIN_WINDOW`.
    rtt: Option<Duration>,
    samples: u32,
}

impl HyStart {
    /// `paced` spreads segments over the round trip.
    pub fn new(paced: bool) -> Self {
        Self { paced, begun: Time::ZERO, last: Time::ZERO, end: 0, rtt: None, samples: 0 }
    }

    /// `hystart_update`; true if slow start must end.
    pub fn on_ack(&mut self, ack: &AckEvent, segments: u64, rtt: Duration, min_rtt: Duration) -> bool {
        if ack.una > self.end || self.begun == Time::ZERO {
            let (paced, end) = (self.paced, ack.next);
            *self = Self { paced, begun: ack.now, last: ack.now, end, rtt: None, samples: 0 };
        }
        segments >= MIN_WINDOW && (self.is_train_long(ack.now, min_rtt) | self.has_grown(rtt, min_rtt))
    }

    fn is_train_long(&mut self, now: Time, min_rtt: Duration) -> bool {
        if now.since(self.last) > TRAIN_GAP {
            return false;
        }
        self.last = now;
        let allowance = min_rtt.0 + OFFLOAD.0;
        now.since(self.begun) > Duration(if self.paced { allowance } else { allowance / 2 })
    }

    fn has_grown(&mut self, rtt: Duration, min_rtt: Duration) -> bool {
        let smallest = self.rtt.map_or(rtt, |smallest| smallest.min(rtt));
        self.rtt = Some(smallest);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let increase = Duration(min_rtt.0 / 8).clamp(MIN_INCREASE, MAX_INCREASE);
        smallest > Duration(min_rtt.0 + increase.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// 200 ACKs with a minimum of 60 ms; the one that ends slow start.
    fn acks(paced: bool, segments: u64, gap_ms: u64, rtt_ms: u64) -> Option<u64> {
        let mut hystart = HyStart::new(paced);
        (0..200).find(|n| {
            let now = Time::ZERO + MS(100 + n * gap_ms);
            let ack = AckEvent { now, una: 1, next: 1_000, ..AckEvent::default() };
            hystart.on_ack(&ack, segments, MS(rtt_ms), MS(60))
        })
    }

    /// `hystart_update`: (60 + 1) / 2 ms, or 61 ms with pacing.
    #[test]
    fn ack_train_of_half_min_rtt_ends_slow_start() {
        assert_eq!([acks(false, 16, 1, 60), acks(true, 16, 1, 60)], [Some(31), Some(62)]);
        assert_eq!(acks(false, 15, 1, 60), None, "hystart_low_window");
        assert_eq!(acks(false, 16, 3, 60), None, "hystart_ack_delta_us");
    }

    /// The first eight are not compared with the minimum of 60 ms.
    #[test]
    fn rtt_growth_by_an_eighth_ends_slow_start() {
        assert_eq!([acks(false, 16, 3, 67), acks(false, 16, 3, 68)], [None, Some(8)]);
    }
}
