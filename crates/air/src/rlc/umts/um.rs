//! TS 25.322, 11.2.

use nodeb_base::params;
use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, Time};

use super::Fate;
use super::payload::Payload;
use crate::Backlog;
use crate::rlc::am::params::require_timer;

params! {
    /// Parameters of unacknowledged mode, which does not retransmit PDUs.
    pub struct UnacknowledgedMode {
        /// Age at which a packet is discarded if a part of it still waits at the RNC (Timer_Discard, without
        /// explicit signalling: TS 25.322, 9.7.3.2). Default: never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub discard_timer: Option<Duration>,
    }
}

impl Checked for UnacknowledgedMode {
    fn check(&self, check: &mut Check) {
        require_timer(check, "discard_timer", self.discard_timer);
    }
}

#[derive(Debug)]
struct Sdu {
    packet: Packet,
    /// First unit.
    first: u64,
    end: u64,
    /// Units that are neither received nor lost.
    open: u64,
    /// A unit was lost.
    damaged: bool,
    /// At the RNC.
    arrived: Time,
    /// First TTI in which the packet may be sent.
    since: u64,
}

#[derive(Debug)]
pub struct Unacknowledged {
    payload: Payload,
    buffer: usize,
    discard_timer: Option<Duration>,
    sdus: VecDeque<Sdu>,
    /// Packets removed from the front of `sdus`: a packet's position is its index plus this number.
    gone: usize,
    /// Position of the next packet to be sent.
    head: usize,
    backlog: Backlog,
    /// First unit of the next packet.
    end: u64,
    taken: u64,
    next: u64,
}

impl Unacknowledged {
    pub fn new(params: &UnacknowledgedMode, payload: Payload, buffer: usize) -> Self {
        Self {
            payload,
            buffer,
            discard_timer: params.discard_timer,
            sdus: VecDeque::new(),
            gone: 0,
            head: 0,
            backlog: Backlog::default(),
            end: 0,
            taken: 0,
            next: 0,
        }
    }

    /// May be sent from TTI `since`; false if the buffer is full.
    pub fn push(&mut self, now: Time, packet: Packet, since: u64) -> bool {
        if self.backlog.packets >= self.buffer {
            return false;
        }
        let units = self.payload.units_of(packet.size);
        let first = self.end;
        self.end += units;
        self.backlog.add(&packet);
        self.sdus.push_back(Sdu {
            packet,
            first,
            end: self.end,
            open: units,
            damaged: false,
            arrived: now,
            since,
        });
        true
    }

    /// At the RNC.
    pub fn waiting(&self) -> u64 {
        self.end - self.taken
    }

    /// The units passed to the Iub or to MAC-hs.
    pub fn take(&mut self, _now: Time, most: u64) -> u64 {
        let units = self.waiting().min(most);
        self.taken += units;
        units
    }

    /// Passed on before by [`Self::take`].
    pub fn send(&mut self, units: u64) -> Range<u64> {
        let sent = self.next..self.next + units;
        self.next = sent.end;
        self.pass_sent();
        sent
    }

