//! Packets in flight and finished ones, with the places that they passed.

use std::collections::HashMap;

use nodeb_base::event::Purpose;
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;

use crate::codes::{Detail, End};

/// Row of [`HOPS`](crate::tables::HOPS): the stay of a packet at a place.
#[derive(Clone, Copy, Debug)]
pub struct HopRow {
    /// Number of the packet in the run, from 1.
    pub packet: u32,
    /// Number of the place, which is its index in the list of places.
    pub place: u16,
    /// Time at which the packet entered the place.
    pub entered: Time,
    /// Time of the first block that carries a part of the packet. Equal to `entered` if no block
    /// carries a part, as at places that are not bearers.
    pub begun: Time,
    /// Time at which the packet left the place or was lost there, or up to which it was followed.
    pub left: Time,
    /// Outcome of the stay: left, lost, or not yet ended.
    pub end: End,
}

/// Row of [`PACKETS`](crate::tables::PACKETS): a packet from its transmission to its end.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// Number in the order of transmission among all packets of the run, from 1.
    pub packet: u32,
    /// Number in the scenario of the user who sent or receives the packet.
    pub user: u32,
    /// Role of the packet in its connection.
    pub purpose: Purpose,
    /// Sequence number, or for an ACK its acknowledgement number. It counts segments with `classic`
    /// TCP, and bytes with `linux`. For a real packet, its number in the recording.
    pub seq: u64,
    /// Size of the packet in bytes, headers included.
    pub size: u32,
    /// Whether the packet is a retransmission.
    pub again: bool,
    /// Number of the place that sent the packet.
    pub origin: u16,
    /// Time at which the packet was sent.
    pub sent: Time,
    /// Number of the place where the packet was received or lost, or the last place where it was recorded.
    pub at: u16,
    /// Time at which the packet was received or lost, or up to which it was followed.
    pub ended: Time,
    /// Outcome of the packet: received, lost, or still in flight.
    pub end: End,
    /// Cause of the loss; `Detail::None` if the packet was not lost.
    pub cause: Detail,
    /// Time at which the application received the packet's data in order; `None` if it did not.
    pub handed: Option<Time>,
    /// Number of parts of the packet that blocks carried.
    pub blocks: u32,
    /// Total number of retransmissions of the blocks that carried parts of the packet.
    pub retransmissions: u32,
}

/// Packet in flight that the recorder follows.
#[derive(Debug)]
pub struct Tracked {
    /// Row of the packet. Values such as the end and its time are preliminary until the packet ends.
    pub row: PacketRow,
    /// Stays of the packet at the places that it has entered so far.
    pub hops: Vec<HopRow>,
    /// Numbers of the blocks that carried parts of the packet.
    pub carriers: Vec<u32>,
}

impl Tracked {
    /// Records that the packet enters a place at time `at`.
    pub fn enter(&mut self, at: Time, place: u16) {
        let packet = self.row.packet;
        self.hops.push(HopRow { packet, place, entered: at, begun: at, left: at, end: End::InFlight });
    }

    /// Records that the packet leaves its current place, or is lost there, at time `at`.
    pub fn leave(&mut self, at: Time, end: End) {
        if let Some(hop) = self.hops.last_mut().filter(|hop| hop.end == End::InFlight) {
            (hop.left, hop.end) = (at, end);
        }
    }

    /// Records that a block carries a part of the packet. The first such block sets the start of transmission
    /// at the bearer.
    pub fn carry(&mut self, at: Time, block: u32) {
        if let Some(hop) = self.hops.last_mut().filter(|_| self.row.blocks == 0) {
            hop.begun = at;
        }
        self.row.blocks += 1;
        if self.carriers.last() != Some(&block) {
            self.carriers.push(block);
        }
    }

    /// Records the end of the packet at time `at`, by its arrival or loss at `place`.
    pub fn finish(&mut self, at: Time, place: u16, end: End, cause: Detail) {
        self.leave(at, end);
        (self.row.ended, self.row.at, self.row.end, self.row.cause) = (at, place, end, cause);
    }
}

/// Packets in flight, and the finished ones that are kept.
#[derive(Debug, Default)]
pub struct PacketLog {
    /// Number of packets sent so far, including packets of users that are not recorded.
    launched: u32,
    in_flight: HashMap<PacketId, Tracked>,
    /// Finished packets that are kept, in the order of their ends. [`Self::keep_the_rest`] sorts them by number.
    pub packets: Vec<PacketRow>,
    /// Stays at places of the packets that are kept.
    pub hops: Vec<HopRow>,
    /// Pairs of numbers for the packets that are kept: a packet, and a block that carried a part of it.
    pub carried: Vec<(u32, u32)>,
}

impl PacketLog {
    /// Counts a new packet and returns its number in the run, from 1.
    pub fn number(&mut self) -> u32 {
        self.launched += 1;
        self.launched
    }

    /// Starts following a packet that has just been sent.
    pub fn follow(&mut self, id: PacketId, row: PacketRow) {
        self.in_flight.insert(id, Tracked { row, hops: Vec::new(), carriers: Vec::new() });
    }

    /// Returns the packet with identity `id` mutably, or `None` if it is not followed.
    pub fn get(&mut self, id: PacketId) -> Option<&mut Tracked> {
        self.in_flight.get_mut(&id)
    }

    /// Stops following a packet and returns it, or returns `None` if it was not followed.
    pub fn take(&mut self, id: PacketId) -> Option<Tracked> {
        self.in_flight.remove(&id)
    }

    /// Keeps a finished packet with its stays at places and its blocks. Returns the index of its
    /// row in `packets`.
    pub fn keep(&mut self, tracked: Tracked) -> usize {
        self.hops.extend(tracked.hops);
        self.carried.extend(tracked.carriers.iter().map(|block| (tracked.row.packet, *block)));
        self.packets.push(tracked.row);
        self.packets.len() - 1
    }

    /// Keeps the packets that were sent before `to`, the end of the window, and are still in flight
    /// at `now`. Then sorts all kept packets, and their stays at places, by packet number.
    pub fn keep_the_rest(&mut self, now: Time, to: Time) {
        for (_, mut tracked) in std::mem::take(&mut self.in_flight) {
            if tracked.row.sent < to {
                tracked.row.ended = tracked.row.ended.max(now);
                if let Some(hop) = tracked.hops.last_mut().filter(|hop| hop.end == End::InFlight) {
                    hop.left = now;
                    tracked.row.at = hop.place;
                }
                self.keep(tracked);
            }
        }
        self.packets.sort_by_key(|row| row.packet);
        self.hops.sort_by_key(|hop| hop.packet);
    }

    /// Discards the packets kept so far, with their stays at places and their blocks.
    pub fn forget(&mut self) {
        (self.packets, self.hops, self.carried) = Default::default();
    }
}
