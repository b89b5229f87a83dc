//! A user's packets from the RNC to the phone, as ranges of units.

use std::collections::VecDeque;
use std::ops::Range;

use crate::packet::Packet;

/// A packet on its way.
#[derive(Debug)]
struct Sdu {
    packet: Packet,
    /// One past its last unit.
    end: u64,
    /// Units neither received nor lost.
    open: u64,
    /// Whether a unit was lost.
    damaged: bool,
    /// TTI from which it could be sent, had nobody been before it.
    since: u64,
}

/// What has become of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is complete at the phone.
    Arrived(Packet),
    /// Something of it was lost.
    Lost(Packet),
}

/// The packets of a user that are neither delivered nor lost. Units are numbered without end.
#[derive(Debug, Default)]
pub struct Packets {
    sdus: VecDeque<Sdu>,
    /// Packets that have gone, so that positions can be counted without end.
    gone: usize,
    /// The packet that is sent next, counted without end.
    head: usize,
    open: usize,
    bytes: u64,
    /// Units taken in, and those sent.
    end: u64,
    next: u64,
}

impl Packets {
    /// Takes a packet of `units` that may be sent from TTI number `since` on.
    pub fn push(&mut self, packet: Packet, units: u64, since: u64) {
        self.end += units;
        self.open += 1;
        self.bytes += u64::from(packet.size);
        self.sdus.push_back(Sdu { packet, end: self.end, open: units, damaged: false, since });
    }

    /// Takes up to `units` units to send, of which there must be as many.
    pub fn send(&mut self, units: u64) -> Range<u64> {
        let sent = self.next..self.next + units;
        self.next = sent.end;
        while self.sdu(self.head).is_some_and(|sdu| sdu.end <= self.next) {
            self.head += 1;
        }
        sent
    }

    fn sdu(&self, position: usize) -> Option<&Sdu> {
        self.sdus.get(position - self.gone)
    }

    /// The packet sent next: the TTI since which it waits, and its units that are not sent.
    pub fn head(&self) -> Option<(u64, u64)> {
        self.sdu(self.head).map(|sdu| (sdu.since, sdu.end - self.next))
    }

    /// Whether there is a packet that has not been sent as a whole.
    pub fn waits(&self) -> bool {
        self.next < self.end
    }

    /// Units have been received or lost; hands over whose fate this decides.
    pub fn settle(&mut self, units: Range<u64>, lost: bool, mut decided: impl FnMut(Fate)) {
        let first = self.sdus.partition_point(|sdu| sdu.end <= units.start);
        let mut start = units.start;
        for sdu in self.sdus.range_mut(first..) {
            let end = sdu.end.min(units.end);
            sdu.open -= end - start;
            sdu.damaged |= lost;
            if sdu.open == 0 {
                self.open -= 1;
                self.bytes -= u64::from(sdu.packet.size);
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

    /// Packets and bytes whose fate is open.
    pub fn backlog(&self) -> (usize, u64) {
        (self.open, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    fn packets() -> Packets {
        let mut packets = Packets::default();
        for seq in 0..3 {
            packets.push(Packet { size: 100, seq, ..Packet::control(0, Kind::Segment) }, 10, seq * 5);
        }
        packets
    }

    fn settle(packets: &mut Packets, units: Range<u64>, lost: bool) -> Vec<(u64, bool)> {
        let mut fates = Vec::new();
        packets.settle(units, lost, |fate| {
            fates.push(match fate {
                Fate::Arrived(packet) => (packet.seq, true),
                Fate::Lost(packet) => (packet.seq, false),
            });
        });
        fates
    }

    #[test]
    fn packets_arrive_with_their_last_unit() {
        let mut packets = packets();
        assert_eq!(packets.head(), Some((0, 10)));
        assert_eq!(packets.send(15), 0..15);
        assert_eq!(packets.head(), Some((5, 5)));
        assert_eq!(settle(&mut packets, 0..15, false), [(0, true)]);
        assert_eq!(packets.backlog(), (2, 200));
        packets.send(15);
        assert_eq!(settle(&mut packets, 15..30, false), [(1, true), (2, true)]);
        assert_eq!((packets.backlog(), packets.head()), ((0, 0), None));
    }

    #[test]
    fn a_lost_unit_costs_every_packet_it_belongs_to() {
        let mut packets = packets();
        packets.send(30);
        assert_eq!(settle(&mut packets, 8..12, true), []);
        assert_eq!(settle(&mut packets, 12..30, false), [(1, false), (2, true)]);
        assert_eq!(packets.backlog(), (1, 100));
        assert_eq!(settle(&mut packets, 0..8, false), [(0, false)]);
        assert_eq!(packets.backlog(), (0, 0));
    }
}
