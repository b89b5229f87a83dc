use std::collections::HashMap;

use nodeb_base::event::Purpose;
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;

use crate::codes::{Detail, End};

/// Row of [`HOPS`](crate::tables::HOPS).
#[derive(Clone, Copy, Debug)]
pub struct HopRow {
    /// In the run, from 1.
    pub packet: u32,
    pub place: u16,
    pub entered: Time,
    /// First block with a part of the packet, else `entered`.
    pub begun: Time,
    pub left: Time,
    /// Left, lost, or not yet ended.
    pub end: End,
}

#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// In the run, from 1, in the order of transmission.
    pub packet: u32,
    /// Sender or receiver in the scenario.
    pub user: u32,
    pub purpose: Purpose,
    /// Or acknowledgement number: segments with `classic` TCP, bytes with `linux`; of a real packet its
    /// number in the recording.
    pub seq: u64,
    /// Headers included.
    pub size: u32,
    pub again: bool,
    pub origin: u16,
    pub sent: Time,
    /// Received or lost, or last recorded there.
    pub at: u16,
    pub ended: Time,
    pub end: End,
    /// `Detail::None` if not lost.
    pub cause: Detail,
    /// To the application, in order.
    pub handed: Option<Time>,
    /// Parts that blocks carried.
    pub blocks: u32,
    /// Of the blocks with parts of it.
    pub retransmissions: u32,
}

#[derive(Debug)]
pub struct Tracked {
    /// Preliminary until the packet ends.
    pub row: PacketRow,
    pub hops: Vec<HopRow>,
    /// Blocks that carried parts of the packet.
    pub carriers: Vec<u32>,
}

impl Tracked {
    pub fn enter(&mut self, at: Time, place: u16) {
        let packet = self.row.packet;
        self.hops.push(HopRow { packet, place, entered: at, begun: at, left: at, end: End::InFlight });
    }

    pub fn leave(&mut self, at: Time, end: End) {
        if let Some(hop) = self.hops.last_mut().filter(|hop| hop.end == End::InFlight) {
            (hop.left, hop.end) = (at, end);
        }
    }

    /// The first sets the start of transmission at the bearer.
    pub fn carry(&mut self, at: Time, block: u32) {
        if let Some(hop) = self.hops.last_mut().filter(|_| self.row.blocks == 0) {
            hop.begun = at;
        }
        self.row.blocks += 1;
        if self.carriers.last() != Some(&block) {
            self.carriers.push(block);
        }
    }

    pub fn finish(&mut self, at: Time, place: u16, end: End, cause: Detail) {
        self.leave(at, end);
        (self.row.ended, self.row.at, self.row.end, self.row.cause) = (at, place, end, cause);
    }
}

/// Those in flight, and the finished ones that are kept.
#[derive(Debug, Default)]
pub struct PacketLog {
    /// Also of users that are not recorded.
    launched: u32,
    in_flight: HashMap<PacketId, Tracked>,
    pub packets: Vec<PacketRow>,
    /// Finished.
    pub hops: Vec<HopRow>,
    /// A packet, and a block that carried a part of it.
    pub carried: Vec<(u32, u32)>,
}

impl PacketLog {
    pub fn number(&mut self) -> u32 {
        self.launched += 1;
        self.launched
    }

    pub fn follow(&mut self, id: PacketId, row: PacketRow) {
        self.in_flight.insert(id, Tracked { row, hops: Vec::new(), carriers: Vec::new() });
    }

    pub fn get(&mut self, id: PacketId) -> Option<&mut Tracked> {
        self.in_flight.get_mut(&id)
    }

    pub fn take(&mut self, id: PacketId) -> Option<Tracked> {
        self.in_flight.remove(&id)
    }

    /// Its row's index in `packets`.
    pub fn keep(&mut self, tracked: Tracked) -> usize {
        self.hops.extend(tracked.hops);
        self.carried.extend(tracked.carriers.iter().map(|block| (tracked.row.packet, *block)));
        self.packets.push(tracked.row);
        self.packets.len() - 1
    }

    /// In flight at `now` and sent before `to`; then sorts by packet number.
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

    pub fn forget(&mut self) {
        (self.packets, self.hops, self.carried) = Default::default();
    }
}
