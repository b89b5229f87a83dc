//! Brakmo and Peterson, IEEE JSAC 13(8), 1995; once per round trip as in Linux, `tcp_vegas.c`.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::loss_based::{LossBased, LossWindow};
use super::{AckEvent, CongestionControl, CongestionParams, Phase, reno};
use crate::linux::Linux;

/// With fewer, all may be lengthened by delayed ACKs, so the window grows as Reno's.
const SAMPLES: u32 = 3;

params! {
    /// Parameters of Vegas, which keeps the estimated number of the connection's segments in the
    /// queue between thresholds.
    pub struct Vegas {
        /// Number of segments in the queue below which the window grows.
        pub alpha: u32 = 2,
        /// Number of segments in the queue above which the window shrinks.
        pub beta: u32 = 4,
        /// Number of segments in the queue above which slow start ends.
        pub gamma: u32 = 1,
    }
}

impl Checked for Vegas {
    fn check(&self, check: &mut Check) {
        check.require(self.alpha <= self.beta, "alpha", || {
            format!("the window would grow and shrink at once; expected at most beta, {}", self.beta)
        });
    }
}

impl CongestionParams for Vegas {
    fn build(&self, mss: u64, initial_window: u64, _tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(VegasControl::new(self, mss, initial_window))
    }
}

#[derive(Debug)]
pub struct VegasControl {
    params: Vegas,
    window: LossWindow,
    base_rtt: Option<Duration>,
    /// Smallest of the round.
    round_rtt: Option<Duration>,
    /// Of the round.
    samples: u32,
    round_end: u64,
}

impl VegasControl {
    pub fn new(params: &Vegas, mss: u64, initial_window: u64) -> Self {
        Self {
            params: params.clone(),
            window: LossWindow::new(mss, initial_window),
            base_rtt: None,
            round_rtt: None,
            samples: 0,
            round_end: 0,
        }
    }

    /// Once per round trip, by the estimated queue and `alpha` and `beta` or, in slow start, `gamma`.
    fn adjust(&mut self, ack: &AckEvent) {
        let (Some(base), Some(rtt)) = (self.base_rtt, self.round_rtt) else {
            return;
        };
        let (mss, cwnd) = (self.window.mss, self.window.cwnd);
        let waiting = cwnd as f64 / mss as f64 * (rtt.0 - base.0) as f64 / base.0.max(1) as f64;
        if self.window.in_slow_start() {
            if waiting > f64::from(self.params.gamma) {
                let target = ((cwnd as f64 * base.as_secs() / rtt.as_secs()) as u64 / mss + 1) * mss;
                self.window.cwnd = cwnd.min(target).max(2 * mss);
                self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd.max(3 * mss) - mss);
            } else {
                self.window.slow_start(ack.segments);
            }
        } else if waiting > f64::from(self.params.beta) {
            self.window.cwnd = (cwnd - mss.min(cwnd)).max(2 * mss);
            self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd.max(3 * mss) - mss);
        } else if waiting < f64::from(self.params.alpha) {
            self.window.cwnd += mss;
        }
    }
}

impl LossBased for VegasControl {
    fn window(&self) -> &LossWindow {
        &self.window
    }

    fn window_mut(&mut self) -> &mut LossWindow {
        &mut self.window
    }

    fn grow(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |min| min.min(rtt)));
            self.round_rtt = Some(self.round_rtt.map_or(rtt, |min| min.min(rtt)));
            self.samples += 1;
        }
        if ack.phase != Phase::Open {
            return reno::grow(&mut self.window, ack);
        }
        if ack.una >= self.round_end {
            if self.samples >= SAMPLES {
                self.adjust(ack);
            } else {
                reno::grow(&mut self.window, ack);
            }
            self.round_end = ack.next;
            self.round_rtt = None;
            self.samples = 0;
        } else if self.window.in_slow_start() && ack.may_grow() {
            self.window.slow_start(ack.segments);
        }
    }

    fn reduced(&mut self) -> u64 {
        self.window.cwnd / 2
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionControl as _;
    use super::*;

    /// From 20 segments, with a minimum of 100 ms.
    fn after_round(rtt_ms: u64) -> u64 {
        let mut control = VegasControl::new(&Vegas::default(), 1_000, 20_000);
        control.window.ssthresh = 10_000;
        control.base_rtt = Some(Duration::from_millis(100));
        control.round_end = 20_000;
        for una in (1_000..=20_000).step_by(1_000) {
            let rtt = Some(Duration::from_millis(rtt_ms));
            control.on_ack(&AckEvent {
                una,
                next: una + 20_000,
                acked: 1_000,
                segments: 1,
                rtt,
                ..AckEvent::default()
            });
        }
        control.cwnd()
    }

    #[test]
    fn two_to_four_segments_stay_in_queue() {
        // With 20 segments and a smallest round-trip time of 100 ms, a round-trip time of 105 ms
        // corresponds to one segment in the queue, 115 ms to three, and 125 ms to five.
        assert_eq!([105, 115, 125].map(after_round), [21_000, 20_000, 19_000]);
    }

    #[test]
    fn slow_start_ends_with_more_than_one_queued_segment() {
        // The estimate is 20 (110 - 100) / 100 = 2 segments in the queue. So the window becomes 20
        // * 100 / 110 segments, rounded down, plus one segment.
        let mut control = VegasControl::new(&Vegas::default(), 1_000, 20_000);
        control.base_rtt = Some(Duration::from_millis(100));
        for (una, next) in [(1_000, 20_000), (2_000, 20_000), (3_000, 20_000), (20_000, 40_000)] {
            let rtt = Some(Duration::from_millis(110));
            control.on_ack(&AckEvent { una, next, rtt, window_limited: false, ..AckEvent::default() });
        }
        // As in Linux, the window is rounded down to whole segments before one segment is added.
        assert_eq!(control.cwnd(), 20_000 * 100 / 110 / 1_000 * 1_000 + 1_000);
        assert_eq!(control.ssthresh(), control.cwnd() - 1_000);
    }
}
