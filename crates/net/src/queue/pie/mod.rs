//! PIE, proportional integral controller enhanced (RFC 8033): drops arriving packets at random, with a
//! probability that a controller updates periodically from the queueing delay.
//!
//! Updates take no events of their own: their inputs do not change between packets, so all updates due are
//! made when the next packet arrives or departs. Section 5.3 of the RFC (PIE becomes active only when a third
//! of the buffer is full) is not modelled.

use nodeb_base::params;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::packet::Packet;
use nodeb_base::rng::{Stream, uniform};
use nodeb_base::units::{Duration, Probability, Rate, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DropLog, Queue, QueueParams, TimedFifo};

/// Method by which PIE estimates the queueing delay (RFC 8033, section 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayEstimate {
    /// Waiting time of the packet that departed last.
    #[default]
    Timestamp,
    /// Number of waiting bytes divided by a departure rate that is measured while at least 16 KiB
    /// wait (RFC 8033, section 5.2).
    DepartureRate,
}

params! {
    /// Parameters of a PIE queue, which drops packets with a probability computed from the queueing
    /// delay (RFC 8033).
    pub struct Pie {
        // The defaults are those of RFC 8033, sections 4 and 5.1, except that the default limit is
        // that of Linux.
        /// Largest number of packets that wait in the queue.
        pub limit: NonZeroU32 = const { NonZeroU32::new(1000).unwrap() },
        /// Target of the queueing delay (QDELAY_REF).
        pub target: Duration = Duration::from_millis(15),
        /// Time between updates of the drop probability (T_UPDATE).
        pub update: Duration = Duration::from_millis(15),
        /// Length of a burst that passes without drops after a period without congestion
        /// (MAX_BURST).
        pub burst: Duration = Duration::from_millis(150),
        /// Gain of the drop probability on the difference between the queueing delay and `target`,
        /// per second.
        pub alpha: f64 = 0.125,
        /// Gain of the drop probability on the change of the queueing delay, per second.
        pub beta: f64 = 1.25,
        /// Method by which the queueing delay is estimated.
        pub delay_estimate: DelayEstimate,
        /// Whether drops are spaced evenly, by accumulating the drop probability from one drop to
        /// the next (RFC 8033, section 5.4).
        pub derandomize: bool = false,
        /// Mean size of a packet. No packet is dropped while at most two packets of this size wait.
        pub mean_packet: Size = Size(1500),
        /// Whether the queue marks ECN-capable packets instead of dropping them.
        pub ecn: bool = true,
        /// Drop probability from which ECN-capable packets are dropped instead of marked
        /// (MAX_ECNTH).
        pub ecn_threshold: Probability = Probability(0.1),
    }
}

impl Checked for Pie {
    fn check(&self, check: &mut Check) {
        check.require(self.target.0 > 0, "target", || {
            "0 s is out of range; expected a positive time such as \"15 ms\"".to_owned()
        });
        check.require(self.update.0 >= 1_000_000, "update", || {
            "the update period is too short; expected at least 1 ms".to_owned()
        });
        for (key, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            check.require(gain >= 0.0 && gain.is_finite(), key, || {
                format!("{gain} is out of range; expected a gain of at least 0")
            });
        }
        check.require(self.alpha > 0.0, "alpha", || {
            "without this gain the delay does not approach the target; expected a number above 0".to_owned()
        });
    }
}

/// Minimum number of bytes that depart in one measurement of the departure rate, and minimum number that must
/// wait when it starts (RFC 8033, section 5.2).
const MEASURED_BYTES: u64 = 1 << 14;
/// Weight of a new measurement in the departure rate (RFC 8033, section 5.2).
const WEIGHT: f64 = MEASURED_BYTES as f64 / (1 << 16) as f64;

/// Estimator of the rate at which packets leave the queue (RFC 8033, section 5.2).
#[derive(Debug, Default)]
struct DepartureRate {
    under_way: Option<(Time, u64)>,
    /// s; 0 before the first measurement.
    s_per_byte: f64,
}

impl DepartureRate {
    /// A measurement starts after a departure and so does not count the packet that departs then.
    fn leaves(&mut self, now: Time, size: u32, backlog: u64) {
        if let Some((begin, bytes)) = &mut self.under_way {
            let time_s = now.since(*begin).as_secs();
            *bytes += u64::from(size);
            if *bytes < MEASURED_BYTES {
                return;
            }
            // A packet leaves the queue when its transmission starts. So the interval contains the
            // transmission of the packet that departed at the start of the interval, but not the
            // transmission of the packet that departs now.
            let measured = time_s / *bytes as f64;
            let weight = if self.s_per_byte == 0.0 { 1.0 } else { WEIGHT };
            self.s_per_byte += weight * (measured - self.s_per_byte);
            self.under_way = None;
        }
        if backlog >= MEASURED_BYTES {
            self.under_way = Some((now, 0));
        }
    }
}

