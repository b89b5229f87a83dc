//! A store-and-forward link: `delivered = start of sending + 8 size / rate + delay`.
//!
//! The end of a transmission is kept as a fraction of a nanosecond, so that a long busy period
//! does not drift. A packet that finds the link idle costs one event, its arrival; only packets
//! that wait need another when the link falls free.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queue::{Queue, QueueSpec};
use crate::check::{Check, Checked};
use crate::engine::{Key, Stamps};
use crate::packet::Packet;
use crate::rng::{ErrorGaps, Stream};
use crate::units::{Duration, NANOS_PER_S, Probability, Rate, Time};

/// The link between server and Node B, both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wired {
    /// Bit rate in each direction.
    pub rate: Rate,
    /// Propagation delay in each direction.
    pub delay: Duration,
    /// Probability that a packet towards the phone is lost, independently of the others.
    pub loss: Probability,
    /// Queue in each direction.
    pub queue: QueueSpec,
}

impl Default for Wired {
    /// The fixed network of `wang`, Table 6.
    fn default() -> Self {
        Self {
            rate: Rate(10_000_000),
            delay: Duration::from_millis(110),
            loss: Probability(0.0),
            queue: QueueSpec::default(),
        }
    }
}

/// A phone's dedicated, error-free uplink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Uplink {
    /// Bit rate.
    pub rate: Rate,
    /// Delay from the end of sending to the Node B.
    pub delay: Duration,
    /// Queue at the phone.
    pub queue: QueueSpec,
}

impl Default for Uplink {
    /// The DCH uplink of `wang`, Table 6.
    fn default() -> Self {
        Self { rate: Rate(64_000), delay: Duration::from_millis(20), queue: QueueSpec::default() }
    }
}

impl Checked for Wired {
    fn check(&self, check: &mut Check) {
        check_rate(check, self.rate);
        check.require(self.loss.0 < 1.0, "loss", || {
            "a loss of 1 lets no packet through; expected a probability below 1".to_owned()
        });
        check.within("queue", |check| self.queue.check(check));
    }
}

impl Checked for Uplink {
    fn check(&self, check: &mut Check) {
        check_rate(check, self.rate);
        check.within("queue", |check| self.queue.check(check));
    }
}

/// Reports a rate of zero, over which no packet would ever arrive.
pub fn check_rate(check: &mut Check, rate: Rate) {
    check.require(rate.0 > 0, "rate", || {
        "a link of 0 bps carries nothing; expected a positive rate".to_owned()
    });
}

/// Which packets a link loses before its queue.
#[derive(Debug)]
pub enum Loss {
    /// None.
    Never,
    /// Independently with one probability.
    Random(Box<ErrorGaps>),
    /// Those at the listed positions in the order of arrival, ascending, 0 being the first.
    Listed(std::vec::IntoIter<u64>, Option<u64>),
}

impl Loss {
    /// Independent loss with probability `p`.
    pub fn random(p: Probability, stream: Stream) -> Self {
        if p.0 > 0.0 { Self::Random(Box::new(ErrorGaps::new(p.0, stream))) } else { Self::Never }
    }

    /// Loss of exactly the packets at `positions`.
    pub fn listed(mut positions: Vec<u64>) -> Self {
        positions.sort_unstable();
        positions.dedup();
        let mut rest = positions.into_iter();
        let next = rest.next();
        Self::Listed(rest, next)
    }

    fn loses(&mut self, position: u64) -> bool {
        match self {
            Self::Never => false,
            Self::Random(errors) => errors.next_is_error(),
            Self::Listed(rest, next) => {
                let hit = *next == Some(position);
                if hit {
                    *next = rest.next();
                }
                hit
            }
        }
    }
}

/// What became of a packet handed to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is on its way or waits.
    Taken,
    /// The link lost it.
    Lost,
    /// The queue was full.
    Overflowed,
}

/// What a link has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    /// Packets handed to the link.
    pub packets: u64,
    /// Packets lost at random or by list.
    pub lost: u64,
    /// Packets that found the queue full.
    pub overflowed: u64,
    /// Bytes sent.
    pub bytes: u64,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Link {
    rate_bps: u64,
    delay: Duration,
    loss: Loss,
    queue: Box<dyn Queue>,
    /// End of the transmission under way, and what is left over of its last nanosecond in units
    /// of 1 / rate.
    free_at: Time,
    remainder: u64,
    /// When waiting packets go on, drawn when the transmission under way began.
    resume: Key,
    in_flight: VecDeque<(Key, Packet)>,
    /// What the link has done.
    pub counts: LinkCounts,
}

impl Link {
    /// An idle link.
    pub fn new(rate: Rate, delay: Duration, queue: &QueueSpec, loss: Loss) -> Self {
        Self {
            rate_bps: rate.0,
            delay,
            loss,
            queue: queue.build(),
            free_at: Time::ZERO,
            remainder: 0,
            resume: Key::default(),
            in_flight: VecDeque::new(),
            counts: LinkCounts::default(),
        }
    }

