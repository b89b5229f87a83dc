//! Queue disciplines of links.
//!
//! A discipline may drop or mark packets on arrival or later, and records both in the
//! [`DropLog`]. The packet being transmitted is no longer in the queue.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::packet::Packet;
//! use nodeb_base::rng::Streams;
//! use nodeb_base::units::{Rate, Size, Time};
//! use nodeb_net::queue::drop_tail::DropTail;
//! use nodeb_net::queue::{DropLog, QueueSpec};
//!
//! let params = DropTail { limit_bytes: Some(Size(3_000)), ..DropTail::default() };
//! let stream = Streams::new(1, 0).stream("example", 0, "queue");
//! let mut queue = QueueSpec::DropTail(params).build(Rate(1_000_000), stream);
//!
//! let mut drops = DropLog::default();
//! let accepted = [0, 1, 2].map(|id| queue.push(Time::ZERO, Packet::new(id, 1500), &mut drops));
//! assert_eq!(accepted, [true, true, false]);
//! assert_eq!(drops.counts.overflowed, 1);
//! assert_eq!(queue.pop(Time::ZERO, &mut drops), Some(Packet::new(0, 1500)));
//! ```

pub mod codel;
mod drop_log;
pub mod drop_tail;
pub mod fq_codel;
pub mod pie;
pub mod red;
mod timed;

#[cfg(test)]
mod properties;

pub use drop_log::{DropLog, QueueCounts};
pub use timed::TimedFifo;

use std::num::NonZeroU32;

use nodeb_base::check::Check;
use nodeb_base::packet::Packet;
use nodeb_base::plugin::Parameters;
use nodeb_base::registry;
use nodeb_base::remedy::LARGE;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Rate, Time};

pub trait Queue: std::fmt::Debug {
    fn push(&mut self, now: Time, packet: Packet, drops: &mut DropLog) -> bool;
    /// The discipline may drop packets in front of the one that it returns.
    fn pop(&mut self, now: Time, drops: &mut DropLog) -> Option<Packet>;
    fn len(&self) -> usize;
    fn bytes(&self) -> u64;
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The discipline includes packets that find the link idle in its averages or credits.
    fn sees_every_packet(&self) -> bool {
        true
    }
    /// `None` if it is not a plain drop-tail queue.
    fn limits(&self) -> Option<drop_tail::Limits> {
        None
    }
}

pub trait QueueParams: Parameters {
    fn build(&self, rate: Rate, stream: Stream) -> Box<dyn Queue>;
    fn marks(&self) -> bool {
        false
    }
    /// Number of packets that may wait; `None` if it is not limited, or not known.
    fn limit(&self) -> Option<NonZeroU32> {
        None
    }
    /// Reports to `check` the parameters with which the discipline would lose all packets if every packet
    /// must wait, as on a link with delivery opportunities. By default there are none.
    fn check_waiting(&self, _check: &mut Check) {}
}

registry! {
    /// Queue discipline of a link, as a scenario names it.
    "queue" QueueSpec = DropTail as QueueParams + Plugin {
        /// First in, first out; packets that find the queue full are dropped.
        "drop_tail" => DropTail(drop_tail::DropTail),
        /// Random early detection: the drop probability grows with the average queue.
        "red" => Red(red::Red),
        /// Controlled delay: drops packets at an increasing rate while the delay exceeds a target.
        "codel" => Codel(codel::Codel),
        /// One CoDel queue per flow, served by deficit round robin; new flows come first.
        "fq_codel" => FqCodel(fq_codel::FqCodel),
        /// A proportional-integral controller computes the drop probability from the queueing delay.
        "pie" => Pie(pie::Pie),
    }
}

impl QueueSpec {
    /// Drop-tail, with a limit that is assumed never to be reached.
    pub fn endless() -> Self {
        Self::DropTail(drop_tail::DropTail { limit: LARGE, limit_bytes: None })
    }
}
