use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;

use super::segmentation::Piece;
use crate::Backlog;

/// Each SDU, numbered in order of arrival, is delivered or dropped once.
#[derive(Debug)]
pub struct SduBuffer {
    limit: usize,
    /// Number of the first in `packets`; `None` has left before earlier ones.
    first: u64,
    packets: VecDeque<Option<Packet>>,
    backlog: Backlog,
    /// Not taken yet by the caller.
    pub delivered: Vec<Packet>,
    /// Not taken yet by the caller.
    pub dropped: Vec<Packet>,
}

impl SduBuffer {
    /// In packets.
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

    /// Number of the packet; `None` if the buffer is full.
    pub fn take(&mut self, packet: Packet) -> Option<u64> {
        if self.backlog.packets >= self.limit {
            return None;
        }
        self.backlog.add(&packet);
        self.packets.push_back(Some(packet));
        Some(self.first + self.packets.len() as u64 - 1)
    }

    /// `None` if delivered or dropped before.
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

    /// The packet must still be in the buffer.
    pub fn deliver(&mut self, number: u64) {
        let packet = self.remove(number);
        debug_assert!(packet.is_some(), "packet {number} is delivered twice, or after it was dropped");
        self.delivered.extend(packet);
    }

    /// Except those no longer in the buffer.
    pub fn discard(&mut self, numbers: Range<u64>) {
        let end = self.first + self.packets.len() as u64;
        for number in numbers.start.max(self.first)..numbers.end.min(end) {
            let packet = self.remove(number);
            self.dropped.extend(packet);
        }
    }

    /// Of packets that are still in the buffer.
    pub fn parts<'a>(&'a self, pieces: &'a [Piece]) -> impl Iterator<Item = Part> + 'a {
        pieces.iter().filter_map(|piece| {
            let place = usize::try_from(piece.sdu.checked_sub(self.first)?).ok()?;
            let packet = self.packets.get(place)?.as_ref()?.id;
            Some(Part { packet, offset: piece.offset, bytes: piece.bytes })
        })
    }

    /// Or the next packet if the buffer is empty.
    pub fn oldest(&self) -> u64 {
        self.first
    }

    pub fn is_gone(&self, number: u64) -> bool {
        let place = number.checked_sub(self.first);
        place.is_none_or(|place| matches!(self.packets.get(place as usize), Some(None)))
    }

    pub fn backlog(&self) -> Backlog {
        self.backlog
    }
}
