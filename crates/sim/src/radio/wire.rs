//! A plain link in the bearer's place: the path without radio.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bearer, BearerCounts, Delivery, UserRadio};
use crate::check::{Check, Checked};
use crate::engine::{Key, Stamps};
use crate::network::link::{Link, Loss, Outcome, check_rate};
use crate::network::queue::QueueSpec;
use crate::packet::Packet;
use crate::rng::Streams;
use crate::units::{Duration, Probability, Rate, Time};

/// A link with a rate, a delay, a queue and loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkBearer {
    /// Bit rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Queue at the Node B.
    pub queue: QueueSpec,
    /// Probability that a packet is lost, independently of the others.
    pub loss: Probability,
    /// Packets to lose instead, by their position in the order of arrival, 0 being the first.
    pub drop_list: Vec<u64>,
}

impl Default for LinkBearer {
    fn default() -> Self {
        Self {
            rate: Rate(384_000),
            delay: Duration::ZERO,
            queue: QueueSpec::default(),
            loss: Probability(0.0),
            drop_list: Vec::new(),
        }
    }
}

impl Checked for LinkBearer {
    fn check(&self, check: &mut Check) {
        check_rate(check, self.rate);
        check.within("queue", |check| self.queue.check(check));
        check.require(self.loss.0 < 1.0, "loss", || {
            "a loss of 1 lets no packet through; expected a probability below 1".to_owned()
        });
        check.require(self.loss.0 == 0.0 || self.drop_list.is_empty(), "drop_list", || {
            "a drop list replaces random loss; leave out one of `loss` and `drop_list`".to_owned()
        });
    }
}

impl LinkBearer {
    /// The bearer of one user.
    pub fn build(&self, user: &UserRadio, streams: &Streams) -> WireBearer {
        let loss = if self.drop_list.is_empty() {
            Loss::random(self.loss, streams.stream("link", user.id, "loss"))
        } else {
            Loss::listed(self.drop_list.clone())
        };
        let link = Link::new(self.rate, self.delay, &self.queue, loss);
        WireBearer { link, delivered: 0, bytes: 0 }
    }
}

/// A link that carries one user's packets.
#[derive(Debug)]
pub struct WireBearer {
    link: Link,
    delivered: u64,
    bytes: u64,
}

impl Bearer for WireBearer {
    fn accept(&mut self, now: Time, _user: usize, packet: Packet, stamps: &mut Stamps) -> bool {
        self.link.accept(now, packet, stamps) == Outcome::Taken
    }

    fn next_wake(&self) -> Option<Key> {
        self.link.next_wake()
    }

    fn wake(&mut self, key: Key, stamps: &mut Stamps, delivered: &mut Vec<Delivery>) {
        if let Some(packet) = self.link.wake(key, stamps) {
            self.delivered += 1;
            self.bytes += u64::from(packet.size);
            delivered.push(Delivery { user: 0, packet });
        }
    }

    fn backlog(&self, _user: usize) -> (usize, u64) {
        (self.link.waiting(), self.link.waiting_bytes())
    }

    fn counts(&self) -> BearerCounts {
        let link = self.link.counts;
        BearerCounts {
            packets_in: link.packets - link.lost - link.overflowed,
            packets_delivered: self.delivered,
            packets_dropped: link.lost + link.overflowed,
            bytes_delivered: self.bytes,
            ..BearerCounts::default()
        }
    }
}