    /// Units sent already.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        let from = self.sdus.partition_point(|sdu| sdu.end <= units.start);
        let of = |sdu: &Sdu| {
            let before = |unit: u64| self.payload.bytes_before(unit - sdu.first).min(sdu.packet.size);
            let offset = before(units.start.max(sdu.first));
            Part { packet: sdu.packet.id, offset, bytes: before(units.end.min(sdu.end)) - offset }
        };
        let touched = self.sdus.range(from..).take_while(|sdu| sdu.first < units.end);
        touched.map(of).filter(|part| part.bytes > 0).collect()
    }

    fn pass_sent(&mut self) {
        while self.sdu(self.head).is_some_and(|sdu| sdu.end <= self.next) {
            self.head += 1;
        }
    }

    fn sdu(&self, position: usize) -> Option<&Sdu> {
        self.sdus.get(position - self.gone)
    }

    pub fn waits_since(&self) -> Option<u64> {
        self.sdu(self.head).map(|sdu| sdu.since)
    }

    /// `decided` is called with each packet without outstanding units, as lost if any was lost.
    pub fn on_outcome(&mut self, _now: Time, units: Range<u64>, lost: bool, mut decided: impl FnMut(Fate)) {
        let first = self.sdus.partition_point(|sdu| sdu.end <= units.start);
        let mut start = units.start;
        for sdu in self.sdus.range_mut(first..) {
            let end = sdu.end.min(units.end);
            sdu.open -= end - start;
            sdu.damaged |= lost;
            if sdu.open == 0 {
                self.backlog.remove(&sdu.packet);
                decided(if sdu.damaged { Fate::Lost(sdu.packet) } else { Fate::Arrived(sdu.packet) });
            }
            start = end;
            if start == units.end {
                break;
            }
        }
        while self.sdus.front().is_some_and(|sdu| sdu.open == 0) {
            self.sdus.pop_front();
            self.gone += 1;
        }
    }

    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Index in `sdus` of the first packet with a part at the RNC.
    fn first_at_rnc(&self) -> Option<usize> {
        let place = self.sdus.partition_point(|sdu| sdu.end <= self.taken);
        (place < self.sdus.len()).then_some(place)
    }

    pub fn due(&self) -> Option<Time> {
        let timer = self.discard_timer?;
        self.first_at_rnc().map(|place| self.sdus[place].arrived + timer)
    }

    /// Packets with a part in flight are decided later.
    pub fn on_time(&mut self, now: Time, mut decided: impl FnMut(Fate)) {
        while self.due().is_some_and(|at| at <= now)
            && let Some(place) = self.first_at_rnc()
        {
            if let Some(packet) = self.discard(place) {
                decided(Fate::Lost(packet));
            }
        }
    }

    /// `None` if a part is in flight: the packet then counts as lost when that part is decided.
    fn discard(&mut self, place: usize) -> Option<Packet> {
        let rest = self.sdus[place].end - self.taken;
        self.end -= rest;
        for later in self.sdus.range_mut(place..) {
            later.end -= rest;
        }
        for later in self.sdus.range_mut(place + 1..) {
            later.first -= rest;
        }
        let sdu = &mut self.sdus[place];
        sdu.open -= rest;
        sdu.damaged = true;
        let packet = sdu.packet;
        let is_gone = sdu.open == 0;
        if is_gone {
            self.sdus.remove(place);
            self.backlog.remove(&packet);
        }
        self.pass_sent();
        is_gone.then_some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three packets of 10 PDUs, which fill the buffer.
    fn packets() -> Unacknowledged {
        let params = UnacknowledgedMode { discard_timer: Some(Duration(100)) };
        let mut packets = Unacknowledged::new(
            &params,
            Payload { pdu_bytes: 10, segmented: false, block_header_bits: 0 },
            3,
        );
        for seq in 0..3 {
            let packet = Packet::new(seq, 100);
            assert!(packets.push(Time(seq * 30), packet, seq * 5));
        }
        assert!(!packets.push(Time(90), Packet::new(0, 40), 15));
        packets
    }

    fn held(packets: &Unacknowledged) -> (usize, u64) {
        let Backlog { packets, bytes } = packets.backlog();
        (packets, bytes)
    }

    fn on_outcome(packets: &mut Unacknowledged, units: Range<u64>, lost: bool) -> Vec<(u64, bool)> {
        let mut fates = Vec::new();
        packets.on_outcome(Time::ZERO, units, lost, |fate| fates.push(named(fate)));
        fates
    }

    fn named(fate: Fate) -> (u64, bool) {
        match fate {
            Fate::Arrived(packet) => (packet.id.0, true),
            Fate::Lost(packet) => (packet.id.0, false),
        }
    }

    #[test]
    fn packets_arrive_with_their_last_unit() {
        let mut packets = packets();
        assert_eq!(
            (packets.take(Time::ZERO, 8), packets.take(Time::ZERO, 100), packets.waiting()),
            (8, 22, 0)
        );
        assert_eq!(packets.waits_since(), Some(0));
        assert_eq!(packets.send(15), 0..15);
        assert_eq!(packets.waits_since(), Some(5));
        assert_eq!(on_outcome(&mut packets, 0..15, false), [(0, true)]);
        assert_eq!(held(&packets), (2, 200));
        packets.send(15);
        assert_eq!(on_outcome(&mut packets, 15..30, false), [(1, true), (2, true)]);
        assert_eq!((held(&packets), packets.waits_since()), ((0, 0), None));
    }

    #[test]
    fn a_lost_range_loses_all_packets_that_it_touches() {
        let mut packets = packets();
        packets.take(Time::ZERO, 30);
        packets.send(30);
        assert_eq!(on_outcome(&mut packets, 8..12, true), []);
        assert_eq!(on_outcome(&mut packets, 12..30, false), [(1, false), (2, true)]);
        assert_eq!(held(&packets), (1, 100));
        assert_eq!(on_outcome(&mut packets, 0..8, false), [(0, false)]);
        assert_eq!(held(&packets), (0, 0));
    }

    /// Of 30 units, 14 have left the RNC and 12 the Node B. Packet 1 expires at 130 ns: it counts as lost
    /// once its part in flight has arrived. Packet 2 is dropped completely at 160 ns.
    #[test]
    fn packets_waiting_too_long_at_the_rnc_are_discarded() {
        let mut packets = packets();
        packets.take(Time::ZERO, 14);
        packets.send(12);
        assert_eq!(packets.due(), Some(Time(130)));
        let mut discarded = Vec::new();
        packets.on_time(Time(129), |fate| discarded.push(named(fate)));
        assert_eq!((packets.waiting(), held(&packets)), (16, (3, 300)));
        packets.on_time(Time(130), |fate| discarded.push(named(fate)));
        assert_eq!((packets.waiting(), held(&packets), packets.waits_since()), (10, (3, 300), Some(5)));
        assert_eq!(packets.due(), Some(Time(160)));
        packets.on_time(Time(160), |fate| discarded.push(named(fate)));
        assert_eq!(discarded, [(2, false)]);
        assert_eq!((packets.waiting(), packets.due()), (0, None));
        // Discarded units leave no gap: the numbers of a new packet's units follow those of the
        // units in flight.
        assert!(packets.push(Time(170), Packet::new(3, 20), 9));
        assert_eq!((packets.take(Time::ZERO, 9), packets.send(2), packets.send(2)), (2, 12..14, 14..16));
        assert_eq!(on_outcome(&mut packets, 0..12, false), [(0, true)]);
        assert_eq!(on_outcome(&mut packets, 12..16, false), [(1, false), (3, true)]);
        assert_eq!((held(&packets), packets.waits_since()), ((0, 0), None));
    }
}
