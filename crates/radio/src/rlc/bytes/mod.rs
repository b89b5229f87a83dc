//! RLC by bytes (TS 36.322): the sizes of PDUs are chosen so that they fill the block being sent.
//!
//! An [`Entity`] models both ends of RLC for one direction of a bearer, and the PDUs between them.
//! Packets wait in [`Transmit`]. RLC takes a packet from there when it puts the packet's first
//! octets into a PDU.
//!
//! [`Entity::fill`] fills the room that the MAC offers with PDUs. Every submitted PDU, even a
//! retransmitted one, has a number of its own, and these numbers never wrap. So the PDUs of a block
//! have a range of numbers, and the MAC reports for this range whether the block has arrived
//! ([`Entity::receive`]). Blocks may arrive in any order.
//!
//! In acknowledged mode, the receiving end sends STATUS PDUs: [`Entity::take_report`] puts one into a
//! block of the other direction, and [`Entity::on_report`] is called when the block has arrived or is
//! lost. The model of LTE simplifies this: each report fits and arrives after a fixed delay.
//!
//! SDUs form one stream of octets ([`stream::Stream`]), so the data field of each PDU, each segment of a PDU and
//! each part that is missing is a range of octets.
//!
//! On the air, sequence numbers are modulo the number of values that their field can have. This is
//! equivalent in acknowledged mode, whose sender respects the window. In unacknowledged mode, a
//! receiver that has missed at least a window of PDUs takes the next PDUs for old ones and discards
//! them, as on the air. It also discards them in cases in which a receiver on the air could instead
//! take them for missing PDUs.
//!
//! Not modelled: transparent mode, re-establishment, and fields longer than those of Release 8.
//!
//! # Examples
//!
//! A packet of 100 bytes, cut into blocks of 64 octets:
//!
//! ```
//! use nodeb_base::packet::Packet;
//! use nodeb_base::units::Time;
//! use nodeb_net::queue::drop_tail::{DropTail, Fifo};
//! use nodeb_radio::pdcp::Transmit;
//! use nodeb_radio::rlc::bytes::um::UmBytes;
//! use nodeb_radio::rlc::bytes::{Entity, Framing, Outcome};
//!
//! let transmit = Transmit::new(Box::new(Fifo::new(&DropTail::default())), None);
//! let mut rlc = Entity::um(&UmBytes::default(), Framing::default(), transmit);
//! let packet = Packet::new(1, 100);
//! assert!(rlc.push(Time::ZERO, packet, 0));
//!
//! // Each PDU has a header of 2 octets; PDCP adds 2 octets to the packet.
//! let blocks = [0, 1].map(|_| rlc.fill(Time::ZERO, 64));
//! assert_eq!(blocks.each_ref().map(|block| (block.headers, block.payload)), [(2, 62), (2, 40)]);
//! for block in blocks {
//!     rlc.receive(Time(1), block.units, false);
//! }
//! let outcomes: Vec<_> = rlc.outcomes().collect();
//! assert_eq!(outcomes, [Outcome::Delivered { number: 0, packet }]);
//! ```
//!
//! [`Transmit`]: crate::pdcp::Transmit

pub mod am;
mod entity;
pub mod header;
pub mod in_flight;
pub mod ranges;
pub mod stream;
pub mod um;

#[cfg(test)]
mod tests;

pub use entity::Entity;

use std::ops::Range;

use nodeb_base::event::Cause;
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use crate::pdcp::SnLength;

/// Sizes of the headers that PDCP and MAC add, and limit of the SDUs in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Number of octets that PDCP puts in front of each packet.
    pub sdu_header: u32,
    /// Number of octets of the subheader that the MAC adds to each PDU.
    pub subheader: u32,
    /// Largest number of SDUs in flight, of which a part was sent and which are neither delivered
    /// nor lost.
    pub sdus_in_flight: usize,
}

impl Framing {
    /// Returns the framing for PDCP sequence numbers of length `sn_length` and MAC subheaders of
    /// `subheader` octets. The limit of the SDUs in flight is half of the sequence numbers.
    pub const fn new(sn_length: SnLength, subheader: u32) -> Self {
        Self { sdu_header: sn_length.header(), subheader, sdus_in_flight: sn_length.window() }
    }
}

impl Default for Framing {
    fn default() -> Self {
        Self::new(SnLength::Bits12, 0)
    }
}

/// Returns the earlier of two times, where `None` stands for no time.
#[inline]
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}

/// Contents of a block: the numbers of its PDUs, and the total sizes of their headers and of their
/// data fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Numbers of the PDUs in the block; empty if there are none.
    pub units: Range<u64>,
    /// Number of octets in the headers of all PDUs, including MAC subheaders.
    pub headers: u32,
    /// Number of octets in the data fields of all PDUs.
    pub payload: u32,
}

impl Filled {
    /// Creates the contents of a block without PDUs. The first PDU to be added will have number
    /// `next`.
    const fn empty(next: u64) -> Self {
        Self { units: next..next, headers: 0, payload: 0 }
    }

    /// Adds the next PDU, whose header and data field have `header` and `payload` octets.
    #[inline]
    fn add(&mut self, header: u32, payload: u32) {
        self.units.end += 1;
        self.headers += header;
        self.payload += payload;
    }

    /// Returns the number of octets of the block that are used; the rest of the block is padding.
    #[inline]
    pub const fn bytes(&self) -> u32 {
        self.headers + self.payload
    }
}

/// Final outcome of a packet that [`Entity::push`] had accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packet has reached PDCP at the receiving end.
    Delivered {
        /// PDCP sequence number of the packet. Only packets of which a part was sent have one.
        number: u64,
        /// The packet, which the queue may have marked (ECN).
        packet: Packet,
    },
    /// The packet was discarded, dropped by the queue, or lost on the air.
    Lost {
        /// The packet that was lost.
        packet: Packet,
        /// Cause of the loss; [`Cause::RadioLoss`] if the packet was lost on the air or its discard
        /// timer expired.
        cause: Cause,
    },
}
