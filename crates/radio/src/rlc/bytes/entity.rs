//! RLC entity of TS 36.322 in either mode, with both of its ends.

use std::ops::Range;

use nodeb_base::event::{Cause, Part};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::Time;
use nodeb_net::queue::QueueCounts;

use super::am::{Acknowledged, AmBytes, Report};
use super::stream::Stream;
use super::um::{UmBytes, Unacknowledged};
use super::{Filled, Framing, Outcome, earlier};
use crate::Backlog;
use crate::pdcp::Transmit;

/// Both ends of an RLC entity, for one direction of a bearer.
#[derive(Debug)]
pub enum Entity {
    /// Entity in unacknowledged mode, without retransmissions.
    Um(Box<Unacknowledged>),
    /// Entity in acknowledged mode, with retransmissions and status reports.
    Am(Box<Acknowledged>),
}

/// Calls a method of [`Unacknowledged`] or [`Acknowledged`], depending on the mode of the entity.
macro_rules! in_mode {
    ($entity:ident.$method:ident($($argument:expr),*)) => {
        match $entity {
            Self::Um(entity) => entity.$method($($argument),*),
            Self::Am(entity) => entity.$method($($argument),*),
        }
    };
}

impl Entity {
    /// Creates an entity in unacknowledged mode that takes its packets from `transmit`.
    pub fn um(params: &UmBytes, framing: Framing, transmit: Transmit) -> Self {
        Self::Um(Box::new(Unacknowledged::new(params, framing, transmit)))
    }

    /// Creates an entity in acknowledged mode that takes its packets from `transmit`.
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

    /// Returns the cause of the loss of the last packet that [`Self::push`] did not accept.
    pub fn refused(&self) -> Cause {
        self.sdus().waiting().refused()
    }

    /// Returns the numbers of packets that the queue in front of RLC has dropped and marked.
    pub fn queue_counts(&self) -> QueueCounts {
        self.sdus().waiting().queue_counts()
    }

    /// Returns an estimate of the octets that wait, including headers, for buffer status reports
    /// (TS 36.322, 4.5). Retransmissions count, but status reports of the receiving end do not.
    pub fn waiting(&self) -> u64 {
        in_mode!(self.waiting())
    }

    /// Returns an estimate of the octets that [`Self::fill`] could send now, including headers. In
    /// contrast to [`Self::waiting`], new octets do not count while the window is full or too many
    /// SDUs are in flight.
    #[inline]
    pub fn sendable(&self) -> u64 {
        in_mode!(self.sendable())
    }

    /// Fills a block of `room` octets with PDUs. A PDU is only added if its header and at least one
    /// octet of data fit.
    #[inline]
    pub fn fill(&mut self, now: Time, room: u32) -> Filled {
        in_mode!(self.fill(now, room))
    }

    /// Returns the PDCP sequence number of the next packet of which [`Self::fill`] will send the first part.
    pub fn next_number(&self) -> u64 {
        self.sdus().next_number()
    }

    /// Returns the packet with the PDCP sequence number `number`, or `None` if RLC has not sent a part of it yet or no
    /// longer needs it.
    pub fn packet(&self, number: u64) -> Option<PacketId> {
        self.sdus().packet(number)
    }

    /// Returns the parts of packets that the PDUs `units` carry. These PDUs must be in flight.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        in_mode!(self.carried(units))
    }

    /// Records that the PDUs `units` have arrived or, if `lost` is true, that HARQ has given them
    /// up. Must be called once for each PDU.
    #[inline]
    pub fn receive(&mut self, now: Time, units: Range<u64>, lost: bool) {
        in_mode!(self.receive(now, units, lost));
    }

    /// Returns true if [`Self::outcomes`] would return any outcome.
    #[inline]
    pub fn has_outcomes(&self) -> bool {
        self.sdus().has_outcomes()
    }

    /// Returns the outcomes of packets since the last call. Losses of packets that RLC had not
    /// taken come first, then the other outcomes in the order in which they were decided.
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        self.stream().outcomes()
    }

    /// Returns an upper bound of the octets that the next status report takes in a block of the
    /// other direction. Returns 0 in unacknowledged mode, or if no report can be sent now.
    pub fn report_waiting(&self, now: Time) -> u32 {
        match self {
            Self::Um(_) => 0,
            Self::Am(entity) => entity.report_waiting(now),
        }
    }

    /// Puts a status report, shortened if necessary, into `room` octets of a block of the other
    /// direction. Returns `None` in unacknowledged mode, or if there is no report to send or not
    /// even its fixed part fits.
    pub fn take_report(&mut self, now: Time, room: u32) -> Option<Report> {
        match self {
            Self::Um(_) => None,
            Self::Am(entity) => entity.take_report(now, room),
        }
    }

    /// Records that the block with status report number `report` has arrived at the sender or, if
    /// `lost` is true, that HARQ has given it up.
    pub fn on_report(&mut self, report: u64, lost: bool) {
        if let Self::Am(entity) = self {
            entity.on_report(report, lost);
        }
    }

    /// Returns true if RETX_COUNT of a PDU has reached its limit, which means radio link failure
    /// (the entity itself continues). Returns false in unacknowledged mode.
    pub fn has_failed(&self) -> bool {
        match self {
            Self::Um(_) => false,
            Self::Am(entity) => entity.has_failed(),
        }
    }

    /// Returns the TTI since which the packet that is only partly sent has waited or, if there is
    /// none, the oldest packet in the queue. Returns `None` if neither exists. Packets in
    /// retransmissions do not count.
    pub fn waits_since(&self) -> Option<u64> {
        self.sdus().waits_since()
    }

    /// Returns the number and bytes of the packets that are neither delivered nor lost.
    pub fn backlog(&self) -> Backlog {
        self.sdus().backlog()
    }

    /// Returns the time at which [`Self::on_time`] must be called next, or `None` if no timer runs.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        earlier(in_mode!(self.due()), self.sdus().waiting().due())
    }

    /// Processes the timers that have expired by `now`, including the discard timer of waiting
    /// packets.
    pub fn on_time(&mut self, now: Time) {
        self.stream().transmit().on_time(now);
        in_mode!(self.on_time(now));
    }
}