impl QueueParams for Pie {
    fn build(&self, _rate: Rate, stream: Stream) -> Box<dyn Queue> {
        Box::new(PieQueue::new(self, stream))
    }

    fn limit(&self) -> Option<NonZeroU32> {
        Some(self.limit)
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// Queue with PIE. The fields of its controller have the names of RFC 8033, appendix A.
#[derive(Debug)]
pub struct PieQueue {
    params: Pie,
    fifo: TimedFifo,
    stream: Stream,
    drop_prob: f64,
    accu_prob: f64,
    qdelay_old_s: f64,
    /// 0 before the first departure.
    last_wait: Duration,
    departure_rate: DepartureRate,
    burst_allowance: Duration,
    next_update: Time,
}

impl PieQueue {
    pub fn new(params: &Pie, stream: Stream) -> Self {
        Self {
            params: params.clone(),
            fifo: TimedFifo::default(),
            stream,
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay_old_s: 0.0,
            last_wait: Duration::ZERO,
            departure_rate: DepartureRate::default(),
            burst_allowance: params.burst,
            next_update: Time::ZERO + params.update,
        }
    }

    /// 0 if the queue is empty.
    fn delay_s(&self) -> f64 {
        match self.params.delay_estimate {
            _ if self.fifo.is_empty() => 0.0,
            DelayEstimate::Timestamp => self.last_wait.as_secs(),
            DelayEstimate::DepartureRate => self.fifo.bytes() as f64 * self.departure_rate.s_per_byte,
        }
    }

    /// Makes all periodic updates of the drop probability that are due up to and including `now`, except for
    /// updates that would change nothing.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            if self.is_calm() {
                let late = now.since(self.next_update).0 / self.params.update.0;
                self.next_update += Duration(late * self.params.update.0);
            }
            self.update();
            self.next_update += self.params.update;
        }
    }

    fn is_calm(&self) -> bool {
        self.fifo.is_empty()
            && self.drop_prob == 0.0
            && self.qdelay_old_s == 0.0
            && self.burst_allowance == self.params.burst
    }

    /// RFC 8033, sections 4.2 and 4.4.
    fn update(&mut self) {
        let delay_s = self.delay_s();
        let target_s = self.params.target.as_secs();
        let change =
            self.params.alpha * (delay_s - target_s) + self.params.beta * (delay_s - self.qdelay_old_s);
        self.drop_prob += scaled(change, self.drop_prob);
        if delay_s == 0.0 && self.qdelay_old_s == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance = Duration(self.burst_allowance.0.saturating_sub(self.params.update.0));
        if self.drop_prob == 0.0 && delay_s < target_s / 2.0 && self.qdelay_old_s < target_s / 2.0 {
            self.burst_allowance = self.params.burst;
        }
        self.qdelay_old_s = delay_s;
    }

    /// RFC 8033, sections 4.1 and 5.4.
    fn drop_early(&mut self) -> bool {
        let calm = self.qdelay_old_s < self.params.target.as_secs() / 2.0 && self.drop_prob < 0.2;
        if self.burst_allowance.0 > 0 || calm || self.fifo.bytes() <= 2 * self.params.mean_packet.0 {
            return false;
        }
        if self.params.derandomize {
            self.accu_prob = if self.drop_prob == 0.0 { 0.0 } else { self.accu_prob + self.drop_prob };
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                return true;
            }
        }
        uniform(&mut self.stream) < self.drop_prob
    }
}

/// Scales a change of the drop probability. Below a probability of 10 % the change is divided by up
/// to 2048 (RFC 8033, section 4.2); from 10 % on an increase is limited to 2 percentage points
/// (section 5.5).
fn scaled(change: f64, drop_prob: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    let step = STEPS.iter().find(|(below, _)| drop_prob < *below);
    step.map_or(change.min(0.02), |(_, divisor)| change / divisor)
}

impl Queue for PieQueue {
    fn push(&mut self, now: Time, mut packet: Packet, drops: &mut DropLog) -> bool {
        self.catch_up(now);
        if self.fifo.len() >= self.params.limit.get() as usize {
            self.accu_prob = 0.0;
            drops.refuse_overflow();
            return false;
        }
        if self.drop_early() {
            self.accu_prob = 0.0;
            let may_mark = self.params.ecn && self.drop_prob < self.params.ecn_threshold.0;
            if !(may_mark && drops.mark(&mut packet)) {
                drops.refuse_early();
                return false;
            }
        }
        self.fifo.push(now, packet);
        true
    }

    fn pop(&mut self, now: Time, _: &mut DropLog) -> Option<Packet> {
        self.catch_up(now);
        let (came, packet) = self.fifo.pop()?;
        self.last_wait = now.since(came);
        self.departure_rate.leaves(now, packet.size, self.fifo.bytes());
        Some(packet)
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests;
