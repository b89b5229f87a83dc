//! Octets of a user's SDUs in the order in which RLC puts them into PDUs, so that a data field is a range,
//! and each boundary between SDUs inside it costs a length indicator. Numbers never wrap.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::{Cause, Part};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::units::Time;

use super::header::{self, DataField};
use super::{Framing, Outcome};
use crate::Backlog;
use crate::pdcp::Transmit;

/// RLC has put a part into a PDU.
#[derive(Debug)]
struct Sdu {
    packet: Packet,
    /// With the PDCP header.
    octets: Range<u64>,
    /// First TTI in which the SDU may be sent.
    since: u64,
    /// Delivered or lost already.
    decided: bool,
}

// Clause: RFC 3168; RFC 8290: queues and ECN in front of RLC
#[derive(Debug)]
pub struct Stream {
    transmit: Transmit,
    framing: Framing,
    /// From number `first`, in order of their octets.
    sdus: VecDeque<Sdu>,
    first: u64,
    /// Next SDU in sequence to be delivered, or skipped if lost.
    next: u64,
    /// Next octet to be put into a PDU.
    cut: u64,
    /// SDUs in `sdus` that are neither delivered nor lost.
    begun: Backlog,
    outcomes: Vec<Outcome>,
}

impl Stream {
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

    pub fn transmit(&mut self) -> &mut Transmit {
        &mut self.transmit
    }

    #[inline]
    pub fn waiting(&self) -> &Transmit {
        &self.transmit
    }

    pub fn next_number(&self) -> u64 {
        self.first + self.sdus.len() as u64
    }

    /// `None` if it has not entered the stream yet or was removed by [`Self::release`].
    pub fn packet(&self, number: u64) -> Option<PacketId> {
        let place = number.checked_sub(self.first)?;
        Some(self.sdus.get(place as usize)?.packet.id)
    }

    // --- Methods that put octets into PDUs ---

    /// Octets of the last SDU in `sdus` that are in no PDU yet.
    #[inline]
    fn tail(&self) -> u64 {
        self.sdus.back().map_or(0, |sdu| sdu.octets.end - self.cut)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tail() == 0 && self.transmit.is_empty()
    }

    /// No SDU is partly sent, and the limit of SDUs in flight is reached.
    #[inline]
    pub fn is_stalled(&self) -> bool {
        self.tail() == 0 && self.begun.packets >= self.framing.sdus_in_flight
    }

    /// At most `most` octets and, with length indicators, `room`; the octets, empty if nothing can be cut,
    /// and the size of the indicators.
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

    /// False if no SDU waits or too many are in flight.
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

    /// As [`Self::cut`], for octets that were put into a PDU before.
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

    /// With PDCP headers and length indicators, but not the fixed headers of PDUs.
    #[inline]
    pub fn size(&self) -> u64 {
        let Backlog { packets, bytes } = self.transmit.backlog();
        let headers = packets as u64 * u64::from(self.framing.sdu_header);
        self.tail() + bytes + headers + u64::from(header::indicators(packets as u32))
    }

    /// Octets of the SDU that is partly in PDUs, else of the oldest packet in the queue; 0 without one.
    pub fn next_sdu(&self) -> u32 {
        match self.tail() {
            0 => self.transmit.oldest().map_or(0, |packet| packet.size + self.framing.sdu_header),
            tail => tail as u32,
        }
    }

    /// Of the SDU that is partly in PDUs, else the oldest packet in the queue.
    pub fn waits_since(&self) -> Option<u64> {
        let cut = self.sdus.back().filter(|_| self.tail() > 0).map(|sdu| sdu.since);
        cut.or_else(|| self.transmit.waits_since())
    }

    // --- Methods for outcomes of SDUs ---

    fn overlapping(&self, octets: Range<u64>) -> impl Iterator<Item = &Sdu> {
        let from = self.sdus.partition_point(|sdu| sdu.octets.end <= octets.start);
        self.sdus.range(from..).take_while(move |sdu| sdu.octets.start < octets.end)
    }

    /// Those that end at or before `octet` and are not lost.
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

    /// SDUs with a part in `octets`, unless delivered or lost already.
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

    /// SDUs that end at or before `octet` and are delivered or lost.
    #[inline]
    pub fn release(&mut self, octet: u64) {
        while self.first < self.next && self.sdus.front().is_some_and(|sdu| sdu.octets.end <= octet) {
            self.sdus.pop_front();
            self.first += 1;
        }
    }

    #[inline]
    pub fn has_outcomes(&self) -> bool {
        !self.outcomes.is_empty() || self.transmit.has_lost()
    }

    /// Losses of packets that RLC had not taken come first.
    pub fn outcomes(&mut self) -> impl Iterator<Item = Outcome> {
        let lost = self.transmit.take_lost().map(|(packet, cause)| Outcome::Lost { packet, cause });
        lost.chain(self.outcomes.drain(..))
    }

    /// Of packets not removed by [`Self::release`]; the octets of PDCP headers belong to no packet.
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

    pub fn backlog(&self) -> Backlog {
        let waiting = self.transmit.backlog();
        Backlog { packets: waiting.packets + self.begun.packets, bytes: waiting.bytes + self.begun.bytes }
    }
}
