//! E. Costamagna, L. Favalli, M. Lanati and F. Tarantola, "An end to end simulator for performance comparison
//! of different TCP schemes over UTRA channels", section 5: windows of 15 slots, a report for each 5 PDUs,
//! and retransmission in the same slot of the next window. Here each slot is a stop-and-wait protocol: the
//! sender uses them in turn, skips a slot with nothing to send and waits for an unknown result. A report that
//! is not full is sent after the last PDU of a burst, and if the window could not advance without it. No
//! report is lost, as in the study.

use nodeb_base::params;
use nodeb_base::units::positive;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, Size, Time};

use super::RlcPair;
use super::am::Setting;
use super::reassembly::Reassembly;
use super::sdu_buffer::SduBuffer;
use super::segmentation::{Piece, Segmenter};
use crate::Backlog;

params! {
    /// Window of slots, in which a PDU keeps its slot until it is received. Defaults: those of
    /// Costamagna et al., except for the delay of reports, which they do not give.
    pub struct Slotted {
        /// Number of slots in the window; each holds one PDU.
        pub places: NonZeroU32 = positive(15),
        /// Number of PDUs that a report covers.
        pub report_every: NonZeroU32 = positive(5),
        /// Header of a PDU, included in its size.
        pub header: Size = Size(2),
        /// Delay of a report, from the end of the TTI that brings its last PDU to its arrival at
        /// the sender.
        pub report_delay: Duration = Duration::from_millis(20),
    }
}

/// One less than half the 12-bit sequence numbers.
const MAX_PLACES: u32 = 2_047;
const LONGEST_DELAY: Duration = Duration::from_secs(600);

impl Checked for Slotted {
    fn check(&self, check: &mut Check) {
        check.at_most("places", self.places.get(), MAX_PLACES);
        check.require(self.report_every <= self.places, "report_every", || {
            format!("a window of {} ends before a report is due; expected at most `places`", self.places)
        });
        check.at_most("report_delay", self.report_delay, LONGEST_DELAY);
    }
}

impl Slotted {
    pub fn build(&self, setting: Setting) -> Window {
        let header = u32::try_from(self.header.0).unwrap_or(u32::MAX);
        Window {
            params: self.clone(),
            segmenter: Segmenter::new(setting.pdu_bytes.saturating_sub(header).max(1), None),
            places: (0..self.places.get()).map(|_| PlaceState::Free).collect(),
            turn: 0,
            wrong: 0,
            open: Vec::new(),
            unreported: Vec::new(),
            reports_in_flight: VecDeque::new(),
            reassembly: Reassembly::new(setting.order),
            sdus: SduBuffer::new(setting.buffer),
        }
    }
}

#[derive(Debug)]
enum PlaceState {
    /// Can carry the next new PDU.
    Free,
    /// The result is unknown.
    Sent(Vec<Piece>),
    /// Must be retransmitted.
    Wrong(Vec<Piece>),
}

#[derive(Clone, Debug)]
pub struct Pdu {
    place: usize,
    pieces: Vec<Piece>,
    /// The phone must report even if the report is not full, as no other PDU waits or is sent before the
    /// report.
    last: bool,
}

/// Slot, and true if intact.
type Report = Vec<(usize, bool)>;

/// Sender, and receiver in the phone.
#[derive(Debug)]
pub struct Window {
    params: Slotted,
    segmenter: Segmenter,
    places: Vec<PlaceState>,
    /// Slot considered first for the next PDU.
    turn: usize,
    wrong: usize,
    /// Slots of the PDUs of the next report, which is not complete yet.
    open: Vec<usize>,
    /// Not reported yet by the phone.
    unreported: Report,
    reports_in_flight: VecDeque<(Time, Report)>,
    reassembly: Reassembly,
    sdus: SduBuffer,
}

impl Window {
    fn has_data(&self) -> bool {
        self.wrong > 0 || !self.segmenter.is_empty()
    }

    fn on_report(&mut self, report: Report) {
        for (place, right) in report {
            let sent = std::mem::replace(&mut self.places[place], PlaceState::Free);
            if let (PlaceState::Sent(pieces), false) = (sent, right) {
                self.places[place] = PlaceState::Wrong(pieces);
                self.wrong += 1;
            }
        }
    }

    /// With a PDU to send or a result to await.
    fn next_place(&self) -> Option<usize> {
        let count = self.places.len();
        let is_busy = |place: &usize| match &self.places[*place] {
            PlaceState::Sent(_) | PlaceState::Wrong(_) => true,
            PlaceState::Free => !self.segmenter.is_empty(),
        };
        (0..count).map(|step| (self.turn + step) % count).find(is_busy)
    }

    /// `None` if the result must be awaited first.
    fn ready_place(&self) -> Option<usize> {
        self.next_place().filter(|place| !matches!(self.places[*place], PlaceState::Sent(_)))
    }

    /// As `last` of [`Pdu`]: the report would never become full.
    fn closes_report(&mut self, place: usize) -> bool {
        self.open.push(place);
        let waits =
            self.ready_place().is_none() && self.next_place().is_some_and(|next| self.open.contains(&next));
        let last = !self.has_data() || waits;
        if last || self.open.len() >= self.params.report_every.get() as usize {
            self.open.clear();
        }
        last
    }
}

impl RlcPair for Window {
    type Pdu = Pdu;

    fn push(&mut self, _now: Time, packet: Packet) -> bool {
        let Some(number) = self.sdus.take(packet) else {
            return false;
        };
        self.segmenter.push(number, packet.size);
        true
    }

    fn is_ready(&self) -> bool {
        self.has_data() && self.ready_place().is_some()
    }

    fn send(&mut self, _now: Time) -> Option<Pdu> {
        let place = self.ready_place()?;
        let pieces = match std::mem::replace(&mut self.places[place], PlaceState::Free) {
            PlaceState::Wrong(pieces) => {
                self.wrong -= 1;
                pieces
            }
            _ => self.segmenter.next_pdu(),
        };
        self.places[place] = PlaceState::Sent(pieces.clone());
        self.turn = (place + 1) % self.places.len();
        let last = self.closes_report(place);
        Some(Pdu { place, pieces, last })
    }

    fn carried(&self, pdu: &Pdu) -> Vec<Part> {
        self.sdus.parts(&pdu.pieces).collect()
    }

    fn arrive(&mut self, now: Time, pdu: Pdu, intact: bool) {
        if intact {
            self.reassembly.take(&pdu.pieces, &mut self.sdus);
        }
        self.unreported.push((pdu.place, intact));
        if pdu.last || self.unreported.len() >= self.params.report_every.get() as usize {
            let report = std::mem::take(&mut self.unreported);
            self.reports_in_flight.push_back((now + self.params.report_delay, report));
        }
    }

    fn due(&self) -> Option<Time> {
        self.reports_in_flight.front().map(|(at, _)| *at)
    }

    fn on_time(&mut self, now: Time) {
        while self.reports_in_flight.front().is_some_and(|(at, _)| *at <= now)
            && let Some((_, report)) = self.reports_in_flight.pop_front()
        {
            self.on_report(report);
        }
    }

    fn sdus(&mut self) -> &mut SduBuffer {
        &mut self.sdus
    }

    fn backlog(&self) -> Backlog {
        self.sdus.backlog()
    }
}

#[cfg(test)]
mod tests;
