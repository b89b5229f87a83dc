//! RLC of UMTS (TS 25.322) below which a MAC sends units, that is, PDUs of equal size or octets of such PDUs.
//!
//! RLC passes units to the MAC, or to a link in front of it such as the Iub. Units are numbered, and the numbers never
//! wrap. The MAC puts ranges of units into blocks, and reports for each range whether it has arrived.
//! [`bytes`](super::bytes) is the RLC of LTE, whose PDUs fill the block being sent.

pub mod am;
pub mod payload;
pub mod um;

use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;

use self::payload::Payload;
use crate::Backlog;
use crate::rlc::am::AcknowledgedMode;

/// Final outcome of a packet: it has arrived or is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet has arrived completely at the phone.
    Arrived(Packet),
    /// A part of the packet was lost, or the packet was discarded.
    Lost(Packet),
}

/// RLC of one user, which contains the user's packets until they are delivered or lost.
#[derive(Debug)]
pub enum Packets {
    /// Packets in unacknowledged mode.
    Um(um::Unacknowledged),
    /// Packets in acknowledged mode, with the RLC entities of RNC and phone.
    Am(Box<am::Acknowledged>),
}

/// Calls a method of [`um::Unacknowledged`] or [`am::Acknowledged`], depending on the mode.
macro_rules! in_mode {
    ($packets:ident.$method:ident($($argument:expr),*)) => {
        match $packets {
            Self::Um(packets) => packets.$method($($argument),*),
            Self::Am(packets) => packets.$method($($argument),*),
        }
    };
}

impl Packets {
    /// Creates the unacknowledged mode of a user, whose buffer holds `buffer` packets.
    pub fn um(params: &um::UnacknowledgedMode, payload: Payload, buffer: usize) -> Self {
        Self::Um(um::Unacknowledged::new(params, payload, buffer))
    }

    /// Creates the acknowledged mode of user `id`, whose buffer holds `buffer` packets.
    pub fn am(
        params: &AcknowledgedMode,
        payload: Payload,
        buffer: usize,
        id: u64,
        streams: &Streams,
    ) -> Self {
        Self::Am(Box::new(am::Acknowledged::new(params, payload, buffer, id, streams)))
    }

    /// Accepts a packet that may be sent from TTI `since`. Returns false if the buffer is full.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        in_mode!(self.push(now, packet, since))
    }

    /// Returns the number of units that the RNC could pass to the Iub or the MAC now. In acknowledged
    /// mode, the number is an upper bound.
    pub fn waiting(&self) -> u64 {
        in_mode!(self.waiting())
    }

    /// Passes at most `most` units from the RNC to the Iub or the MAC. Returns the number of units
    /// passed.
    pub fn take(&mut self, now: Time, most: u64) -> u64 {
        in_mode!(self.take(now, most))
    }

    /// Passes `units` units from the RNC to the MAC, or fewer if RLC cannot send so many now.
    /// Acknowledged mode rounds `units` up to whole PDUs. Returns the number of units passed.
    pub fn take_for(&mut self, now: Time, units: u64) -> u64 {
        match self {
            Self::Um(packets) => packets.take(now, units),
            Self::Am(packets) => packets.take(now, units.next_multiple_of(packets.pdu_units())),
        }
    }

    /// Puts the next `units` units into a block. The RNC must have passed on these units before
    /// ([`Self::take`]). Returns the numbers of the units.
    pub fn send(&mut self, units: u64) -> Range<u64> {
        in_mode!(self.send(units))
    }

    /// Returns the parts of packets that `units` carry; these units must have been sent already.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        in_mode!(self.carried(units))
    }

    /// Records that `units` were received or lost. Calls `decided` with each packet that is
    /// complete or lost as a result.
    pub fn settle(&mut self, now: Time, units: Range<u64>, lost: bool, decided: impl FnMut(Fate)) {
        in_mode!(self.settle(now, units, lost, decided));
    }

    /// Returns the TTI since which the next packet to be sent has waited, or `None` if no packet
    /// waits or, in acknowledged mode, the next PDU is a command.
    pub fn waits_since(&self) -> Option<u64> {
        in_mode!(self.waits_since())
    }

    /// Returns the number and bytes of the packets that are neither delivered nor lost.
    pub fn backlog(&self) -> Backlog {
        in_mode!(self.backlog())
    }

    /// Returns the time at which [`Self::on_time`] must be called next, or `None` if no timer runs
    /// and no feedback of the phone is in flight.
    pub fn due(&self) -> Option<Time> {
        in_mode!(self.due())
    }

    /// Handles the timers and status reports that are due until `now`. Calls `decided` with each
    /// packet that is complete or lost as a result.
    pub fn on_time(&mut self, now: Time, decided: impl FnMut(Fate)) {
        in_mode!(self.on_time(now, decided));
    }
}
