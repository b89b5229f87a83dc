//! Equal slots, allocated in chunks only if more packets are in transit than ever before. A packet's tag
//! consists of its slot and number.

use nodeb_base::units::Time;
use nodeb_sim::world::Direction;

const CHUNK: usize = 256;

const SLOT_BITS: u32 = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InTransit {
    pub slot: Slot,
    pub direction: Direction,
    pub accepted: Time,
    tag: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    in_transit: Option<InTransit>,
    bytes: u32,
}

/// Grows up to a limit and never shrinks.
#[derive(Debug)]
pub struct Pool {
    chunks: Vec<Box<[u8]>>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    slot_bytes: usize,
    limit: usize,
    sent: u64,
}

impl Pool {
    /// At least one slot and at most 2^24; may exceed `limit` by almost a chunk.
    pub fn new(slot_bytes: usize, limit: usize) -> Self {
        let limit = (limit / slot_bytes).clamp(1, 1 << SLOT_BITS);
        Self { chunks: Vec::new(), entries: Vec::new(), free: Vec::new(), slot_bytes, limit, sent: 0 }
    }

    pub fn slot(&mut self) -> Option<Slot> {
        if self.free.is_empty() {
            self.grow();
        }
        self.free.pop().map(Slot)
    }

    fn grow(&mut self) {
        let before = self.entries.len();
        let more = CHUNK.min(self.limit - before);
        if more > 0 {
            self.chunks.push(vec![0; CHUNK * self.slot_bytes].into_boxed_slice());
            self.entries.resize(before + more, Entry::default());
            self.free.reserve(self.entries.len());
            self.free.extend((before..before + more).rev().map(|slot| slot as u32));
        }
    }

    pub fn bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        let (chunk, at) = self.place(slot);
        &mut self.chunks[chunk][at..at + self.slot_bytes]
    }

    /// If its packet was in transit, the packet can no longer be found by its tag.
    pub fn give_back(&mut self, slot: Slot) {
        self.entries[slot.0 as usize].in_transit = None;
        self.free.push(slot.0);
    }

    pub fn send(&mut self, slot: Slot, bytes: usize, direction: Direction, accepted: Time) -> u64 {
        let tag = self.sent << SLOT_BITS | u64::from(slot.0);
        self.sent += 1;
        let in_transit = Some(InTransit { slot, direction, accepted, tag });
        self.entries[slot.0 as usize] = Entry { in_transit, bytes: bytes as u32 };
        tag
    }

    pub fn find(&self, tag: u64) -> Option<InTransit> {
        let slot = (tag & ((1 << SLOT_BITS) - 1)) as usize;
        self.entries.get(slot)?.in_transit.filter(|in_transit| in_transit.tag == tag)
    }

    pub fn packet(&self, slot: Slot) -> &[u8] {
        let (chunk, at) = self.place(slot);
        &self.chunks[chunk][at..at + self.entries[slot.0 as usize].bytes as usize]
    }

    pub fn packet_mut(&mut self, slot: Slot) -> &mut [u8] {
        let bytes = self.entries[slot.0 as usize].bytes as usize;
        &mut self.bytes_mut(slot)[..bytes]
    }

    /// Taken by [`Self::slot`] and not given back.
    pub fn in_use(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    pub fn allocated(&self) -> usize {
        self.chunks.len() * CHUNK * self.slot_bytes
    }

    /// Packets are numbered from 0 in the order of [`Self::send`].
    pub fn number(tag: u64) -> u64 {
        tag >> SLOT_BITS
    }

    fn place(&self, slot: Slot) -> (usize, usize) {
        (slot.0 as usize / CHUNK, slot.0 as usize % CHUNK * self.slot_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_returned_unchanged_and_once() {
        let mut pool = Pool::new(100, 1 << 20);
        let tags: Vec<u64> = (0..1000_u64)
            .map(|number| {
                let slot = pool.slot().unwrap();
                pool.bytes_mut(slot)[..8].copy_from_slice(&number.to_be_bytes());
                pool.send(slot, 8, Direction::Up, Time(number))
            })
            .collect();
        for (number, tag) in (0..).zip(&tags) {
            assert_eq!(Pool::number(*tag), number);
            let InTransit { slot, direction, accepted, .. } = pool.find(*tag).unwrap();
            assert_eq!((direction, accepted), (Direction::Up, Time(number)));
            assert_eq!(pool.packet(slot), number.to_be_bytes());
            pool.give_back(slot);
            assert!(pool.find(*tag).is_none(), "the slot was freed");
        }
        assert_eq!(pool.in_use(), 0);
    }

    #[test]
    fn old_tag_does_not_match_a_reused_slot() {
        let mut pool = Pool::new(100, 100);
        let slot = pool.slot().unwrap();
        let old = pool.send(slot, 10, Direction::Down, Time::ZERO);
        pool.give_back(slot);
        let slot = pool.slot().unwrap();
        let new = pool.send(slot, 10, Direction::Down, Time::ZERO);
        assert!(pool.find(old).is_none());
        assert_eq!(pool.find(new).unwrap().slot, slot);
    }

    #[test]
    fn memory_is_bounded_and_reused() {
        let mut pool = Pool::new(1500, 600 * 1500);
        let slots: Vec<Slot> = std::iter::from_fn(|| pool.slot()).collect();
        assert_eq!(slots.len(), 600);
        let allocated = pool.allocated();
        for slot in slots {
            pool.give_back(slot);
        }
        for _ in 0..2_000 {
            let slot = pool.slot().unwrap();
            pool.give_back(slot);
        }
        assert_eq!((pool.allocated(), pool.in_use()), (allocated, 0));
    }
}
