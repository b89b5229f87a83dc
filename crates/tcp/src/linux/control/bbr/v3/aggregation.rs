//! Excess of acknowledged data over the bandwidth (5.5.9). Radio links and delayed ACKs acknowledge
//! data in bursts. The window must have room for this excess, so that the sender can continue
//! between bursts.

use nodeb_base::units::Time;

use super::Bbr3Control;
use crate::linux::control::AckEvent;
use crate::linux::control::filter::WindowedMax;

/// Number of rounds for which an excess is kept once the pipe has been full.
const ROUNDS: u64 = 10;
/// Number of rounds for which an excess is kept before the pipe has been full.
const STARTUP_ROUNDS: u64 = 1;

/// Largest excess of acknowledged bytes over the bandwidth (`BBR.extra_acked`).
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
    /// Returns the largest excess of the last rounds in bytes: the data acknowledged in an epoch
    /// beyond the data that the bandwidth should have delivered (`extra_acked`).
    pub fn extra(&self) -> u64 {
        self.largest.max() as u64
    }

    /// Moves the start of the epoch, in which the excess is counted, to `now`. After a pause of the
    /// sender this prevents the pause from counting as waiting time.
    pub fn restart(&mut self, now: Time) {
        self.since = now;
    }
}

impl Bbr3Control {
    /// Updates the largest excess of acknowledged data on an ACK (`UpdateACKAggregation`).
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
