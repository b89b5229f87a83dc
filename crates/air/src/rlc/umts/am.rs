//! TS 25.322 above MAC-hs. With MAC-ehs a PDU may be spread over several blocks, and is intact if all its
//! octets arrive (TS 25.321, 11.6.4). PDUs are padded to the same size, so a unit's number determines its
//! PDU.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;

use super::Fate;
use super::payload::{Payload, RLC_HEADER};
use crate::Backlog;
use crate::rlc::am::pdu::Pdu;
use crate::rlc::am::{AcknowledgedMode, Entities, Setting};
use crate::rlc::{Delivered, RlcPair as _};

/// Passed to the Iub or to MAC-hs.
#[derive(Debug)]
struct InFlight {
    pdu: Option<Pdu>,
    /// Units that are neither received nor lost.
    open: u64,
    /// A unit was lost.
    damaged: bool,
}

#[derive(Debug)]
pub struct Acknowledged {
    peers: Entities,
    /// The octets of a PDU with MAC-ehs, else 1.
    pdu_units: u64,
    /// From the first PDU with units that are neither received nor lost.
    in_flight: VecDeque<InFlight>,
    /// First PDU in `in_flight`.
    settled: u64,
    /// Units sent by the Node B.
    sent: u64,
    /// First TTI in which each packet from number `first` may be sent.
    since: VecDeque<u64>,
    first: u64,
}

impl Acknowledged {
    pub fn new(
        params: &AcknowledgedMode,
        payload: Payload,
        buffer: usize,
        id: u64,
        streams: &Streams,
    ) -> Self {
        let pdu_bytes = payload.pdu_bytes + RLC_HEADER as u32;
        let setting = Setting { pdu_bytes, buffer, order: Delivered::InSequence };
        Self {
            peers: params.build(setting, id, streams),
            pdu_units: if payload.segmented { u64::from(pdu_bytes) } else { 1 },
            in_flight: VecDeque::new(),
            settled: 0,
            sent: 0,
            since: VecDeque::new(),
            first: 0,
        }
    }

    pub fn pdu_units(&self) -> u64 {
        self.pdu_units
    }

    /// May be sent from TTI `since`; false if the buffer is full.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        let taken = self.peers.push(now, packet);
        if taken {
            self.since.push_back(since);
        }
        taken
    }

    /// Upper bound of units for the Iub or MAC-hs, 0 only if there is none.
    pub fn waiting(&self) -> u64 {
        self.peers.waiting() as u64 * self.pdu_units
    }

    /// Whole PDUs of at most `most` units; the units passed.
    pub fn take(&mut self, now: Time, most: u64) -> u64 {
        let mut taken = 0;
        while taken + self.pdu_units <= most
            && let Some(pdu) = self.peers.send(now)
        {
            self.in_flight.push_back(InFlight { pdu: Some(pdu), open: self.pdu_units, damaged: false });
            taken += self.pdu_units;
        }
        taken
    }

    /// Passed on before by [`Self::take`].
    pub fn send(&mut self, units: u64) -> Range<u64> {
        self.sent += units;
        self.sent - units..self.sent
    }

    /// Units sent already; all headers, length indicators and padding are assumed at the start of their PDU.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        let mut parts = Vec::new();
        for number in units.start / self.pdu_units..units.end.div_ceil(self.pdu_units) {
            let held = self.in_flight.get((number - self.settled) as usize);
            let Some(pdu) = held.and_then(|held| held.pdu.as_ref()) else {
                continue;
            };
            let all = self.peers.carried(pdu);
            if self.pdu_units == 1 {
                parts.extend(all);
                continue;
            }
            let filled: u64 = all.iter().map(|part| u64::from(part.bytes)).sum();
            let mut at = number * self.pdu_units + self.pdu_units.saturating_sub(filled);
            for part in all {
                let end = at + u64::from(part.bytes);
                let (from, to) = (at.max(units.start), end.min(units.end));
                if from < to {
                    let offset = part.offset + (from - at) as u32;
                    parts.push(Part { offset, bytes: (to - from) as u32, ..part });
                }
                at = end;
            }
        }
        parts
    }

    /// `decided` is called with each packet that RLC then delivers or drops.
    pub fn on_outcome(&mut self, now: Time, units: Range<u64>, lost: bool, decided: impl FnMut(Fate)) {
        let mut start = units.start;
        while start < units.end {
            let number = start / self.pdu_units;
            let end = ((number + 1) * self.pdu_units).min(units.end);
            let pdu = &mut self.in_flight[(number - self.settled) as usize];
            pdu.open -= end - start;
            pdu.damaged |= lost;
            if pdu.open == 0
                && let Some(whole) = pdu.pdu.take()
            {
                self.peers.arrive(now, whole, !pdu.damaged);
            }
            start = end;
        }
        while self.in_flight.front().is_some_and(|pdu| pdu.open == 0) {
            self.in_flight.pop_front();
            self.settled += 1;
        }
        self.hand_over(decided);
    }

    /// `None` if no packet waits or the next PDU is a command.
    pub fn waits_since(&self) -> Option<u64> {
        let next = self.in_flight.get((self.sent / self.pdu_units - self.settled) as usize);
        let number = match next.and_then(|next| next.pdu.as_ref()) {
            Some(Pdu::Data(data)) => data.pieces.first()?.sdu,
            Some(Pdu::Command(_)) => return None,
            None => self.peers.next_packet()?,
        };
        self.since.get(usize::try_from(number.checked_sub(self.first)?).ok()?).copied()
    }

    pub fn backlog(&self) -> Backlog {
        self.peers.backlog()
    }

    pub fn due(&self) -> Option<Time> {
        self.peers.due()
    }

    pub fn on_time(&mut self, now: Time, decided: impl FnMut(Fate)) {
        self.peers.on_time(now);
        self.hand_over(decided);
    }

    /// Since the last call.
    fn hand_over(&mut self, mut decided: impl FnMut(Fate)) {
        let sdus = self.peers.sdus();
        sdus.delivered.drain(..).map(Fate::Arrived).for_each(&mut decided);
        sdus.dropped.drain(..).map(Fate::Lost).for_each(&mut decided);
        while self.first < sdus.oldest() {
            self.since.pop_front();
            self.first += 1;
        }
    }
}
