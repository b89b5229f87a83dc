//! RED, random early detection (Floyd & Jacobson, IEEE/ACM Trans. Networking 1(4), 1993), with
//! the gentle variant (Floyd, "Recommendation on using the gentle variant of RED", 2000).

use nodeb_base::params;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::packet::Packet;
use nodeb_base::rng::{Stream, uniform};
use nodeb_base::units::{Probability, Rate, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DropLog, Queue, QueueParams, TimedFifo};

/// Unit in which RED measures the queue length and its thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedMode {
    /// Packets: every packet is dropped or marked with the same probability.
    #[default]
    Packets,
    /// Bytes: a packet is dropped or marked with a probability proportional to its size.
    Bytes,
}

params! {
    /// Parameters of a RED queue, which drops or marks packets at random, and more of them the longer its
    /// average length.
    pub struct Red {
        // The default thresholds and `gentle` are those of ns-2, and the default weight of 0.002 is
        // the article's. The default maximum probability of 0.1 is Floyd's recommendation for
        // gentle RED.
        /// Largest number of packets waiting; in mode `bytes`, this number times `mean_packet`
        /// limits the waiting bytes.
        pub limit: NonZeroU32 = const { NonZeroU32::new(1000).unwrap() },
        /// Average queue length in packets from which packets are dropped or marked at random.
        pub min_threshold: f64 = 5.0,
        /// Average queue length in packets at which `max_probability` is reached.
        pub max_threshold: f64 = 15.0,
        /// Probability of a drop or mark at `max_threshold`, before drops are spaced evenly.
        pub max_probability: Probability = Probability(0.1),
        /// Weight of the current queue length in its moving average.
        pub weight: f64 = 0.002,
        /// Whether the probability rises to 1 at twice `max_threshold` (gentle), instead of jumping
        /// to 1 at `max_threshold`.
        pub gentle: bool = true,
        /// Unit of the queue length: packets or bytes.
        pub mode: RedMode = RedMode::Packets,
        /// Mean size of a packet. It converts the thresholds to bytes in mode `bytes`, and idle times to
        /// packets that could have been sent.
        pub mean_packet: Size = Size(1500),
        /// Whether the queue marks ECN-capable packets instead of dropping them, while the average
        /// is below `max_threshold` (RFC 3168, section 7).
        pub ecn: bool = true,
    }
}

impl Checked for Red {
    fn check(&self, check: &mut Check) {
        check.require(self.min_threshold >= 0.0 && self.min_threshold.is_finite(), "min_threshold", || {
            "the threshold is out of range; expected a number of packets of at least 0".to_owned()
        });
        let ordered = self.max_threshold > self.min_threshold && self.max_threshold.is_finite();
        check.require(ordered, "max_threshold", || {
            "the threshold is not above `min_threshold`; expected a larger number of packets".to_owned()
        });
        check.require(self.weight > 0.0 && self.weight <= 1.0, "weight", || {
            "the weight is out of range; expected a number above 0 and up to 1, such as 0.002".to_owned()
        });
        check.require(self.max_probability.0 > 0.0, "max_probability", || {
            "with probability 0 RED never drops at random; expected a probability above 0".to_owned()
        });
        check.require((1..=65_535).contains(&self.mean_packet.0), "mean_packet", || {
            "the size is out of range; expected the size of an IP packet, 1 to 65535 B".to_owned()
        });
    }
}

impl QueueParams for Red {
    fn build(&self, rate: Rate, stream: Stream) -> Box<dyn Queue> {
        Box::new(RedQueue::new(self, rate, stream))
    }

