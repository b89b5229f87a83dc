//! HyStart as in Linux 6 (`tcp_cubic.c`; Ha and Rhee, Computer Networks 55(9), 2011). Slow start
//! ends if round-trip times grow, or if the closely spaced ACKs of a round (its train) arrive over
//! a long time. A train ends slow start if it is longer than the smallest round-trip time plus 1 ms
//! with pacing, or than half of this sum without pacing.

use nodeb_base::units::{Duration, Time};

use super::AckEvent;

/// Smallest window in segments at which HyStart is active (`hystart_low_window`).
const MIN_WINDOW: u64 = 16;
/// Maximum time between two consecutive ACKs of a train of ACKs (`hystart_ack_delta_us`).
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Time that segmentation offload may add to the length of a train of ACKs (`hystart_ack_delay`;
/// Linux uses less time only at very high rates).
const OFFLOAD: Duration = Duration::from_millis(1);
/// Number of round-trip times at the start of a round that are not compared with the smallest
/// round-trip time of the path (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// Lower bound of the increase of the round-trip time that ends slow start (`HYSTART_DELAY_MIN`).
const MIN_INCREASE: Duration = Duration::from_millis(4);
/// Upper bound of the increase of the round-trip time that ends slow start (`HYSTART_DELAY_MAX`).
const MAX_INCREASE: Duration = Duration::from_millis(16);

/// State of HyStart in the present round of slow start.
#[derive(Clone, Debug)]
pub struct HyStart {
    paced: bool,
    /// Start time of the round; time 0 means that no round has begun yet.
    begun: Time,
    /// Arrival time of the last ACK in the round's train of closely spaced ACKs.
    last: Time,
    /// Next byte to be sent when the round started. The round ends when this byte is acknowledged.
    end: u64,
    /// Smallest round-trip time measured in the round while the window had at least `MIN_WINDOW`
    /// segments; `None` if there was none.
    rtt: Option<Duration>,
    samples: u32,
}

impl HyStart {
    /// Creates the state at the start of a connection. `paced` is true if pacing spreads segments
    /// over the round trip.
    pub fn new(paced: bool) -> Self {
        Self { paced, begun: Time::ZERO, last: Time::ZERO, end: 0, rtt: None, samples: 0 }
    }

    /// Processes an ACK in slow start (`hystart_update`). The window has `segments` segments, the
    /// ACK gives the round-trip time `rtt`, and `min_rtt` is the smallest round-trip time of the
    /// path. Returns true if slow start must end.
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

    /// Delivers 200 ACKs that arrive `gap_ms` apart, with a round-trip time of `rtt_ms` and a
    /// minimum of 60 ms. Returns the index, from 0, of the ACK that ends slow start, or `None` if
    /// slow start does not end.
    fn acks(paced: bool, segments: u64, gap_ms: u64, rtt_ms: u64) -> Option<u64> {
        let mut hystart = HyStart::new(paced);
        (0..200).find(|n| {
            let now = Time::ZERO + MS(100 + n * gap_ms);
            let ack = AckEvent { now, una: 1, next: 1_000, ..AckEvent::default() };
            hystart.on_ack(&ack, segments, MS(rtt_ms), MS(60))
        })
    }

    /// By `hystart_update` slow start ends when a train of ACKs lasts longer than (60 + 1) / 2 ms
    /// without pacing, or 61 ms with pacing.
    #[test]
    fn ack_train_of_half_min_rtt_ends_slow_start() {
        assert_eq!([acks(false, 16, 1, 60), acks(true, 16, 1, 60)], [Some(31), Some(62)]);
        assert_eq!(acks(false, 15, 1, 60), None, "hystart_low_window");
        assert_eq!(acks(false, 16, 3, 60), None, "hystart_ack_delta_us");
    }

    /// The first eight round-trip times of a round are not compared with the minimum of 60 ms. The
    /// ninth ends slow start if the smallest round-trip time of the round exceeds 60 ms by more
    /// than an eighth.
    #[test]
    fn rtt_growth_by_an_eighth_ends_slow_start() {
        assert_eq!([acks(false, 16, 3, 67), acks(false, 16, 3, 68)], [None, Some(8)]);
    }
}
