//! Veno: Reno that tells losses of the radio from congestion by the queue that Vegas would see (Fu and
//! Liew, IEEE JSAC 21(2), 2003; as in Linux, `tcp_veno.c`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Growth;
use super::{AckEvent, CongestionControl, LossWindow, Phase};
use crate::check::{Check, Checked};
use crate::units::{Duration, Time};

/// Veno's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Veno {
    /// Segments in the queue below which a loss is not taken for congestion.
    pub beta: u32,
}

impl Default for Veno {
    fn default() -> Self {
        Self { beta: 3 }
    }
}

impl Checked for Veno {
    fn check(&self, _: &mut Check) {}
}

/// Veno's state.
#[derive(Debug)]
pub struct Policy {
    params: Veno,
    window: LossWindow,
    growth: Growth,
    base_rtt: Option<Duration>,
    /// Smallest round trip of this round, which ends at a byte.
    round_rtt: Option<Duration>,
    round_end: u64,
    /// Segments that waited in the last round.
    waiting: f64,
}

impl Policy {
    /// Veno at the start of a connection.
    pub fn new(params: &Veno, mss: u64, initial_window: u64) -> Self {
        Self {
            params: params.clone(),
            window: LossWindow::new(mss, initial_window),
            growth: Growth::default(),
            base_rtt: None,
            round_rtt: None,
            round_end: 0,
            waiting: 0.0,
        }
    }

    fn is_congested(&self) -> bool {
        self.waiting >= f64::from(self.params.beta)
    }

    fn measure(&mut self, ack: &AckEvent) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |min| min.min(rtt)));
            self.round_rtt = Some(self.round_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        if ack.una < self.round_end {
            return;
        }
        if let (Some(base), Some(rtt)) = (self.base_rtt, self.round_rtt.take()) {
            let segments = self.window.cwnd as f64 / self.window.mss as f64;
            self.waiting = segments * (rtt.0 - base.0) as f64 / rtt.0.max(1) as f64;
        }
        self.round_end = ack.next;
    }

    /// A fifth less if the queue was short, else half (section III-B of the paper).
    fn reduce(&mut self) {
        let cwnd = self.window.cwnd;
        self.window.reduce(if self.is_congested() { cwnd / 2 } else { cwnd / 5 * 4 });
        self.growth.reset();
    }
}

impl CongestionControl for Policy {
    fn on_ack(&mut self, ack: &AckEvent) {
        self.measure(ack);
        let avoiding = ack.phase == Phase::Open && !self.window.in_slow_start();
        if avoiding && self.is_congested() {
            // Half Reno's pace (section III-A).
            if ack.window_limited {
                self.growth.add(&mut self.window, ack.acked / 2);
            }
        } else {
            self.growth.open(&mut self.window, ack);
        }
    }

    fn on_congestion(&mut self, _: Time, _: u64) {
        self.reduce();
    }

    fn on_timeout(&mut self, _: Time, in_flight: u64, again: bool) {
        if !again {
            self.reduce();
        }
        self.window.restart(in_flight);
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

    /// The window after a loss at 20 segments and round trips of `rtt_ms` on a path of 100 ms.
    fn after_loss(rtt_ms: u64) -> u64 {
        let mut policy = Policy::new(&Veno::default(), 1_000, 20_000);
        policy.base_rtt = Some(Duration::from_millis(100));
        policy.measure(&AckEvent { rtt: Some(Duration::from_millis(rtt_ms)), ..AckEvent::default() });
        policy.on_congestion(Time::ZERO, 20_000);
        policy.cwnd()
    }

    #[test]
    fn a_loss_with_a_short_queue_costs_a_fifth() {
        // 20 (1 - 100 / 110) = 1.8 segments wait, or 20 (1 - 100 / 125) = 4.
        assert_eq!([110, 125].map(after_loss), [16_000, 10_000]);
    }
}
