//! RLC by bytes (TS 36.322): PDUs fill the block being sent. Every submitted PDU, even a retransmitted one,
//! has a number of its own, which never wraps; the MAC reports for ranges of numbers whether they have
//! arrived, in any order. On the air, numbers are modulo the range of their field, which is equivalent in
//! acknowledged mode, whose sender respects the window. A receiver in unacknowledged mode that has missed at
//! least a window of PDUs discards the next ones as old, as on the air, and also where one on the air could
//! take them for missing PDUs. Not modelled: transparent mode, re-establishment, and fields longer than those
//! of Release 8.
//!
//! # Examples
//!
//! A packet of 100 bytes, cut into blocks of 64 octets:
//!
//! ```
//! use nodeb_base::packet::Packet;
//! use nodeb_base::units::Time;
//! use nodeb_net::queue::drop_tail::{DropTail, Fifo};
//! use nodeb_air::pdcp::Transmit;
//! use nodeb_air::rlc::lte::um::LteUm;
//! use nodeb_air::rlc::lte::{Entity, Framing, Outcome};
//!
//! let transmit = Transmit::new(Box::new(Fifo::new(&DropTail::default())), None);
//! let mut rlc = Entity::um(&LteUm::default(), Framing::default(), transmit);
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
use nodeb_base::registry;
use nodeb_base::units::Time;

use crate::pdcp::{SnLength, Transmit};
use am::LteAm;
use um::LteUm;

registry! {
    /// RLC mode on LTE, as in a scenario.
    "LTE RLC mode" LteRlcSpec = Am {
        /// Unacknowledged mode (TS 36.322, 5.1.2): packets are lost with blocks that HARQ gives up.
        "um" => Um(LteUm),
        /// Acknowledged mode (TS 36.322, 5.1.3): octets that HARQ gives up are retransmitted.
        "am" => Am(LteAm),
    }
}

impl LteRlcSpec {
    pub fn build(&self, framing: Framing, transmit: Transmit) -> Entity {
        match self {
            Self::Um(params) => Entity::um(params, framing, transmit),
            Self::Am(params) => Entity::am(params, framing, transmit),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// PDCP header of each packet.
    pub sdu_header: u32,
    /// MAC subheader of each PDU.
    pub subheader: u32,
    /// Of which a part was sent and which are neither delivered nor lost.
    pub sdus_in_flight: usize,
}

impl Framing {
    /// At most half of the sequence numbers are in flight.
    pub const fn new(sn_length: SnLength, subheader: u32) -> Self {
        Self { sdu_header: sn_length.header(), subheader, sdus_in_flight: sn_length.window() }
    }
}

impl Default for Framing {
    fn default() -> Self {
        Self::new(SnLength::Bits12, 0)
    }
}

/// `None` stands for no time.
#[inline]
pub fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Empty if there are none.
    pub units: Range<u64>,
    /// With MAC subheaders.
    pub headers: u32,
    /// In the data fields.
    pub payload: u32,
}

impl Filled {
    pub const fn empty(next: u64) -> Self {
        Self { units: next..next, headers: 0, payload: 0 }
    }

    #[inline]
    fn add(&mut self, header: u32, payload: u32) {
        self.units.end += 1;
        self.headers += header;
        self.payload += payload;
    }

    /// PDUs of another entity; their numbers in this block.
    pub fn append(&mut self, other: &Self) -> Range<u64> {
        let first = self.units.end;
        self.units.end += other.units.end - other.units.start;
        self.headers += other.headers;
        self.payload += other.payload;
        first..self.units.end
    }

    /// The rest of the block is padding.
    #[inline]
    pub const fn bytes(&self) -> u32 {
        self.headers + self.payload
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At PDCP of the receiving end.
    Delivered {
        /// PDCP number, which only packets have of which a part was sent.
        number: u64,
        /// The queue may have marked it (ECN).
        packet: Packet,
    },
    /// Discarded, dropped by the queue, or lost on the air.
    Lost {
        packet: Packet,
        /// [`Cause::RadioLoss`] also if the discard timer expired.
        cause: Cause,
    },
}
