//! Westwood+: Reno that falls to what the path delivers instead of half, so that losses of the radio
//! cost little (Grieco and Mascolo, ACM CCR 34(2), 2004; filters as in Linux, `tcp_westwood.c`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Growth;
use super::{AckEvent, CongestionControl, LossWindow};
use crate::check::{Check, Checked};
use crate::units::{Duration, Time};

/// Shortest time over which the bandwidth is sampled (Linux: `TCP_WESTWOOD_RTT_MIN`).
const SHORTEST_SAMPLE: Duration = Duration::from_millis(50);

/// Westwood+ has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Westwood {}

impl Checked for Westwood {
    fn check(&self, _: &mut Check) {}
}

/// Westwood+'s state.
#[derive(Debug)]
pub struct Policy {
    window: LossWindow,
    growth: Growth,
    min_rtt: Option<Duration>,
    /// Beginning of the sample under way, and what had been delivered then.
    since: Option<(Time, u64)>,
    /// Bytes per second: smoothed once, and twice.
    smooth: f64,
    bandwidth: f64,
}

impl Policy {
    /// Westwood+ at the start of a connection.
    pub fn new(mss: u64, initial_window: u64) -> Self {
        Self {
            window: LossWindow::new(mss, initial_window),
            growth: Growth::default(),
            min_rtt: None,
            since: None,
            smooth: 0.0,
            bandwidth: 0.0,
        }
    }

    /// One sample per round trip (what the plus stands for: it is immune to ACK compression).
    fn sample(&mut self, ack: &AckEvent) {
        let (since, delivered) = *self
            .since
            .get_or_insert((ack.now, ack.total_delivered - ack.delivered.min(ack.total_delivered)));
        let elapsed = ack.now.since(since);
        if elapsed < ack.srtt.max(SHORTEST_SAMPLE) {
            return;
        }
        let rate = (ack.total_delivered - delivered) as f64 / elapsed.as_secs();
        if self.bandwidth == 0.0 {
            (self.smooth, self.bandwidth) = (rate, rate);
        } else {
            self.smooth = (7.0 * self.smooth + rate) / 8.0;
            self.bandwidth = (7.0 * self.bandwidth + self.smooth) / 8.0;
        }
        self.since = Some((ack.now, ack.total_delivered));
    }

    /// What is in flight when the queue is empty.
    fn pipe_size(&self) -> u64 {
        self.min_rtt.map_or(0, |rtt| (self.bandwidth * rtt.as_secs()) as u64)
    }
}

impl CongestionControl for Policy {
    fn on_ack(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        self.sample(ack);
        self.growth.open(&mut self.window, ack);
    }

    fn on_congestion(&mut self, _: Time, _: u64) {
        self.window.reduce(self.pipe_size().min(self.window.cwnd));
        self.growth.reset();
    }

    fn on_timeout(&mut self, _: Time, in_flight: u64, again: bool) {
        if !again {
            self.window.reduce(self.pipe_size().min(self.window.cwnd));
        }
        self.window.restart(in_flight);
        self.growth.reset();
    }

    fn on_idle(&mut self) {
        self.window.idle();
    }

    fn undo(&mut self) {
        self.window.undo();
    }

    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_leaves_what_the_path_delivers() {
        // 1 MB/s and 100 ms, but round trips of 150 ms: a pipe of 100 kB, a window of 150 kB.
        let mut policy = Policy::new(1_000, 150_000);
        let mut now = Time::ZERO;
        for ack in 1..2_000 {
            now += Duration::from_millis(1);
            let rtt = Duration::from_millis(if ack == 1 { 100 } else { 150 });
            let (rtt, srtt) = (Some(rtt), rtt);
            let total_delivered = 1_000 * ack;
            policy.on_ack(&AckEvent {
                now,
                delivered: 1_000,
                total_delivered,
                rtt,
                srtt,
                ..AckEvent::default()
            });
        }
        policy.on_congestion(now, 150_000);
        assert!(policy.cwnd().abs_diff(100_000) < 2_000, "{}", policy.cwnd());
    }
}