    /// Hands a packet to the link.
    pub fn accept(&mut self, now: Time, packet: Packet, stamps: &mut Stamps) -> Outcome {
        let position = self.counts.packets;
        self.counts.packets += 1;
        if self.loss.loses(position) {
            self.counts.lost += 1;
            return Outcome::Lost;
        }
        // A packet that arrives just when the link falls free still queues behind those waiting.
        if self.free_at > now || !self.queue.is_empty() {
            if !self.queue.push(packet) {
                self.counts.overflowed += 1;
                return Outcome::Overflowed;
            }
        } else {
            if self.free_at < now {
                self.remainder = 0;
            }
            self.transmit(now, packet, stamps);
        }
        Outcome::Taken
    }

    fn transmit(&mut self, now: Time, packet: Packet, stamps: &mut Stamps) {
        let bits = u64::from(packet.size) * 8 * NANOS_PER_S + self.remainder;
        self.free_at = now + Duration(bits / self.rate_bps);
        self.remainder = bits % self.rate_bps;
        self.in_flight.push_back((stamps.key(self.free_at + self.delay), packet));
        self.resume = stamps.key(self.free_at);
        self.counts.bytes += u64::from(packet.size);
    }

    /// When [`Self::wake`] must be called next.
    pub fn next_wake(&self) -> Option<Key> {
        let arrival = self.in_flight.front().map(|(key, _)| *key);
        if self.queue.is_empty() {
            arrival
        } else {
            Some(arrival.map_or(self.resume, |key| key.min(self.resume)))
        }
    }

    /// Does what is due under `key`; returns the packet that arrives at the far end, if one does.
    pub fn wake(&mut self, key: Key, stamps: &mut Stamps) -> Option<Packet> {
        let arrived = match self.in_flight.front() {
            Some(&(arrival, packet)) if arrival == key => {
                self.in_flight.pop_front();
                Some(packet)
            }
            _ => None,
        };
        // Without a delay the link falls free just when the packet arrives: one event for both.
        let resumes = key == self.resume || (key.0 == self.resume.0 && key.1.is_just_before(self.resume.1));
        if resumes && let Some(packet) = self.queue.pop() {
            self.transmit(key.0, packet, stamps);
        }
        arrived
    }

    /// Packets waiting, the one in service not counted.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Bytes waiting, the packet in service not counted.
    pub fn waiting_bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::rng::Streams;

    fn packet(size: u32, seq: u64) -> Packet {
        Packet { size, seq, ..Packet::control(0, Kind::Segment) }
    }

    fn link(rate: u64, limit: u32, loss: Loss) -> Link {
        let queue = QueueSpec::DropTail(super::super::queue::drop_tail::DropTail {
            limit: limit.try_into().unwrap(),
        });
        Link::new(Rate(rate), Duration::from_millis(10), &queue, loss)
    }

    fn drain(link: &mut Link, stamps: &mut Stamps) -> Vec<(Time, u64)> {
        let mut out = Vec::new();
        while let Some(key) = link.next_wake() {
            if let Some(packet) = link.wake(key, stamps) {
                out.push((key.0, packet.seq));
            }
        }
        out
    }

    #[test]
    fn packets_are_stored_and_forwarded_in_order() {
        let (mut link, mut stamps) = (link(384_000, 100, Loss::Never), Stamps::default());
        for seq in 0..3 {
            assert_eq!(link.accept(Time::ZERO, packet(1500, seq), &mut stamps), Outcome::Taken);
        }
        let ms = |t: f64| Time((t * 1e6) as u64);
        assert_eq!(drain(&mut link, &mut stamps), [(ms(41.25), 0), (ms(72.5), 1), (ms(103.75), 2)]);
    }

    #[test]
    fn a_busy_period_does_not_drift() {
        // 40 B at 384 kb/s last 833 333 ns and a third.
        let (mut link, mut stamps) = (link(384_000, 4_000, Loss::Never), Stamps::default());
        for seq in 0..3_000 {
            link.accept(Time::ZERO, packet(40, seq), &mut stamps);
        }
        assert_eq!(drain(&mut link, &mut stamps)[2_999].0, Time(2_500_000_000 + 10_000_000));
    }

    #[test]
    fn a_full_queue_drops_the_newcomer() {
        let (mut link, mut stamps) = (link(384_000, 3, Loss::Never), Stamps::default());
        let outcomes: Vec<_> =
            (0..5).map(|seq| link.accept(Time::ZERO, packet(1500, seq), &mut stamps)).collect();
        // One in service, two waiting would fill the limit of 3: the third to wait is dropped.
        assert_eq!(outcomes[..3], [Outcome::Taken; 3]);
        assert_eq!(outcomes[3..], [Outcome::Overflowed; 2]);
        assert_eq!(drain(&mut link, &mut stamps).len(), 3);
    }

    #[test]
    fn listed_and_random_losses_are_counted() {
        let mut stamps = Stamps::default();
        let mut listed = link(1_000_000, 1_000, Loss::listed(vec![7, 2, 2]));
        let lost: Vec<u64> = (0..10)
            .filter(|&seq| listed.accept(Time::ZERO, packet(100, seq), &mut stamps) == Outcome::Lost)
            .collect();
        assert_eq!(lost, [2, 7]);
        let stream = Streams::new(1, 0).stream("wired", 0, "loss");
        let mut random = link(1_000_000, 20_000, Loss::random(Probability(0.03), stream));
        for seq in 0..10_000 {
            random.accept(Time::ZERO, packet(100, seq), &mut stamps);
        }
        assert!((200..400).contains(&random.counts.lost), "{}", random.counts.lost);
    }
}
