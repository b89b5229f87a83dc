//! The octets of a user's SDUs, numbered without end in the order in which they are cut.
//!
//! An SDU enters the stream when RLC begins to cut it. The data field of every PDU is then a range of octets,
//! and each boundary between SDUs inside the range costs a length indicator.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::{Cause, Part};
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::header::{self, DataField};
use super::{Framing, Outcome};
use crate::Backlog;
use crate::pdcp::Transmit;

/// An SDU of which a part was cut.
#[derive(Debug)]
struct Sdu {
    packet: Packet,
    /// Octets of the SDU, PDCP header included.
    octets: Range<u64>,
    /// TTI from which the SDU could have been sent if it had been first in the queue.
    since: u64,
    /// Whether the SDU is delivered or lost.
    decided: bool,
}

/// SDUs that are cut, behind those that wait.
#[derive(Debug)]
pub struct Stream {
    transmit: Transmit,
    framing: Framing,
    /// SDUs from number `first`, in order of their octets.
    sdus: VecDeque<Sdu>,
    first: u64,
    /// Number of the next SDU to be delivered or lost.
    next: u64,
    /// Number of the next octet to be cut.
    cut: u64,
    /// SDUs in `sdus` that are not decided.
    begun: Backlog,
    outcomes: Vec<Outcome>,
}

impl Stream {
    /// Creates an empty stream behind `transmit`.
    pub fn new(transmit: Transmit, framing: Framing) -> Self {
        Self {
            transmit,
            framing,
            sdus: VecDeque::new(),
            first: 0,
            next: 0,
            cut: 0,
            begun: Backlog::default(),
            outcomes: Vec::new(),
        }
    }

    /// Returns the packets in front of RLC.
    pub fn transmit(&mut self) -> &mut Transmit {
        &mut self.transmit
    }

    /// Returns the packets in front of RLC, read-only.
    #[inline]
    pub fn waiting(&self) -> &Transmit {
        &self.transmit
    }

    // --- cutting ---

    /// Returns the number of octets of the last SDU begun that are not cut.
    #[inline]
    fn tail(&self) -> u64 {
        self.sdus.back().map_or(0, |sdu| sdu.octets.end - self.cut)
    }

