//! RLC by bytes in either mode.

use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::am::{Acknowledged, AmBytes, Report};
use super::stream::Stream;
use super::um::{UmBytes, Unacknowledged};
use super::{Filled, Framing, Outcome};
use crate::Backlog;
use crate::pdcp::Transmit;

/// Both ends of one direction of a bearer.
#[derive(Debug)]
pub enum Entity {
    /// Unacknowledged mode.
    Um(Box<Unacknowledged>),
    /// Acknowledged mode.
    Am(Box<Acknowledged>),
}

/// Calls a method of the entity in either mode.
macro_rules! in_mode {
    ($entity:ident.$method:ident($($argument:expr),*)) => {
        match $entity {
            Self::Um(entity) => entity.$method($($argument),*),
            Self::Am(entity) => entity.$method($($argument),*),
        }
    };
}

impl Entity {
    /// Creates an entity in unacknowledged mode behind `transmit`.
    pub fn um(params: &UmBytes, framing: Framing, transmit: Transmit) -> Self {
        Self::Um(Box::new(Unacknowledged::new(params, framing, transmit)))
    }

    /// Creates an entity in acknowledged mode behind `transmit`.
    pub fn am(params: &AmBytes, framing: Framing, transmit: Transmit) -> Self {
        Self::Am(Box::new(Acknowledged::new(params, framing, transmit)))
    }

    fn stream(&mut self) -> &mut Stream {
        in_mode!(self.stream())
    }

    fn sdus(&self) -> &Stream {
        in_mode!(self.sdus())
    }

    /// Accepts a packet that may be sent from TTI `since`. Returns false if the queue drops it.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        self.stream().transmit().push(now, packet, since)
    }

    /// Returns the octets that wait, with an estimate of their headers, for buffer status reports (TS 36.322,
    /// 4.5). Retransmissions are included; reports of the receiving end are not.
    pub fn waiting(&self) -> u64 {
        in_mode!(self.waiting())
    }

    /// Returns the octets that [`Self::fill`] could send now, with an estimate of their headers: those of
    /// [`Self::waiting`], but no new ones while a window is full.
    #[inline]
    pub fn sendable(&self) -> u64 {
        in_mode!(self.sendable())
    }

    /// Fills a block of `room` octets with PDUs. Every PDU needs room for its header and one octet.
    #[inline]
    pub fn fill(&mut self, now: Time, room: u32) -> Filled {
        in_mode!(self.fill(now, room))
    }

    /// Returns the parts of packets that these PDUs carry, which must be in flight.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        in_mode!(self.carried(units))
    }

    /// Records that the block with these PDUs has arrived, or is lost for good. Must be called once for each
    /// PDU.
    #[inline]
    pub fn receive(&mut self, now: Time, units: Range<u64>, lost: bool) {
        in_mode!(self.receive(now, units, lost));
    }

    /// Returns the outcomes of packets since the last call, in the order in which they were decided; losses in
    /// front of RLC come first.
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        self.stream().outcomes()
    }

    /// Returns an upper bound of the octets that the next report takes in a block of the other direction, 0 if
    /// none can be sent now.
    pub fn report_waiting(&self, now: Time) -> u32 {
        match self {
            Self::Um(_) => 0,
            Self::Am(entity) => entity.report_waiting(now),
        }
    }

    /// Puts a report into a block of the other direction with `room` octets. Returns `None` if there is none to
    /// send, or no room for it.
    pub fn take_report(&mut self, now: Time, room: u32) -> Option<Report> {
        match self {
            Self::Um(_) => None,
            Self::Am(entity) => entity.take_report(now, room),
        }
    }

    /// Records that the block with report number `report` has arrived at the sender, or is lost for good.
    pub fn on_report(&mut self, report: u64, lost: bool) {
        if let Self::Am(entity) = self {
            entity.on_report(report, lost);
        }
    }

    /// Returns true if a PDU has reached the limit of retransmissions: a radio link failure.
    pub fn has_failed(&self) -> bool {
        match self {
            Self::Um(_) => false,
            Self::Am(entity) => entity.has_failed(),
        }
    }

    /// Returns the TTI since which the packet to be sent next waits, if any. Retransmissions do not count.
    pub fn waits_since(&self) -> Option<u64> {
        self.sdus().waits_since()
    }

    /// Returns the packets that are neither delivered nor lost.
    pub fn backlog(&self) -> Backlog {
        self.sdus().backlog()
    }

    /// Returns the time at which [`Self::on_time`] must be called next, if any.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        let timers = in_mode!(self.due());
        timers.into_iter().chain(self.sdus().waiting().due()).min()
    }

    /// Processes the timers that expire by `now`.
    pub fn on_time(&mut self, now: Time) {
        self.stream().transmit().on_time(now);
        in_mode!(self.on_time(now));
    }
}
