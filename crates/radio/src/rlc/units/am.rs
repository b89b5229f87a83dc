//! Acknowledged mode above MAC-hs (TS 25.322): the protocol between RNC and phone, whose PDUs are
//! carried by the Iub and by blocks.
//!
//! With MAC-ehs a PDU may be spread over several blocks. The PDU is intact if all its octets arrive
//! (TS 25.321, 11.6.4). All PDUs have the same size, as a PDU that is not full is padded. So the
//! number of a unit (an octet with MAC-ehs, otherwise a PDU) determines the PDU to which the unit
//! belongs.

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
use crate::rlc::{Delivered, Peers as _};

/// PDU that the RNC has passed to the Iub or to MAC-hs.
#[derive(Debug)]
struct InFlight {
    pdu: Option<Pdu>,
    /// Number of the PDU's units that are neither received nor lost.
    open: u64,
    /// Whether a unit of the PDU was lost.
    damaged: bool,
}

/// Packets of one user in acknowledged mode, with the RLC entities of RNC and phone.
#[derive(Debug)]
pub struct Acknowledged {
    peers: Entities,
    /// Number of units in a PDU: its octets with MAC-ehs, else 1.
    pdu_units: u64,
    /// PDUs that the RNC has passed to the Iub or to MAC-hs, from the first PDU with units that are
    /// neither received nor lost.
    in_flight: VecDeque<InFlight>,
    /// Number of the first PDU in `in_flight`.
    settled: u64,
    /// Number of units sent by the Node B so far.
    sent: u64,
    /// For each packet from number `first`, the first TTI in which it may be sent. The waiting time
    /// of the packet starts in this TTI.
    since: VecDeque<u64>,
    first: u64,
}

impl Acknowledged {
    /// Creates the RLC entities of RNC and phone for user `id`, with empty buffers.
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

    /// Returns the number of units in a PDU: its octets with MAC-ehs, else 1.
    pub fn pdu_units(&self) -> u64 {
        self.pdu_units
    }

    /// Accepts a packet that may be sent from TTI `since`. Returns false if the buffer is full.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        let taken = self.peers.push(now, packet);
        if taken {
            self.since.push_back(since);
        }
        taken
    }

    /// Returns an upper bound of the number of units that the RNC could pass to the Iub or to MAC-hs
    /// now. The bound is 0 only if there is no such unit.
    pub fn waiting(&self) -> u64 {
        self.peers.waiting() as u64 * self.pdu_units
    }

    /// Passes as many whole PDUs from the RNC to the Iub or to MAC-hs as `most` units allow. Returns
    /// the number of units passed.
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

    /// Puts the next `units` units into a block. The RNC must have passed on these units before
    /// ([`Self::take`]). Returns the numbers of the units.
    pub fn send(&mut self, units: u64) -> Range<u64> {
        self.sent += units;
        self.sent - units..self.sent
    }

    /// Returns the parts of packets that `units` carry; these units must have been sent already.
    /// All headers, length indicators and padding are assumed to be at the start of their PDU.
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

    /// Records that `units` were received or lost. Calls `decided` with each packet that RLC
    /// delivers or drops as a result.
    pub fn settle(&mut self, now: Time, units: Range<u64>, lost: bool, decided: impl FnMut(Fate)) {
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

    /// Returns the TTI since which the next packet to be sent has waited. Returns `None` if no
    /// packet waits or the next PDU is a command.
    pub fn waits_since(&self) -> Option<u64> {
        let next = self.in_flight.get((self.sent / self.pdu_units - self.settled) as usize);
        let number = match next.and_then(|next| next.pdu.as_ref()) {
            Some(Pdu::Data(data)) => data.pieces.first()?.sdu,
            Some(Pdu::Command(_)) => return None,
            None => self.peers.next_packet()?,
        };
        self.since.get(usize::try_from(number.checked_sub(self.first)?).ok()?).copied()
    }

    /// Returns the number and bytes of the packets that are neither delivered nor dropped.
    pub fn backlog(&self) -> Backlog {
        self.peers.backlog()
    }

    /// Returns the time at which [`Self::on_time`] must be called next, or `None` if no timer runs
    /// and no feedback of the phone is in flight.
    pub fn due(&self) -> Option<Time> {
        self.peers.due()
    }

    /// Handles the timers and status reports that are due until `now`. Calls `decided` with each
    /// packet that RLC delivers or drops as a result.
    pub fn on_time(&mut self, now: Time, decided: impl FnMut(Fate)) {
        self.peers.on_time(now);
        self.hand_over(decided);
    }

    /// Calls `decided` with each packet that RLC has delivered or dropped since `hand_over` was
    /// last called.
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
