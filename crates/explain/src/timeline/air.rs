//! What a bearer that works in TTIs sent to the user, block by block, and what happened to its channel.

use std::collections::HashMap;

use nodeb_sim::units::Time;

use super::packets::NONE;

/// A block on the air.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tx {
    pub begin: Time,
    pub transmission: u32,
    pub failed: bool,
    pub units: u32,
    /// Units of the user that were sent for the first time before it.
    pub units_before: u64,
    /// The transmission of the block before this one, and the one after.
    pub before: u32,
    pub after: u32,
    /// Its first transmission.
    pub first: u32,
    /// What it carries: places in the list of parts.
    pub parts: (u32, u32),
}

/// A part of a packet that a block carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub packet: u32,
    pub offset: u32,
    pub bytes: u32,
    /// Whether another block had carried it before.
    pub again: bool,
}

/// A frame over the Iub.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub at: Time,
    pub arrives: Time,
    /// Units of the user up to its last.
    pub end: u64,
}

/// What was sent to the user over the air.
#[derive(Debug, Default)]
pub(crate) struct Air {
    /// In order of time.
    pub tx: Vec<Tx>,
    pub parts: Vec<Part>,
    /// The user's states, since when.
    pub states: Vec<(Time, u8)>,
    pub handovers: Vec<Time>,
    pub frames: Vec<Frame>,
    /// Bytes of each packet that blocks have carried: first transmissions come in order.
    carried: HashMap<u32, u32>,
    /// The last transmission of each block that may come again.
    latest: HashMap<u64, u32>,
    /// Units sent for the first time.
    units: u64,
}

impl Air {
    /// A block is sent, which may come again.
    pub fn send(
        &mut self,
        begin: Time,
        block: u64,
        units: u32,
        transmission: u32,
        failed: bool,
        comes_again: bool,
    ) {
        let number = self.tx.len() as u32;
        let before = if transmission > 1 { self.latest.get(&block).copied().unwrap_or(NONE) } else { NONE };
        let mut first = number;
        if let Some(earlier) = self.tx.get_mut(before as usize) {
            earlier.after = number;
            first = earlier.first;
        }
        if comes_again {
            self.latest.insert(block, number);
        }
        let parts = (self.parts.len() as u32, self.parts.len() as u32);
        let units_before = self.units;
        self.units += if transmission == 1 { u64::from(units) } else { 0 };
        self.tx.push(Tx {
            begin,
            transmission,
            failed,
            units,
            units_before,
            before,
            after: NONE,
            first,
            parts,
        });
    }

    /// The block that was sent last carries a part of a packet.
    pub fn carry(&mut self, packet: u32, offset: u32, bytes: u32) {
        if let Some(tx) = self.tx.last_mut() {
            let carried = self.carried.entry(packet).or_default();
            let again = offset + bytes <= *carried;
            *carried = (*carried).max(offset + bytes);
            self.parts.push(Part { packet, offset, bytes, again });
            tx.parts.1 = self.parts.len() as u32;
        }
    }

    /// A frame is sent over the Iub.
    pub fn frame(&mut self, at: Time, arrives: Time, units: u64) {
        let end = self.frames.last().map_or(0, |frame| frame.end) + units;
        self.frames.push(Frame { at, arrives, end });
    }

    /// The user changes its cell: what the Node B held of it counts as sent.
    pub fn hand_over(&mut self, at: Time) {
        self.handovers.push(at);
        let arrived = self.frames.iter().rev().find(|frame| frame.arrives <= at);
        self.units = self.units.max(arrived.map_or(0, |frame| frame.end));
        self.latest.clear();
    }

    /// What a block carried when it was sent for the first time.
    pub fn parts_of(&self, tx: u32) -> &[Part] {
        let first = self.tx[tx as usize].first;
        let (from, to) = self.tx[first as usize].parts;
        &self.parts[from as usize..to as usize]
    }

    /// The frame that brought the unit sent first in a block to the Node B.
    pub fn frame_of(&self, tx: u32) -> Option<Frame> {
        let units = self.tx[tx as usize].units_before;
        let at = self.frames.partition_point(|frame| frame.end <= units);
        self.frames.get(at).copied()
    }

    /// The blocks in a TTI that is the last to have begun before `time`.
    pub fn group_before(&self, time: Time) -> Option<(u32, u32)> {
        let end = self.tx.partition_point(|tx| tx.begin < time);
        let begin = self.tx[..end].last()?.begin;
        let first = self.tx[..end].partition_point(|tx| tx.begin < begin);
        Some((first as u32, end as u32))
    }

    /// The user's state at a time, and since when.
    pub fn state_before(&self, time: Time) -> Option<(Time, u8)> {
        let after = self.states.partition_point(|(since, _)| *since < time);
        self.states[..after].last().copied()
    }

    /// Forgets the blocks that have been sent.
    pub fn forget(&mut self) {
        self.tx.clear();
        self.parts.clear();
        self.latest.clear();
        self.carried.clear();
        let last = self.states.pop();
        self.states.clear();
        self.states.extend(last);
    }
}