    fn limit(&self) -> Option<NonZeroU32> {
        Some(self.limit)
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

#[derive(Debug)]
pub struct RedQueue {
    params: Red,
    fifo: TimedFifo,
    stream: Stream,
    mean_ns: f64,
    /// Moving average of the queue length in packets; in mode `bytes`, bytes divided by the mean
    /// packet size.
    average: f64,
    /// Start of the idle time that the average does not include yet;
    empty_since: Option<Time>,
    /// `None` stands for the article's initial value of -1, which also holds after a packet for which the average was
    /// below the minimum threshold.
    since_last: Option<u32>,
}

impl RedQueue {
    pub fn new(params: &Red, rate: Rate, stream: Stream) -> Self {
        Self {
            mean_ns: params.mean_packet.0 as f64 * 8e9 / rate.0 as f64,
            params: params.clone(),
            fifo: TimedFifo::default(),
            stream,
            average: 0.0,
            empty_since: Some(Time::ZERO),
            since_last: None,
        }
    }

    /// Packets.
    fn queue(&self) -> f64 {
        match self.params.mode {
            RedMode::Packets => self.fifo.len() as f64,
            RedMode::Bytes => self.fifo.bytes() as f64 / self.params.mean_packet.0 as f64,
        }
    }

    /// Updates the average with the queue length that an arriving packet finds (section 4 of the article).
    fn update_average(&mut self, now: Time) {
        let w = self.params.weight;
        match self.empty_since {
            None => self.average += w * (self.queue() - self.average),
            Some(since) => {
                let missed = now.since(since).0 as f64 / self.mean_ns;
                self.average *= libm::pow(1.0 - w, missed);
                // The average now includes the idle time up to now. If the arriving packet is dropped, the
                // queue remains empty, and the next idle time starts now.
                self.empty_since = Some(now);
            }
        }
    }

    /// Returns the probability p_b of the article for a packet of `size` bytes. It is 0 if the average is below the
    /// minimum threshold. It is 1 from the maximum threshold on or, with `gentle`, from twice that threshold on.
    fn base_probability(&self, size: u32) -> f64 {
        let Red { min_threshold: low, max_threshold: high, max_probability: most, .. } = self.params;
        let p = if self.average < low {
            0.0
        } else if self.average < high {
            most.0 * (self.average - low) / (high - low)
        } else if self.params.gentle && self.average < 2.0 * high {
            most.0 + (1.0 - most.0) * (self.average - high) / high
        } else {
            return 1.0;
        };
        match self.params.mode {
            RedMode::Packets => p,
            RedMode::Bytes => (p * f64::from(size) / self.params.mean_packet.0 as f64).min(1.0),
        }
    }

    /// Returns true if an arriving packet of `size` bytes must be dropped or marked. Dividing p_b
    /// by 1 - count p_b spaces drops evenly instead of in clusters (p_a of the article, section 7).
    fn picks(&mut self, size: u32) -> bool {
        if self.average < self.params.min_threshold {
            self.since_last = None;
            return false;
        }
        let base = self.base_probability(size);
        let count = self.since_last.map_or(0, |count| count.saturating_add(1));
        let rest = 1.0 - f64::from(count) * base;
        let picked = base >= rest || uniform(&mut self.stream) * rest < base;
        self.since_last = Some(if picked { 0 } else { count });
        picked
    }

    fn is_full(&self, size: u32) -> bool {
        let limit = u64::from(self.params.limit.get());
        match self.params.mode {
            RedMode::Packets => self.fifo.len() as u64 >= limit,
            RedMode::Bytes => self.fifo.bytes() + u64::from(size) > limit * self.params.mean_packet.0,
        }
    }
}

impl Queue for RedQueue {
    fn push(&mut self, now: Time, mut packet: Packet, drops: &mut DropLog) -> bool {
        self.update_average(now);
        if self.is_full(packet.size) {
            self.since_last = Some(0);
            drops.refuse_overflow();
            return false;
        }
        if self.picks(packet.size) {
            let may_mark = self.params.ecn && self.average < self.params.max_threshold;
            if !(may_mark && drops.mark(&mut packet)) {
                drops.refuse_early();
                return false;
            }
        }
        self.fifo.push(now, packet);
        self.empty_since = None;
        true
    }

    fn pop(&mut self, now: Time, _: &mut DropLog) -> Option<Packet> {
        let (_, packet) = self.fifo.pop()?;
        if self.fifo.is_empty() {
            self.empty_since = Some(now);
        }
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
mod tests {
    use super::*;
    use nodeb_base::packet::EcnField;
    use nodeb_base::rng::Streams;

    fn queue(params: &Red) -> RedQueue {
        let stream = Streams::new(1, 0).stream("test", 0, "queue");
        // At this rate a packet of 1500 B takes 10 ms.
        RedQueue::new(params, Rate(1_200_000), stream)
    }

    fn segment(size: u32, capable: bool) -> Packet {
        let ecn = if capable { EcnField::Ect0 } else { EcnField::NotEct };
        Packet { ecn, ..Packet::new(0, size) }
    }

    #[test]
    fn the_average_follows_the_queue_and_decays_when_idle() {
        let (mut red, mut drops) = (queue(&Red { weight: 0.1, ..Red::default() }), DropLog::default());
        let mut expected = 0.0;
        for n in 0..5 {
            expected += 0.1 * (f64::from(n) - expected);
            red.push(Time::ZERO, segment(1500, false), &mut drops);
            assert!((red.average - expected).abs() < 1e-12);
        }
        while red.pop(Time(50_000_000), &mut drops).is_some() {}
        // The queue is empty for 70 ms before this arrival, in which seven packets could have been
        // sent.
        red.push(Time(120_000_000), segment(1500, false), &mut drops);
        assert!((red.average - expected * 0.9f64.powi(7)).abs() < 1e-9, "{}", red.average);
    }

    #[test]
    fn the_probability_is_linear_between_the_thresholds_and_gentle_above() {
        let mut red = queue(&Red::default());
        for (average, p) in [(4.99, 0.0), (5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)] {
            red.average = average;
            assert!((red.base_probability(1500) - p).abs() < 1e-12, "{average}");
        }
        red.params.gentle = false;
        red.average = 15.0;
        assert!((red.base_probability(40) - 1.0).abs() < f64::EPSILON);
        red.params.mode = RedMode::Bytes;
        red.average = 10.0;
        assert!((red.base_probability(750) - 0.025).abs() < 1e-12);
    }

    #[test]
    fn drops_are_evenly_spaced() {
        // With p_b = 0.05 the distance of drops is uniform on 1 to 19 (section 7 of the article).
        let mut red = queue(&Red::default());
        red.average = 10.0;
        let picked: Vec<u32> = (0..40_000).filter(|_| red.picks(1500)).collect();
        let gaps: Vec<f64> = picked.windows(2).map(|pair| f64::from(pair[1] - pair[0])).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let sigma = ((19.0f64.powi(2) - 1.0) / 12.0 / gaps.len() as f64).sqrt();
        assert!((mean - 10.0).abs() < 4.0 * sigma, "{mean}");
        assert!(gaps.iter().all(|gap| *gap <= 19.0));
    }

    #[test]
    fn ecn_capable_packets_are_marked_below_max_threshold_and_dropped_above() {
        let (mut red, mut drops) = (queue(&Red { weight: 1e-12, ..Red::default() }), DropLog::default());
        red.average = 14.9;
        for _ in 0..500 {
            assert!(red.push(Time::ZERO, segment(100, true), &mut drops));
        }
        assert!(drops.counts.marked > 30 && drops.counts.early == 0);
        let marked = std::iter::from_fn(|| red.pop(Time::ZERO, &mut drops));
        assert_eq!(marked.filter(|p| p.ecn == EcnField::Ce).count() as u64, drops.counts.marked);
        red.average = 29.9;
        for _ in 0..500 {
            red.push(Time::ZERO, segment(100, true), &mut drops);
        }
        assert!(drops.counts.early > 450, "{:?}", drops.counts);
    }
}
