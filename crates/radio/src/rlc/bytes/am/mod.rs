//! Acknowledged mode (TS 36.322, 5.1.3 and 5.2): both ends, and the reports between them.
//!
//! The sender retransmits what STATUS PDUs report as missing, as whole AMD PDUs or as segments of any size. It
//! polls for reports. The receiver reports when it is polled and when t-Reordering expires.
//!
//! A STATUS PDU that does not fit the room reports on the first missing PDUs only and acknowledges no PDU after
//! them. If only a part of a PDU fits, the report names these parts and acknowledges the PDUs before it.

pub mod params;
pub mod pdus;
pub mod polling;
mod reports;
pub mod rx;
pub mod status;
pub mod tx;

pub use params::AmBytes;
pub use reports::Report;

use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::units::Time;

use super::in_flight::InFlight;
use super::stream::Stream;
use super::{Filled, Framing, header};
use crate::pdcp::Transmit;
use pdus::Pdus;
use reports::Reports;
use rx::Receiver;
use status::Status;
use tx::Sender;

/// An AMD PDU as submitted to the MAC, or a segment of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amd {
    /// Sequence number, which never wraps here.
    pub sn: u64,
    /// Octets of the data field.
    pub octets: Range<u64>,
    /// Whether the PDU asks for a report.
    pub poll: bool,
}

/// Both ends of an entity in acknowledged mode.
#[derive(Debug)]
pub struct Acknowledged {
    subheader: u32,
    stream: Stream,
    pdus: Pdus,
    sender: Sender,
    receiver: Receiver,
    in_flight: InFlight<Amd>,
    reports: Reports,
}

impl Acknowledged {
    /// Creates both ends behind `transmit`.
    pub fn new(params: &AmBytes, framing: Framing, transmit: Transmit) -> Self {
        Self {
            subheader: framing.subheader,
            stream: Stream::new(transmit, framing),
            pdus: Pdus::default(),
            sender: Sender::new(params),
            receiver: Receiver::new(params),
            in_flight: InFlight::default(),
            reports: Reports::default(),
        }
    }

    /// Returns the stream of SDUs.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Returns the stream of SDUs, read-only.
    pub fn sdus(&self) -> &Stream {
        &self.stream
    }

    /// Returns true if a PDU has reached maxRetxThreshold, which is a radio link failure (TS 36.322, 5.2.1).
    pub fn has_failed(&self) -> bool {
        self.sender.has_failed()
    }

    /// Returns the number of PDUs between VT(A) and VT(S).
    pub fn window_in_use(&self) -> u64 {
        self.pdus.end() - self.pdus.first()
    }

    // --- sender ---

    /// Returns an estimate of the octets that wait, headers included (TS 36.322, 4.5): retransmissions and all
    /// SDUs, even if the window is full.
    pub fn waiting(&self) -> u64 {
        self.pending() + self.new_data()
    }

    /// Returns an estimate of the octets that can be sent now, headers included: without new ones if the window
    /// is full.
    #[inline]
    pub fn sendable(&self) -> u64 {
        let new = if tx::is_stalled(&self.pdus, &self.stream) { 0 } else { self.new_data() };
        self.pending() + new
    }

    #[inline]
    fn pending(&self) -> u64 {
        self.sender.pending_size() + u64::from(self.subheader) * self.sender.pending_ranges() as u64
    }

    #[inline]
    fn new_data(&self) -> u64 {
        if self.stream.is_empty() {
            return 0;
        }
        self.stream.size() + u64::from(header::AMD + self.subheader)
    }

    /// Fills a block of `room` octets.
    #[inline]
    pub fn fill(&mut self, now: Time, room: u32) -> Filled {
        let mut filled = Filled::empty(self.in_flight.next());
        while let Some(left) = (room - filled.bytes()).checked_sub(self.subheader)
            && let Some((amd, header)) = self.sender.next(now, left, &mut self.pdus, &mut self.stream)
        {
            filled.add(self.subheader + header, (amd.octets.end - amd.octets.start) as u32);
            self.in_flight.push(amd);
        }
        filled
    }

    /// Returns a PDU in flight, or `None` if its outcome is known.
    pub fn pdu(&self, unit: u64) -> Option<&Amd> {
        self.in_flight.get(unit)
    }

    /// Returns the parts of packets that these PDUs carry, but for packets that are acknowledged.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        units.filter_map(|unit| self.pdu(unit)).flat_map(|amd| self.stream.parts(&amd.octets)).collect()
    }

    // --- receiver ---

    /// Records that PDUs have arrived, or are lost for good.
    #[inline]
    pub fn receive(&mut self, now: Time, units: Range<u64>, lost: bool) {
        for unit in units {
            if let Some(amd) = self.in_flight.take(unit)
                && !lost
            {
                self.receiver.receive(now, &amd, &mut self.pdus);
            }
        }
        self.stream.deliver_before(self.receiver.in_sequence());
    }

    /// Returns an upper bound of the octets that the next report takes in a block of the other direction, 0 if
    /// none can be sent now.
    pub fn report_waiting(&self, now: Time) -> u32 {
        match self.receiver.report_size(now, &self.pdus) {
            0 => 0,
            size => size + self.subheader,
        }
    }

    /// Puts a report into a block of the other direction with `room` octets. Returns `None` if there is none to
    /// send, or no room for it.
    pub fn take_report(&mut self, now: Time, room: u32) -> Option<Report> {
        let room = room.checked_sub(self.subheader)?;
        let mut status = self.reports.spare();
        if !self.receiver.report(now, room, &self.pdus, &mut status) {
            self.reports.recycle(status);
            return None;
        }
        let bytes = status.bytes() + self.subheader;
        Some(Report { number: self.reports.send(status), bytes })
    }

    /// Returns the contents of a report in flight, or `None` if it has arrived or is lost.
    pub fn status(&self, report: u64) -> Option<&Status> {
        self.reports.get(report)
    }

    /// Records that the block with a report has arrived at the sender, or is lost for good.
    pub fn on_report(&mut self, report: u64, lost: bool) {
        let Some(status) = self.reports.take(report) else { return };
        if !lost && let Some(octet) = self.sender.on_status(&status, &mut self.pdus) {
            self.stream.release(octet);
        }
        self.reports.recycle(status);
    }

    // --- timers ---

    /// Returns the time at which [`Self::on_time`] must be called next, if any.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        self.sender.due().into_iter().chain(self.receiver.due()).min()
    }

    /// Processes the timers that expire by `now`.
    pub fn on_time(&mut self, now: Time) {
        self.sender.on_time(now, &mut self.pdus, &self.stream);
        self.receiver.on_time(now, &self.pdus);
    }
}
