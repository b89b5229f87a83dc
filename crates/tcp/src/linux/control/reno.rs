//! Reno: additive increase, multiplicative decrease (RFC 5681) by bytes (RFC 3465).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loss_based::{LossBased, LossWindow};
use super::{AckEvent, Phase};
use crate::check::{Check, Checked};

/// Segments by which an ACK may open the window in slow start (RFC 3465, 2.3: `L`).
const ABC_LIMIT: u64 = 2;

/// Reno has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LinuxReno")]
#[serde(default, deny_unknown_fields)]
pub struct Reno {}

impl Checked for Reno {
    fn check(&self, _: &mut Check) {}
}

/// Reno's growth, which other controls share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    /// Bytes acknowledged since the window last grew in congestion avoidance (`bytes_acked`).
    acked: u64,
}

impl Growth {
    /// Opens the window as Reno would.
    pub fn open(&mut self, window: &mut LossWindow, ack: &AckEvent) {
        if ack.phase == Phase::Recovery || !ack.window_limited {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            // After a timeout an ACK may cover much that had arrived before: RFC 3465, 2.3.
            let limit = if ack.phase == Phase::Loss { 1 } else { ABC_LIMIT };
            acked = window.slow_start(acked, limit);
        }
        if !window.in_slow_start() {
            self.add(window, acked);
        }
    }

    /// Congestion avoidance: a segment more for each window acknowledged (RFC 3465, 2.1).
    pub fn add(&mut self, window: &mut LossWindow, acked: u64) {
        self.acked += acked;
        if self.acked >= window.cwnd {
            self.acked -= window.cwnd;
            window.cwnd += window.mss;
        }
    }

    /// Starts afresh after a reduction.
    pub fn reset(&mut self) {
        self.acked = 0;
    }
}

/// Reno's state.
#[derive(Debug)]
pub struct Policy {
    window: LossWindow,
    growth: Growth,
}

impl Policy {
    /// Reno at the start of a connection.
    pub fn new(mss: u64, initial_window: u64) -> Self {
        Self { window: LossWindow::new(mss, initial_window), growth: Growth::default() }
    }
}

impl LossBased for Policy {
    fn window(&self) -> &LossWindow {
        &self.window
    }

    fn window_mut(&mut self) -> &mut LossWindow {
        &mut self.window
    }

    fn grow(&mut self, ack: &AckEvent) {
        self.growth.open(&mut self.window, ack);
    }

    fn reduced(&mut self, outstanding: u64) -> u64 {
        self.growth.reset();
        outstanding / 2
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionControl as _;
    use super::*;
    use crate::units::Time;

    const MSS: u64 = 1_000;

    fn acknowledge(policy: &mut Policy, acked: u64, phase: Phase) {
        policy.on_ack(&AckEvent { acked, delivered: acked, phase, ..AckEvent::default() });
    }

    #[test]
    fn slow_start_counts_at_most_two_segments_an_ack() {
        let mut policy = Policy::new(MSS, 10 * MSS);
        acknowledge(&mut policy, 5 * MSS, Phase::Open);
        assert_eq!(policy.cwnd(), 12 * MSS);
        acknowledge(&mut policy, 5 * MSS, Phase::Loss);
        assert_eq!(policy.cwnd(), 13 * MSS);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_per_window() {
        let mut policy = Policy::new(MSS, 20 * MSS);
        policy.on_congestion(Time::ZERO, 20 * MSS);
        assert_eq!((policy.cwnd(), policy.ssthresh()), (10 * MSS, 10 * MSS));
        for _ in 0..9 {
            acknowledge(&mut policy, MSS, Phase::Open);
        }
        assert_eq!(policy.cwnd(), 10 * MSS);
        acknowledge(&mut policy, MSS, Phase::Open);
        assert_eq!(policy.cwnd(), 11 * MSS);
    }

    #[test]
    fn two_segments_are_the_least_threshold_and_a_timeout_restarts() {
        let mut policy = Policy::new(MSS, 3 * MSS);
        policy.on_timeout(Time::ZERO, 0, false);
        assert_eq!((policy.cwnd(), policy.ssthresh()), (MSS, 2 * MSS));
        policy.undo();
        assert_eq!((policy.cwnd(), policy.ssthresh()), (3 * MSS, u64::MAX));
    }
}
