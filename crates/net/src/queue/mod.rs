//! Queue disciplines: what a link does with packets that must wait.
//!
//! A discipline may refuse a packet on arrival, and it may drop or mark packets later; it writes
//! both into the [`DropLog`]. The packet in service is not the queue's any more.

pub mod codel;
mod drop_log;
pub mod drop_tail;
pub mod fq_codel;
pub mod pie;
pub mod red;
mod timed;

#[cfg(test)]
mod laws;

pub use drop_log::{DropLog, QueueCounts};
pub use timed::TimedFifo;

use nodeb_base::check::Check;
use nodeb_base::packet::Packet;
use nodeb_base::plugin::Parameters;
use nodeb_base::registry;
use nodeb_base::rng::Stream;
use nodeb_base::units::{Rate, Time};

/// A packet queue in front of a link.
pub trait Queue: Send + std::fmt::Debug {
    /// Takes a packet that must wait; `false` means it was dropped.
    fn push(&mut self, now: Time, packet: Packet, drops: &mut DropLog) -> bool;
    /// The next packet to send. Packets may be dropped on the way to it; `None` leaves the queue
    /// empty.
    fn pop(&mut self, now: Time, drops: &mut DropLog) -> Option<Packet>;
    /// Packets waiting.
    fn len(&self) -> usize;
    /// Bytes waiting.
    fn bytes(&self) -> u64;
    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether a packet that finds the link idle passes through the queue too, because the
    /// discipline keeps averages or credits that it must enter.
    fn sees_every_packet(&self) -> bool {
        true
    }
    /// Packets and bytes it can be filled to, where these alone decide and the order is first in, first out.
    fn limits(&self) -> Option<drop_tail::Limits> {
        None
    }
}

/// The parameters of a queue discipline.
pub trait QueueParams: Parameters {
    /// An empty queue of this discipline in front of a link of `rate`; `stream` is for those that
    /// draw at random.
    fn build(&self, rate: Rate, stream: Stream) -> Box<dyn Queue>;
    /// Whether packets are marked instead of dropped, where they allow it.
    fn marks(&self) -> bool {
        false
    }
    /// Reports a queue that would lose every packet where all of them wait, as they do for an opportunity.
    fn check_waiting(&self, _check: &mut Check) {}
}

registry! {
    /// The queue discipline of a link, as a scenario names it.
    "queue" QueueSpec = DropTail as QueueParams + Plugin {
        /// First in, first out; a packet that finds the queue full is dropped.
        "drop_tail" => DropTail(drop_tail::DropTail),
        /// Random early detection: the drop probability grows with the average queue.
        "red" => Red(red::Red),
        /// Controlled delay: drops ever faster while every packet waits longer than a target.
        "codel" => Codel(codel::Codel),
        /// One CoDel queue per flow, served in turn, flows that have just begun first.
        "fq_codel" => FqCodel(fq_codel::FqCodel),
        /// A proportional-integral controller sets the drop probability from the queueing delay.
        "pie" => Pie(pie::Pie),
    }
}
