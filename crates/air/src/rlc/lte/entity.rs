//! Of TS 36.322 in either mode, with both ends.

use std::ops::Range;

use nodeb_base::event::{Cause, Part};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::Time;
use nodeb_net::queue::QueueCounts;

use super::am::{Acknowledged, LteAm, Report};
use super::stream::Stream;
use super::um::{LteUm, Unacknowledged};
use super::{Filled, Framing, Outcome, earlier};
use crate::Backlog;
use crate::pdcp::Transmit;

/// For one direction of a bearer.
#[derive(Debug)]
pub enum Entity {
    Um(Box<Unacknowledged>),
    Am(Box<Acknowledged>),
}

macro_rules! in_mode {
    ($entity:ident.$method:ident($($argument:expr),*)) => {
        match $entity {
            Self::Um(entity) => entity.$method($($argument),*),
            Self::Am(entity) => entity.$method($($argument),*),
        }
    };
}

impl Entity {
    pub fn um(params: &LteUm, framing: Framing, transmit: Transmit) -> Self {
        Self::Um(Box::new(Unacknowledged::new(params, framing, transmit)))
    }

    pub fn am(params: &LteAm, framing: Framing, transmit: Transmit) -> Self {
        Self::Am(Box::new(Acknowledged::new(params, framing, transmit)))
    }

    fn stream(&mut self) -> &mut Stream {
        in_mode!(self.stream())
    }

    fn sdus(&self) -> &Stream {
        in_mode!(self.sdus())
    }

    /// May be sent from TTI `since`; false if the queue drops it.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        self.stream().transmit().push(now, packet, since)
    }

    /// Cause of the last packet that [`Self::push`] did not accept.
    pub fn refused(&self) -> Cause {
        self.sdus().waiting().refused()
    }

    pub fn queue_counts(&self) -> QueueCounts {
        self.sdus().waiting().queue_counts()
    }

    /// For buffer status reports, with headers (TS 36.322, 4.5): retransmissions count, status reports of the
    /// receiving end do not.
    pub fn waiting(&self) -> u64 {
        in_mode!(self.waiting())
    }

    /// Unlike [`Self::waiting`], without new octets while the window is full or too many SDUs are in flight.
    #[inline]
    pub fn sendable(&self) -> u64 {
        in_mode!(self.sendable())
    }

    /// Octets that are sent next as a whole: the mean of a retransmission, else the rest of an SDU.
    pub fn next_octets(&self) -> u32 {
        let retransmission = match self {
            Self::Um(_) => None,
            Self::Am(entity) => entity.next_retransmission(),
        };
        retransmission.unwrap_or_else(|| self.sdus().next_sdu())
    }

    /// A PDU is only added if its header and at least one octet of data fit.
    #[inline]
    pub fn fill(&mut self, now: Time, room: u32) -> Filled {
        in_mode!(self.fill(now, room))
    }

    /// PDCP number.
    pub fn next_number(&self) -> u64 {
        self.sdus().next_number()
    }

    /// `None` if RLC has not sent a part of it yet or no longer needs it.
    pub fn packet(&self, number: u64) -> Option<PacketId> {
        self.sdus().packet(number)
    }

    /// The PDUs must be in flight.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        in_mode!(self.carried(units))
    }

    /// `lost` if HARQ has given them up; once for each PDU.
    #[inline]
    pub fn receive(&mut self, now: Time, units: Range<u64>, lost: bool) {
        in_mode!(self.receive(now, units, lost));
    }

    #[inline]
    pub fn has_outcomes(&self) -> bool {
        self.sdus().has_outcomes()
    }

    /// Since the last call: losses of packets that RLC had not taken, then the others in the order of
    /// decision.
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        self.stream().outcomes()
    }

    /// Upper bound in a block of the other direction; 0 in unacknowledged mode, or if none can be sent.
    pub fn report_waiting(&self, now: Time) -> u32 {
        match self {
            Self::Um(_) => 0,
            Self::Am(entity) => entity.report_waiting(now),
        }
    }

    /// Shortened if necessary; `None` if not even the fixed part fits.
    pub fn take_report(&mut self, now: Time, room: u32) -> Option<Report> {
        match self {
            Self::Um(_) => None,
            Self::Am(entity) => entity.take_report(now, room),
        }
    }

    /// `lost` if HARQ has given up its block.
    pub fn on_report(&mut self, report: u64, lost: bool) {
        if let Self::Am(entity) = self {
            entity.on_report(report, lost);
        }
    }

    /// RETX_COUNT has reached its limit: radio link failure (the entity itself continues).
    pub fn has_failed(&self) -> bool {
        match self {
            Self::Um(_) => false,
            Self::Am(entity) => entity.has_failed(),
        }
    }

    /// Of the packet that is partly sent, else the oldest in the queue, without retransmissions.
    pub fn waits_since(&self) -> Option<u64> {
        self.sdus().waits_since()
    }

    pub fn backlog(&self) -> Backlog {
        self.sdus().backlog()
    }

    #[inline]
    pub fn due(&self) -> Option<Time> {
        earlier(in_mode!(self.due()), self.sdus().waiting().due())
    }

    /// Also the discard timer of waiting packets.
    pub fn on_time(&mut self, now: Time) {
        self.stream().transmit().on_time(now);
        in_mode!(self.on_time(now));
    }
}
