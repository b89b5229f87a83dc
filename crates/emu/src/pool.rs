//! Where the payloads of packets wait while the packets are on their way.
//!
//! Slots are of one size and used again, and memory is taken in chunks: once as many packets have waited as ever
//! will, nothing is allocated any more. A packet is known by its tag: its slot and its number.

use nodeb_base::units::Time;
use nodeb_sim::world::Direction;

/// Slots that are made at a time.
const CHUNK: usize = 256;

/// Bits of a tag that are the slot.
const SLOT_BITS: u32 = 24;

/// A slot that is being filled, or whose packet is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

/// What is known of a packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passenger {
    /// Where its bytes are.
    pub slot: Slot,
    /// Which way it goes.
    pub direction: Direction,
    /// When it was accepted.
    pub accepted: Time,
    tag: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    passenger: Option<Passenger>,
    bytes: u32,
}

/// The payloads of packets that are on their way.
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
    /// A pool for packets of up to `slot_bytes`, and for at most `limit` bytes of them.
    pub fn new(slot_bytes: usize, limit: usize) -> Self {
        let limit = (limit / slot_bytes).clamp(1, 1 << SLOT_BITS);
        Self { chunks: Vec::new(), entries: Vec::new(), free: Vec::new(), slot_bytes, limit, sent: 0 }
    }

    /// A slot to fill; `None` while everything that there may be is in use.
    pub fn slot(&mut self) -> Option<Slot> {
        if self.free.is_empty() {
            self.grow();
        }
        self.free.pop().map(Slot)
    }

    fn grow(&mut self) {
        let known = self.entries.len();
        let more = CHUNK.min(self.limit - known);
        if more > 0 {
            self.chunks.push(vec![0; CHUNK * self.slot_bytes].into_boxed_slice());
            self.entries.resize(known + more, Entry::default());
            self.free.reserve(self.entries.len());
            self.free.extend((known..known + more).rev().map(|slot| slot as u32));
        }
    }

    /// The bytes of a slot.
    pub fn bytes_mut(&mut self, slot: Slot) -> &mut [u8] {
        let (chunk, at) = self.place(slot);
        &mut self.chunks[chunk][at..at + self.slot_bytes]
    }

    /// A slot that was not filled.
    pub fn give_back(&mut self, slot: Slot) {
        self.entries[slot.0 as usize].passenger = None;
        self.free.push(slot.0);
    }

    /// The packet in a slot goes on its way: its tag.
    pub fn send(&mut self, slot: Slot, bytes: usize, direction: Direction, accepted: Time) -> u64 {
        let tag = self.sent << SLOT_BITS | u64::from(slot.0);
        self.sent += 1;
        let passenger = Some(Passenger { slot, direction, accepted, tag });
        self.entries[slot.0 as usize] = Entry { passenger, bytes: bytes as u32 };
        tag
    }

    /// A packet has come back. `None` if there is no such packet on its way.
    pub fn back(&self, tag: u64) -> Option<Passenger> {
        let slot = (tag & ((1 << SLOT_BITS) - 1)) as usize;
        self.entries.get(slot)?.passenger.filter(|passenger| passenger.tag == tag)
    }

    /// The packet in a slot.
    pub fn packet(&self, slot: Slot) -> &[u8] {
        let (chunk, at) = self.place(slot);
        &self.chunks[chunk][at..at + self.entries[slot.0 as usize].bytes as usize]
    }

    /// The packet in a slot, to be changed.
    pub fn packet_mut(&mut self, slot: Slot) -> &mut [u8] {
        let bytes = self.entries[slot.0 as usize].bytes as usize;
        &mut self.bytes_mut(slot)[..bytes]
    }

    /// Slots that are not free.
    pub fn in_use(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Bytes that have been allocated for payloads.
    pub fn allocated(&self) -> usize {
        self.chunks.len() * CHUNK * self.slot_bytes
    }

    /// The number of a packet, from 0 in the order in which they were sent.
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
    fn packets_come_out_as_they_went_in_and_once() {
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
            let Passenger { slot, direction, accepted, .. } = pool.back(*tag).unwrap();
            assert_eq!((direction, accepted), (Direction::Up, Time(number)));
            assert_eq!(pool.packet(slot), number.to_be_bytes());
            pool.give_back(slot);
            assert!(pool.back(*tag).is_none(), "it has come back already");
        }
        assert_eq!(pool.in_use(), 0);
    }

    #[test]
    fn a_slot_that_is_used_again_is_not_taken_for_the_old_packet() {
        let mut pool = Pool::new(100, 100);
        let slot = pool.slot().unwrap();
        let old = pool.send(slot, 10, Direction::Down, Time::ZERO);
        pool.give_back(slot);
        let slot = pool.slot().unwrap();
        let new = pool.send(slot, 10, Direction::Down, Time::ZERO);
        assert!(pool.back(old).is_none());
        assert_eq!(pool.back(new).unwrap().slot, slot);
    }

    #[test]
    fn memory_has_a_bound_and_is_used_again() {
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
