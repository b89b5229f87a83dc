//! Packets on their way, and where they have been.

use std::collections::HashMap;

use nodeb_base::event::Purpose;
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;

use crate::codes::{Detail, End};

/// A stay at a place.
#[derive(Clone, Copy, Debug)]
pub struct HopRow {
    /// Number of the packet.
    pub packet: u32,
    /// Number of the place.
    pub place: u16,
    /// When the packet came.
    pub entered: Time,
    /// When the first block was sent that carries some of it; elsewhere when it came.
    pub begun: Time,
    /// When it left or was lost, or was last heard of.
    pub left: Time,
    /// How its stay ended.
    pub end: End,
}

/// A packet's life.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// Its number, in the order in which packets of the run were sent, from 1.
    pub packet: u32,
    /// Whose it is.
    pub user: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// Its segment number, or what it acknowledges.
    pub seq: u64,
    /// Its bytes.
    pub size: u32,
    /// Whether the segment had been sent before.
    pub again: bool,
    /// Where it began.
    pub origin: u16,
    /// When it began.
    pub sent: Time,
    /// Where it ended.
    pub at: u16,
    /// When it ended, or was last heard of.
    pub ended: Time,
    /// How it ended.
    pub end: End,
    /// Why it was lost.
    pub cause: Detail,
    /// When the application was handed its data.
    pub handed: Option<Time>,
    /// Blocks that carried parts of it.
    pub blocks: u32,
    /// Transmissions of those blocks beyond the first.
    pub repeats: u32,
}

/// A packet on its way.
#[derive(Debug)]
pub struct Life {
    /// What is known of it.
    pub row: PacketRow,
    /// Where it has been.
    pub hops: Vec<HopRow>,
    /// Blocks that carried parts of it.
    pub carriers: Vec<u32>,
}

impl Life {
    /// It comes to a place and is taken.
    pub fn enter(&mut self, at: Time, place: u16) {
        let packet = self.row.packet;
        self.hops.push(HopRow { packet, place, entered: at, begun: at, left: at, end: End::UnderWay });
    }

    /// It leaves the place where it is, for the next one or for ever.
    pub fn leave(&mut self, at: Time, end: End) {
        if let Some(hop) = self.hops.last_mut().filter(|hop| hop.end == End::UnderWay) {
            (hop.left, hop.end) = (at, end);
        }
    }

    /// A block that is sent carries some of it.
    pub fn carry(&mut self, at: Time, block: u32) {
        if let Some(hop) = self.hops.last_mut().filter(|_| self.row.blocks == 0) {
            hop.begun = at;
        }
        self.row.blocks += 1;
        if self.carriers.last() != Some(&block) {
            self.carriers.push(block);
        }
    }

    /// It is received or lost.
    pub fn finish(&mut self, at: Time, place: u16, end: End, cause: Detail) {
        self.leave(at, end);
        (self.row.ended, self.row.at, self.row.end, self.row.cause) = (at, place, end, cause);
    }
}

/// Packets that are over, and those on their way.
#[derive(Debug, Default)]
pub struct Lives {
    launched: u32,
    under_way: HashMap<PacketId, Life>,
    /// Packets that are kept, in the order in which they ended.
    pub packets: Vec<PacketRow>,
    /// Their stays.
    pub hops: Vec<HopRow>,
    /// Blocks that carried parts of them: packet and block.
    pub carried: Vec<(u32, u32)>,
}

impl Lives {
    /// A packet is sent; its number.
    pub fn number(&mut self) -> u32 {
        self.launched += 1;
        self.launched
    }

    /// A packet is followed.
    pub fn follow(&mut self, id: PacketId, row: PacketRow) {
        self.under_way.insert(id, Life { row, hops: Vec::new(), carriers: Vec::new() });
    }

    /// A packet that is followed.
    pub fn get(&mut self, id: PacketId) -> Option<&mut Life> {
        self.under_way.get_mut(&id)
    }

    /// A packet's way is over.
    pub fn take(&mut self, id: PacketId) -> Option<Life> {
        self.under_way.remove(&id)
    }

    /// Keeps a packet; its place among those kept.
    pub fn keep(&mut self, life: Life) -> usize {
        self.hops.extend(life.hops);
        self.carried.extend(life.carriers.iter().map(|block| (life.row.packet, *block)));
        self.packets.push(life.row);
        self.packets.len() - 1
    }

    /// Keeps what is still under way and was sent before the end of the window.
    pub fn keep_the_rest(&mut self, now: Time, to: Time) {
        for (_, mut life) in std::mem::take(&mut self.under_way) {
            if life.row.sent < to {
                life.row.ended = life.row.ended.max(now);
                if let Some(hop) = life.hops.last_mut().filter(|hop| hop.end == End::UnderWay) {
                    hop.left = now;
                    life.row.at = hop.place;
                }
                self.keep(life);
            }
        }
        self.packets.sort_by_key(|row| row.packet);
        self.hops.sort_by_key(|hop| hop.packet);
    }

    /// Keeps none of those so far.
    pub fn forget(&mut self) {
        (self.packets, self.hops, self.carried) = Default::default();
    }
}
