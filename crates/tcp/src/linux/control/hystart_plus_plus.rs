//! HyStart++ (RFC 9406), which ends slow start when the round-trip time grows, before the queue
//! overflows.
//!
//! If the smallest round-trip time of a round exceeds that of the previous round by at least a
//! threshold, the window grows more slowly (conservative slow start). If the round-trip time then
//! falls below the round-trip time that started this phase, slow start resumes; otherwise
//! congestion avoidance starts after five rounds.

use nodeb_base::units::Duration;

/// Lower bound of the increase of the round-trip time that starts conservative slow start (section
/// 4.3).
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
/// Upper bound of the increase of the round-trip time that starts conservative slow start (section
/// 4.3).
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// Divisor of the round-trip time that gives the increase which starts conservative slow start,
/// between its lower and its upper bound (section 4.3).
const MIN_RTT_DIVISOR: u64 = 8;
/// Number of round-trip times that a round must have before its smallest round-trip time is
/// compared with that of the previous round.
const N_RTT_SAMPLE: u32 = 8;
/// Factor by which the window grows more slowly in conservative slow start than in slow start.
const CSS_GROWTH_DIVISOR: u64 = 4;
/// Duration of conservative slow start in rounds.
const CSS_ROUNDS: u32 = 5;
/// Maximum growth of the window per ACK in segments. The limit does not apply if the sender is
/// paced.
const L: u64 = 8;

/// State of HyStart++ during one slow start of a connection.
#[derive(Clone, Debug)]
pub struct HyStartPlusPlus {
    limit: u64,
    /// Number of acknowledged bytes that ends the round (`windowEnd`).
    window_end: u64,
    last_round_min: Option<Duration>,
    this_round_min: Option<Duration>,
    samples: u32,
    /// State of conservative slow start: the baseline round-trip time, and the number of rounds so
    /// far. `None` outside of conservative slow start.
    conservative: Option<(Duration, u32)>,
    /// Number of segments delivered in conservative slow start that have not yet opened the window.
    left: u64,
}

impl HyStartPlusPlus {
    /// Creates HyStart++ at the start of a connection. `paced` is true if pacing spreads segments
    /// over the round trip.
    pub fn new(paced: bool) -> Self {
        Self {
            limit: if paced { u64::MAX } else { L },
            window_end: 0,
            last_round_min: None,
            this_round_min: None,
            samples: 0,
            conservative: None,
            left: 0,
        }
    }

    /// Processes an ACK in slow start. After the ACK `una` is the first unacknowledged byte, and
    /// `next` the next byte to be sent. Returns true if congestion avoidance must start.
    pub fn on_ack(&mut self, una: u64, next: u64, rtt: Option<Duration>) -> bool {
        let mut over = false;
        if una >= self.window_end {
            over = self.begin_round(next);
        }
        if let Some(rtt) = rtt {
            self.this_round_min = Some(self.this_round_min.map_or(rtt, |min| min.min(rtt)));
            self.samples += 1;
        }
        self.compare_rounds();
        over
    }

    fn begin_round(&mut self, next: u64) -> bool {
        self.window_end = next;
        self.last_round_min = self.this_round_min.or(self.last_round_min);
        self.this_round_min = None;
        self.samples = 0;
        match &mut self.conservative {
            Some((_, rounds)) => {
                *rounds += 1;
                *rounds > CSS_ROUNDS
            }
            None => false,
        }
    }

    fn compare_rounds(&mut self) {
        let (Some(now), true) = (self.this_round_min, self.samples >= N_RTT_SAMPLE) else {
            return;
        };
        match (self.conservative, self.last_round_min) {
            (Some((baseline, _)), _) if now < baseline => self.conservative = None,
            (None, Some(last)) => {
                let threshold = Duration(last.0 / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if now.0 >= last.0 + threshold.0 {
                    self.conservative = Some((now, 0));
                }
            }
            _ => {}
        }
    }

    /// Returns the number of segments by which the window opens when `segments` segments are
    /// delivered: fewer in conservative slow start, and at most `L` without pacing.
    pub fn growth(&mut self, segments: u64) -> u64 {
        let segments = segments.min(self.limit);
        if self.conservative.is_none() {
            return segments;
        }
        self.left += segments;
        let growth = self.left / CSS_GROWTH_DIVISOR;
        self.left %= CSS_GROWTH_DIVISOR;
        growth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Simulates a round of `samples` ACKs that all give the round-trip time `rtt`. Returns true if
    /// slow start ended.
    fn round(hystart: &mut HyStartPlusPlus, rtt: Duration, samples: u64) -> bool {
        let (start, mut over) = (hystart.window_end, false);
        for ack in 0..samples {
            over |= hystart.on_ack(start + ack, start + samples, Some(rtt));
        }
        over
    }

    #[test]
    fn rtt_growth_by_an_eighth_starts_conservative_slow_start() {
        let mut hystart = HyStartPlusPlus::new(true);
        round(&mut hystart, MS(80), 10);
        round(&mut hystart, MS(89), 10);
        assert_eq!(hystart.growth(8), 8);
        round(&mut hystart, MS(101), 10);
        assert_eq!(hystart.growth(8), 2);
    }

    #[test]
    fn congestion_avoidance_starts_after_five_rounds() {
        let mut hystart = HyStartPlusPlus::new(true);
        round(&mut hystart, MS(80), 10);
        round(&mut hystart, MS(100), 10);
        let over: Vec<bool> = (0..6).map(|_| round(&mut hystart, MS(100), 10)).collect();
        assert_eq!(over, [false, false, false, false, false, true]);
    }

    #[test]
    fn false_alarm_resumes_slow_start() {
        let mut hystart = HyStartPlusPlus::new(true);
        round(&mut hystart, MS(80), 10);
        round(&mut hystart, MS(100), 10);
        round(&mut hystart, MS(80), 10);
        assert_eq!(hystart.growth(8), 8);
    }

    #[test]
    fn few_samples_are_ignored_and_bursts_bounded() {
        let mut hystart = HyStartPlusPlus::new(false);
        round(&mut hystart, MS(80), 10);
        round(&mut hystart, MS(200), 7);
        assert_eq!(hystart.growth(10), 8);
    }

    #[test]
    fn rtt_threshold_is_between_4_and_16_ms() {
        // By section 4.3 the threshold is an eighth of the round-trip time, clamped to the range
        // from 4 to 16 ms.
        let slowed = |before: u64, now: u64| {
            let mut hystart = HyStartPlusPlus::new(true);
            round(&mut hystart, MS(before), 10);
            round(&mut hystart, MS(now), 10);
            hystart.conservative.is_some()
        };
        assert_eq!([(16, 19), (16, 20)].map(|(a, b)| slowed(a, b)), [false, true]);
        assert_eq!([(80, 89), (80, 90)].map(|(a, b)| slowed(a, b)), [false, true]);
        assert_eq!([(400, 415), (400, 416)].map(|(a, b)| slowed(a, b)), [false, true]);
    }
}
