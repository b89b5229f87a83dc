//! 5.5.9: radio links and delayed ACKs acknowledge data in bursts, between which the window must have room.

use nodeb_base::units::Time;

use super::Bbr3Control;
use crate::linux::control::AckEvent;
use crate::linux::control::filter::WindowedMax;

/// Once the pipe has been full.
const ROUNDS: u64 = 10;
/// Before the pipe has been full.
const STARTUP_ROUNDS: u64 = 1;

/// `BBR.extra_acked`, in bytes.
#[derive(Clone, Debug)]
pub struct Aggregation {
    since: Time,
    delivered: f64,
    largest: WindowedMax,
}

impl Default for Aggregation {
    fn default() -> Self {
        Self { since: Time::ZERO, delivered: 0.0, largest: WindowedMax::new(STARTUP_ROUNDS) }
    }
}

impl Aggregation {
    /// `extra_acked`, in bytes.
    pub fn extra(&self) -> u64 {
        self.largest.max() as u64
    }

    /// A pause must not count as waiting time.
    pub fn restart(&mut self, now: Time) {
        self.since = now;
    }
}

impl Bbr3Control {
    /// `UpdateACKAggregation`.
    pub(super) fn aggregate(&mut self, ack: &AckEvent) {
        let bandwidth = self.bandwidth();
        let aggregation = &mut self.aggregation;
        let mut expected = bandwidth * ack.now.since(aggregation.since).as_secs();
        if aggregation.delivered <= expected {
            // ACKs have arrived more slowly than the bandwidth suggests, so the burst is over and a
            // new epoch starts.
            (aggregation.since, aggregation.delivered, expected) = (ack.now, 0.0, 0.0);
        }
        aggregation.delivered += ack.delivered as f64;
        let extra = (aggregation.delivered - expected).min(self.window.cwnd as f64);
        aggregation.largest.set_length(if self.filled { ROUNDS } else { STARTUP_ROUNDS });
        aggregation.largest.update(self.path.rounds.count, extra);
    }
}
