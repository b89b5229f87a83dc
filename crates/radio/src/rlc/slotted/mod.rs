//! A window of places (E. Costamagna, L. Favalli, M. Lanati and F. Tarantola, "An end to end
//! simulator for performance comparison of different TCP schemes over UTRA channels", section 5).
//!
//! PDUs are sent in windows of 15 places. The phone tells the outcomes of 5 PDUs together. A wrong
//! PDU goes again in the same place of the next window, and a place whose PDU was right carries the
//! next new one. Read so: each place is a stop-and-wait of its own, the places take turns, and one
//! whose outcome is not known yet is waited for. A place with nothing to send is passed over. The
//! phone sees blocks come, right or wrong, so it counts wrong ones too and the last report of a burst
//! need not be full, nor one without which the
//! window could not go on. Reports are not lost, as the study has it.

use nodeb_base::params;
use nodeb_base::units::positive;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, Size, Time};

use super::Peers;
use super::am::Setting;
use super::reassembly::Reassembly;
use super::sdu_buffer::SduBuffer;
use super::segmentation::{Piece, Segmenter};
use crate::Backlog;

params! {
    /// A window of places. The defaults are the study's; it does not say how long a report takes.
    pub struct Slotted {
        /// Places in a window, in PDUs.
        pub places: NonZeroU32 = positive(15),
        /// PDUs whose outcomes are reported together.
        pub report_every: NonZeroU32 = positive(5),
        /// Bytes of a PDU that are header.
        pub header: Size = Size(2),
        /// From the end of the TTI that brings the last of these PDUs until the report is there.
        pub report_delay: Duration = Duration::from_millis(20),
    }
}

/// More places than a sequence number of 12 bits tells apart.
const MAX_PLACES: u32 = 2_047;
const LONGEST_DELAY: Duration = Duration::from_secs(600);

impl Checked for Slotted {
    fn check(&self, check: &mut Check) {
        check.at_most("places", self.places.get(), MAX_PLACES);
        check.require(self.report_every <= self.places, "report_every", || {
            format!(
                "a window of {} would be over before a report is due; expected at most `places`",
                self.places
            )
        });
        check.at_most("report_delay", self.report_delay, LONGEST_DELAY);
    }
}

impl Slotted {
    /// Both ends for a user.
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
            way_back: VecDeque::new(),
            reassembly: Reassembly::new(setting.order),
            sdus: SduBuffer::new(setting.buffer),
        }
    }
}

/// State of a place in the window.
#[derive(Debug)]
enum PlaceState {
    /// Nothing: the next new PDU may come here.
    Free,
    /// A PDU whose outcome is not known.
    Sent(Vec<Piece>),
    /// A PDU that has to go again.
    Wrong(Vec<Piece>),
}

/// A PDU on the air.
#[derive(Clone, Debug)]
pub struct Pdu {
    place: usize,
    pieces: Vec<Piece>,
    /// Nothing can follow before a report: the phone sends it at once.
    last: bool,
}

/// Outcomes of PDUs, by their places: whether each was right.
type Report = Vec<(usize, bool)>;

/// Both ends of one user's window.
#[derive(Debug)]
pub struct Window {
    params: Slotted,
    segmenter: Segmenter,
    places: Vec<PlaceState>,
    /// Whose turn it is, and how many places have a PDU that must go again.
    turn: usize,
    wrong: usize,
    /// Places of the PDUs that have been sent and make no full report yet.
    open: Vec<usize>,
    /// Outcomes that the phone has not told, and those that the sender has not heard.
    unreported: Report,
    way_back: VecDeque<(Time, Report)>,
    reassembly: Reassembly,
    sdus: SduBuffer,
}

impl Window {
    fn has_something(&self) -> bool {
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

    /// The next place, from the one whose turn it is on, that has something to send or is waited for.
    fn next_place(&self) -> Option<usize> {
        let count = self.places.len();
        let is_busy = |place: &usize| match &self.places[*place] {
            PlaceState::Sent(_) | PlaceState::Wrong(_) => true,
            PlaceState::Free => !self.segmenter.is_empty(),
        };
        (0..count).map(|step| (self.turn + step) % count).find(is_busy)
    }

    /// The next place that has something to send, unless one that is waited for comes first.
    fn ready_place(&self) -> Option<usize> {
        self.next_place().filter(|place| !matches!(self.places[*place], PlaceState::Sent(_)))
    }

    /// Notes that a place was sent; whether the phone must report at once, because nothing follows or
    /// because what is waited for would never be part of a full report.
    fn closes_report(&mut self, place: usize) -> bool {
        self.open.push(place);
        let waits =
            self.ready_place().is_none() && self.next_place().is_some_and(|next| self.open.contains(&next));
        let last = !self.has_something() || waits;
        if last || self.open.len() >= self.params.report_every.get() as usize {
            self.open.clear();
        }
        last
    }
}

impl Peers for Window {
    type Pdu = Pdu;

    fn push(&mut self, _now: Time, packet: Packet) -> bool {
        let Some(number) = self.sdus.take(packet) else {
            return false;
        };
        self.segmenter.push(number, packet.size);
        true
    }

    fn is_ready(&self) -> bool {
        self.has_something() && self.ready_place().is_some()
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
            self.way_back.push_back((now + self.params.report_delay, report));
        }
    }

    fn due(&self) -> Option<Time> {
        self.way_back.front().map(|(at, _)| *at)
    }

    fn on_time(&mut self, now: Time) {
        while self.way_back.front().is_some_and(|(at, _)| *at <= now)
            && let Some((_, report)) = self.way_back.pop_front()
        {
            self.on_report(report);
        }
    }

    fn sdus(&mut self) -> &mut SduBuffer {
        &mut self.sdus
    }

    fn backlog(&self) -> Backlog {
        self.sdus.held()
    }
}

#[cfg(test)]
mod tests;
