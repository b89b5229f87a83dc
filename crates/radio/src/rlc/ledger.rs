//! The packets that an RLC has taken, and what has become of them: each is delivered once, dropped
//! once, or still there.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;

use super::segmentation::Piece;
use crate::Backlog;

/// The packets, numbered in the order in which they came.
#[derive(Debug)]
pub struct Ledger {
    limit: usize,
    /// Number of the first packet in `packets`; those that have gone leave an empty place.
    first: u64,
    packets: VecDeque<Option<Packet>>,
    held: Backlog,
    /// What has been delivered, to be fetched.
    pub delivered: Vec<Packet>,
    /// What has been dropped, to be fetched.
    pub dropped: Vec<Packet>,
}

impl Ledger {
    /// An empty ledger for `limit` packets.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            first: 0,
            packets: VecDeque::new(),
            held: Backlog::default(),
            delivered: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// Takes a packet and gives it a number; `None` when there is no room.
    pub fn take(&mut self, packet: Packet) -> Option<u64> {
        if self.held.packets >= self.limit {
            return None;
        }
        self.held.add(&packet);
        self.packets.push_back(Some(packet));
        Some(self.first + self.packets.len() as u64 - 1)
    }

    /// Takes a packet out, if it is still there.
    fn remove(&mut self, number: u64) -> Option<Packet> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let packet = self.packets.get_mut(place)?.take()?;
        self.held.remove(&packet);
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(packet)
    }

    /// Delivers a packet.
    pub fn deliver(&mut self, number: u64) {
        let packet = self.remove(number);
        debug_assert!(packet.is_some(), "packet {number} is delivered twice, or after it was dropped");
        self.delivered.extend(packet);
    }

    /// Drops the packets of these numbers that are still there.
    pub fn discard(&mut self, numbers: Range<u64>) {
        let end = self.first + self.packets.len() as u64;
        for number in numbers.start.max(self.first)..numbers.end.min(end) {
            let packet = self.remove(number);
            self.dropped.extend(packet);
        }
    }

    /// The parts of packets that pieces of SDUs are, as far as the packets are still there.
    pub fn parts<'a>(&'a self, pieces: &'a [Piece]) -> impl Iterator<Item = Part> + 'a {
        pieces.iter().filter_map(|piece| {
            let place = usize::try_from(piece.sdu.checked_sub(self.first)?).ok()?;
            let packet = self.packets.get(place)?.as_ref()?.id;
            Some(Part { packet, offset: piece.offset, bytes: piece.bytes })
        })
    }

    /// Number of the oldest packet that is still there, or else of the next to come.
    pub fn oldest(&self) -> u64 {
        self.first
    }

    /// Whether a packet has been delivered or dropped.
    pub fn is_gone(&self, number: u64) -> bool {
        let place = number.checked_sub(self.first);
        place.is_none_or(|place| matches!(self.packets.get(place as usize), Some(None)))
    }

    /// Packets and bytes that are still there.
    pub fn held(&self) -> Backlog {
        self.held
    }
}
