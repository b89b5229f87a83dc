//! TS 25.322 above a MAC that sends units, PDUs of equal size or their octets, whose numbers never wrap. The
//! MAC reports for each range of units whether it has arrived.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Completely, at the phone.
    Arrived(Packet),
    /// A part was lost, or the packet was discarded.
    Lost(Packet),
}

#[derive(Debug)]
pub enum UmtsRlc {
    Um(um::Unacknowledged),
    Am(Box<am::Acknowledged>),
}

macro_rules! in_mode {
    ($packets:ident.$method:ident($($argument:expr),*)) => {
        match $packets {
            Self::Um(packets) => packets.$method($($argument),*),
            Self::Am(packets) => packets.$method($($argument),*),
        }
    };
}

impl UmtsRlc {
    /// `buffer` is in packets.
    pub fn um(params: &um::UnacknowledgedMode, payload: Payload, buffer: usize) -> Self {
        Self::Um(um::Unacknowledged::new(params, payload, buffer))
    }

    /// `buffer` is in packets.
    pub fn am(
        params: &AcknowledgedMode,
        payload: Payload,
        buffer: usize,
        id: u64,
        streams: &Streams,
    ) -> Self {
        Self::Am(Box::new(am::Acknowledged::new(params, payload, buffer, id, streams)))
    }

    /// May be sent from TTI `since`; false if the buffer is full.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        in_mode!(self.push(now, packet, since))
    }

    /// Units for the Iub or the MAC, in acknowledged mode an upper bound.
    pub fn waiting(&self) -> u64 {
        in_mode!(self.waiting())
    }

    /// The units passed.
    pub fn take(&mut self, now: Time, most: u64) -> u64 {
        in_mode!(self.take(now, most))
    }

    /// Rounded up to whole PDUs in acknowledged mode; the units passed, fewer if RLC cannot send so many.
    pub fn take_for(&mut self, now: Time, units: u64) -> u64 {
        match self {
            Self::Um(packets) => packets.take(now, units),
            Self::Am(packets) => packets.take(now, units.next_multiple_of(packets.pdu_units())),
        }
    }

    /// Passed on before by [`Self::take`].
    pub fn send(&mut self, units: u64) -> Range<u64> {
        in_mode!(self.send(units))
    }

    /// Units sent already.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        in_mode!(self.carried(units))
    }

    /// `decided` is called with each packet that is then complete or lost.
    pub fn on_outcome(&mut self, now: Time, units: Range<u64>, lost: bool, decided: impl FnMut(Fate)) {
        in_mode!(self.on_outcome(now, units, lost, decided));
    }

    /// `None` also if the next PDU is a command.
    pub fn waits_since(&self) -> Option<u64> {
        in_mode!(self.waits_since())
    }

    pub fn backlog(&self) -> Backlog {
        in_mode!(self.backlog())
    }

    pub fn due(&self) -> Option<Time> {
        in_mode!(self.due())
    }

    pub fn on_time(&mut self, now: Time, decided: impl FnMut(Fate)) {
        in_mode!(self.on_time(now, decided));
    }
}