    /// Returns true if no octet is left to be cut.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tail() == 0 && self.transmit.is_empty()
    }

    /// Returns true if so many SDUs are in flight that none can be begun, and none is partly cut.
    #[inline]
    pub fn is_stalled(&self) -> bool {
        self.tail() == 0 && self.begun.packets >= self.framing.sdus_in_flight
    }

    /// Cuts the data field of a new PDU, of at most `most` octets. With its length indicators it takes at most
    /// `room` octets. Returns its octets, none if nothing can be cut, and the size of the length indicators.
    #[inline]
    pub fn cut(&mut self, now: Time, room: u32, most: u32) -> (Range<u64>, u32) {
        let (start, mut field) = (self.cut, DataField::new(room));
        loop {
            let space = field.space().min(most - field.octets());
            if space == 0 || (self.tail() == 0 && !self.begin(now)) {
                return (start..self.cut, field.indicators());
            }
            let octets = self.tail().min(u64::from(space));
            field.add(octets as u32);
            self.cut += octets;
        }
    }

    /// Takes the next SDU from the queue. Returns false if there is none.
    #[inline]
    fn begin(&mut self, now: Time) -> bool {
        if self.is_stalled() {
            return false;
        }
        let Some(begun) = self.transmit.begin(now) else { return false };
        let size = u64::from(begun.packet.size + self.framing.sdu_header).max(1);
        self.begun.add(&begun.packet);
        self.sdus.push_back(Sdu {
            packet: begun.packet,
            octets: self.cut..self.cut + size,
            since: begun.since,
            decided: false,
        });
        true
    }

    /// Returns the part of `octets`, from its start, that fits into `room` with its length indicators, and the
    /// size of these.
    pub fn fit(&self, octets: Range<u64>, room: u32) -> (Range<u64>, u32) {
        let (mut end, mut field) = (octets.start, DataField::new(room));
        for sdu in self.overlapping(octets.clone()) {
            let element = (sdu.octets.end.min(octets.end) - end).min(u64::from(field.space()));
            if element == 0 {
                break;
            }
            field.add(element as u32);
            end += element;
        }
        (octets.start..end, field.indicators())
    }

    /// Returns an estimate of the room that all octets to be cut need, without the headers of PDUs.
    #[inline]
    pub fn size(&self) -> u64 {
        let Backlog { packets, bytes } = self.transmit.backlog();
        let headers = packets as u64 * u64::from(self.framing.sdu_header);
        self.tail() + bytes + headers + u64::from(header::indicators(packets as u32))
    }

    /// Returns the TTI since which the SDU to be cut next waits, if any.
    pub fn waits_since(&self) -> Option<u64> {
        let cut = self.sdus.back().filter(|_| self.tail() > 0).map(|sdu| sdu.since);
        cut.or_else(|| self.transmit.waits_since())
    }

    // --- outcomes ---

    fn overlapping(&self, octets: Range<u64>) -> impl Iterator<Item = &Sdu> {
        let from = self.sdus.partition_point(|sdu| sdu.octets.end <= octets.start);
        self.sdus.range(from..).take_while(move |sdu| sdu.octets.start < octets.end)
    }

    /// Delivers all SDUs that end at or before `octet` and are not lost.
    #[inline]
    pub fn deliver_before(&mut self, octet: u64) {
        while let Some(sdu) = self.sdus.get_mut((self.next - self.first) as usize)
            && sdu.octets.end <= octet
        {
            if !sdu.decided {
                sdu.decided = true;
                self.begun.remove(&sdu.packet);
                self.outcomes.push(Outcome::Delivered { number: self.next, packet: sdu.packet });
            }
            self.next += 1;
        }
    }

    /// Drops all SDUs of which `octets` are a part and that are not delivered.
    pub fn lose(&mut self, octets: &Range<u64>) {
        let from = self.sdus.partition_point(|sdu| sdu.octets.end <= octets.start);
        for sdu in self.sdus.range_mut(from..).take_while(|sdu| sdu.octets.start < octets.end) {
            if !sdu.decided {
                sdu.decided = true;
                self.begun.remove(&sdu.packet);
                self.outcomes.push(Outcome::Lost { packet: sdu.packet, cause: Cause::RadioLoss });
            }
        }
    }

    /// Forgets the SDUs before `octet`, none of whose octets is needed any more.
    #[inline]
    pub fn release(&mut self, octet: u64) {
        while self.first < self.next && self.sdus.front().is_some_and(|sdu| sdu.octets.end <= octet) {
            self.sdus.pop_front();
            self.first += 1;
        }
    }

    /// Returns the outcomes that the caller has not taken yet: first losses in front of RLC.
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        let lost = self.transmit.take_lost().map(|(packet, cause)| Outcome::Lost { packet, cause });
        lost.chain(self.outcomes.drain(..))
    }

    /// Returns the part of a packet in each SDU to which `octets` belong, for SDUs that are not forgotten. The
    /// header of PDCP belongs to no packet.
    pub fn parts(&self, octets: &Range<u64>) -> impl Iterator<Item = Part> {
        let (header, octets) = (u64::from(self.framing.sdu_header), octets.clone());
        self.overlapping(octets.clone()).filter_map(move |sdu| {
            let content = sdu.octets.start + header;
            let end = sdu.octets.end.min(octets.end).saturating_sub(content);
            let offset = octets.start.max(content) - content;
            (offset < end).then(|| Part {
                packet: sdu.packet.id,
                offset: offset as u32,
                bytes: (end - offset) as u32,
            })
        })
    }

    /// Returns the packets that are neither delivered nor lost.
    pub fn backlog(&self) -> Backlog {
        let waiting = self.transmit.backlog();
        Backlog { packets: waiting.packets + self.begun.packets, bytes: waiting.bytes + self.begun.bytes }
    }
}
