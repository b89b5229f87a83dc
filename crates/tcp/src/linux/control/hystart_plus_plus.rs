//! RFC 9406.

use nodeb_base::units::Duration;

/// Section 4.3.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
/// Section 4.3.
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// Section 4.3.
const MIN_RTT_DIVISOR: u64 = 8;
/// A round needs so many to be compared with the previous one.
const N_RTT_SAMPLE: u32 = 8;
/// Of conservative slow start.
const CSS_GROWTH_DIVISOR: u64 = 4;
/// Of conservative slow start.
const CSS_ROUNDS: u32 = 5;
/// Growth per ACK in segments, without pacing.
const L: u64 = 8;

#[derive(Clone, Debug)]
pub struct HyStartPlusPlus {
    limit: u64,
    /// `windowEnd`.
    window_end: u64,
    last_round_min: Option<Duration>,
    this_round_min: Option<Duration>,
    samples: u32,
    /// Baseline round-trip time, and rounds so far.
    conservative: Option<(Duration, u32)>,
    /// Delivered in conservative slow start, without having opened the window.
    left: u64,
}

impl HyStartPlusPlus {
    /// `paced` spreads segments over the round trip.
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

    /// True if congestion avoidance must start.
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

    /// At most `L` without pacing.
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

    /// True if slow start ended.
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
