//! Buffer of the SDUs that an RLC entity has accepted. Each SDU is in the buffer until it is
//! delivered or dropped, which happens once.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;

use super::segmentation::Piece;
use crate::Backlog;

/// Buffer of SDUs, which are numbered in order of arrival.
#[derive(Debug)]
pub struct SduBuffer {
    limit: usize,
    /// Number of the first packet in `packets`. A packet that is delivered or dropped is replaced
    /// by `None` until all earlier packets have left, too.
    first: u64,
    packets: VecDeque<Option<Packet>>,
    backlog: Backlog,
    /// Delivered packets that the caller has not taken yet.
    pub delivered: Vec<Packet>,
    /// Dropped packets that the caller has not taken yet.
    pub dropped: Vec<Packet>,
}

impl SduBuffer {
    /// Creates an empty buffer with room for `limit` packets.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            first: 0,
            packets: VecDeque::new(),
            backlog: Backlog::default(),
            delivered: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// Accepts a packet and returns its number. Returns `None`, without accepting the packet, if
    /// the buffer is full.
    pub fn take(&mut self, packet: Packet) -> Option<u64> {
        if self.backlog.packets >= self.limit {
            return None;
        }
        self.backlog.add(&packet);
        self.packets.push_back(Some(packet));
        Some(self.first + self.packets.len() as u64 - 1)
    }

    /// Removes and returns packet `number`, or returns `None` if it has been delivered or dropped
    /// before.
    fn remove(&mut self, number: u64) -> Option<Packet> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let packet = self.packets.get_mut(place)?.take()?;
        self.backlog.remove(&packet);
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(packet)
    }

    /// Moves packet `number`, which must still be in the buffer, to the delivered packets.
    pub fn deliver(&mut self, number: u64) {
        let packet = self.remove(number);
        debug_assert!(packet.is_some(), "packet {number} is delivered twice, or after it was dropped");
        self.delivered.extend(packet);
    }

    /// Moves the packets with the given numbers to the dropped packets, except those that are no
    /// longer in the buffer.
    pub fn discard(&mut self, numbers: Range<u64>) {
        let end = self.first + self.packets.len() as u64;
        for number in numbers.start.max(self.first)..numbers.end.min(end) {
            let packet = self.remove(number);
            self.dropped.extend(packet);
        }
    }

    /// Returns the part of a packet that each of `pieces` carries, for packets that are still in
    /// the buffer.
    pub fn parts<'a>(&'a self, pieces: &'a [Piece]) -> impl Iterator<Item = Part> + 'a {
        pieces.iter().filter_map(|piece| {
            let place = usize::try_from(piece.sdu.checked_sub(self.first)?).ok()?;
            let packet = self.packets.get(place)?.as_ref()?.id;
            Some(Part { packet, offset: piece.offset, bytes: piece.bytes })
        })
    }

    /// Returns the number of the oldest packet in the buffer, or the number of the next packet if
    /// the buffer is empty.
    pub fn oldest(&self) -> u64 {
        self.first
    }

    /// Returns true if packet `number` has been delivered or dropped.
    pub fn is_gone(&self, number: u64) -> bool {
        let place = number.checked_sub(self.first);
        place.is_none_or(|place| matches!(self.packets.get(place as usize), Some(None)))
    }

    /// Returns the number of packets in the buffer and their bytes.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }
}
