//! TS 36.322, 5.1.3 and 5.2. Retransmissions are whole AMD PDUs or segments of any size. A STATUS PDU that
//! does not fit is shortened to the PDUs before the first incomplete one whose report does not fit; it may
//! name some missing parts of that one, but acknowledges only those before it.

pub mod params;
pub mod pdus;
pub mod polling;
mod reports;
pub mod rx;
pub mod status;
pub mod tx;

pub use params::LteAm;
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

/// Or segment of an AMD PDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amd {
    /// Never wraps here.
    pub sn: u64,
    /// In the SDU stream.
    pub octets: Range<u64>,
    pub poll: bool,
}

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
    pub fn new(params: &LteAm, framing: Framing, transmit: Transmit) -> Self {
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

    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub fn sdus(&self) -> &Stream {
        &self.stream
    }

    /// maxRetxThreshold: radio link failure (TS 36.322, 5.2.1).
    pub fn has_failed(&self) -> bool {
        self.sender.has_failed()
    }

    /// From VT(A) to below VT(S).
    pub fn window_in_use(&self) -> u64 {
        self.pdus.end() - self.pdus.first()
    }

    // --- Methods of the sending end ---

    /// Octets with headers (TS 36.322, 4.5); retransmissions and all SDUs count, even while the window is
    /// full.
    pub fn waiting(&self) -> u64 {
        self.pending() + self.new_data()
    }

    /// While the window is full or too many SDUs are in flight, only retransmissions count.
    #[inline]
    pub fn sendable(&self) -> u64 {
        let new = if tx::is_stalled(&self.pdus, &self.stream) { 0 } else { self.new_data() };
        self.pending() + new
    }

    #[inline]
    fn pending(&self) -> u64 {
        self.sender.pending_size() + u64::from(self.subheader) * self.sender.pending_ranges() as u64
    }

    /// Mean octets of those that are due.
    pub fn next_retransmission(&self) -> Option<u32> {
        let ranges = self.sender.pending_ranges() as u64;
        self.sender.pending_size().checked_div(ranges).map(|octets| octets as u32)
    }

    #[inline]
    fn new_data(&self) -> u64 {
        if self.stream.is_empty() {
            return 0;
        }
        self.stream.size() + u64::from(header::AMD + self.subheader)
    }

    /// Retransmissions first; numbers of the PDUs, total sizes of headers and of data fields.
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

    /// If it is in flight.
    pub fn pdu(&self, unit: u64) -> Option<&Amd> {
        self.in_flight.get(unit)
    }

    /// PDUs that are not in flight, and packets that are acknowledged in sequence, are omitted.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        units.filter_map(|unit| self.pdu(unit)).flat_map(|amd| self.stream.parts(&amd.octets)).collect()
    }

    // --- Methods of the receiving end ---

    /// `lost` if HARQ has given them up.
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

    /// Upper bound in a block of the other direction, 0 if none can be sent.
    pub fn report_waiting(&self, now: Time) -> u32 {
        match self.receiver.report_size(now, &self.pdus) {
            0 => 0,
            size => size + self.subheader,
        }
    }

    /// Shortened if necessary; `None` without a report, or if not even its fixed part fits.
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

    /// If it is in flight.
    pub fn status(&self, report: u64) -> Option<&Status> {
        self.reports.get(report)
    }

    /// `lost` if HARQ has given up its block.
    pub fn on_report(&mut self, report: u64, lost: bool) {
        let Some(status) = self.reports.take(report) else { return };
        if !lost && let Some(octet) = self.sender.on_status(&status, &mut self.pdus) {
            self.stream.release(octet);
        }
        self.reports.recycle(status);
    }

    // --- Methods for timers ---

    #[inline]
    pub fn due(&self) -> Option<Time> {
        earlier(self.sender.due(), self.receiver.due())
    }

    pub fn on_time(&mut self, now: Time) {
        self.sender.on_time(now, &mut self.pdus, &self.stream);
        self.receiver.on_time(now, &self.pdus);
    }
}
