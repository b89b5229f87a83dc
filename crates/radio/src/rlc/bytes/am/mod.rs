//! Acknowledged mode (TS 36.322, 5.1.3 and 5.2): both ends, and the reports between them.
//!
//! The sender retransmits data that STATUS PDUs report as missing, as whole AMD PDUs or as segments
//! of any size. It polls for reports. The receiver reports when it is polled and when t-Reordering
//! expires.
//!
//! A STATUS PDU that does not fit into the block is shortened. It then reports only on the PDUs
//! before the first incomplete PDU whose report does not fit. If the report on this PDU fits in
//! part, the STATUS PDU also names some of its missing parts, but acknowledges only the PDUs before
//! it.

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
use super::{Filled, Framing, earlier, header};
use crate::pdcp::Transmit;
use pdus::Pdus;
use reports::Reports;
use rx::Receiver;
use status::Status;
use tx::Sender;

/// AMD PDU, or segment of an AMD PDU, as submitted to the MAC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amd {
    /// Sequence number, which never wraps here.
    pub sn: u64,
    /// Octets of the SDU stream in the data field.
    pub octets: Range<u64>,
    /// Whether the PDU polls for a status report.
    pub poll: bool,
}

/// Both ends of an RLC entity in acknowledged mode, and the PDUs between them.
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
    /// Creates both ends of an entity that takes its packets from `transmit`.
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

    /// Returns the stream of SDUs mutably.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Returns the stream of SDUs for reading.
    pub fn sdus(&self) -> &Stream {
        &self.stream
    }

    /// Returns true if a PDU has reached maxRetxThreshold, which means radio link failure (TS
    /// 36.322, 5.2.1).
    pub fn has_failed(&self) -> bool {
        self.sender.has_failed()
    }

    /// Returns the number of PDUs in the transmission window, from VT(A) to below VT(S).
    pub fn window_in_use(&self) -> u64 {
        self.pdus.end() - self.pdus.first()
    }

    // --- Methods of the sending end ---

    /// Returns an estimate of the octets that wait, including headers (TS 36.322, 4.5).
    /// Retransmissions and all SDUs count, even while the window is full.
    pub fn waiting(&self) -> u64 {
        self.pending() + self.new_data()
    }

    /// Returns an estimate of the octets that can be sent now, including headers. While the window
    /// is full or too many SDUs are in flight, only retransmissions count.
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

    /// Fills a block of `room` octets with PDUs, retransmissions first. Returns the numbers of the
    /// PDUs, and the total sizes of their headers and of their data fields. The block has no PDUs
    /// if nothing can be sent or fits.
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

    /// Returns PDU number `unit` if it is in flight, or `None` if it has arrived or is lost.
    pub fn pdu(&self, unit: u64) -> Option<&Amd> {
        self.in_flight.get(unit)
    }

    /// Returns the parts of packets that the PDUs `units` carry. PDUs that are not in flight, and
    /// packets that are acknowledged in sequence, are omitted.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        units.filter_map(|unit| self.pdu(unit)).flat_map(|amd| self.stream.parts(&amd.octets)).collect()
    }

    // --- Methods of the receiving end ---

    /// Records that the PDUs `units` have arrived or, if `lost` is true, that HARQ has given them
    /// up. Delivers the SDUs that are then complete in sequence.
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

    /// Returns an upper bound of the octets that the next status report takes in a block of the
    /// other direction, 0 if no report can be sent now.
    pub fn report_waiting(&self, now: Time) -> u32 {
        match self.receiver.report_size(now, &self.pdus) {
            0 => 0,
            size => size + self.subheader,
        }
    }

    /// Puts a status report, shortened if necessary, into `room` octets of a block of the other
    /// direction. Returns `None` if there is no report to send or not even its fixed part fits.
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

    /// Returns the contents of status report number `report` if it is in flight, or `None` if it
    /// has arrived or is lost.
    pub fn status(&self, report: u64) -> Option<&Status> {
        self.reports.get(report)
    }

    /// Records that the block with status report number `report` has arrived at the sender or, if
    /// `lost` is true, that HARQ has given it up.
    pub fn on_report(&mut self, report: u64, lost: bool) {
        let Some(status) = self.reports.take(report) else { return };
        if !lost && let Some(octet) = self.sender.on_status(&status, &mut self.pdus) {
            self.stream.release(octet);
        }
        self.reports.recycle(status);
    }

    // --- Methods for timers ---

    /// Returns the time at which [`Self::on_time`] must be called next, or `None` if no timer runs.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        earlier(self.sender.due(), self.receiver.due())
    }

    /// Processes the timers of both ends that have expired by `now`.
    pub fn on_time(&mut self, now: Time) {
        self.sender.on_time(now, &mut self.pdus, &self.stream);
        self.receiver.on_time(now, &self.pdus);
    }
}
