//! The simple ARQ: a user's buffer at the Node B, cut into numbered PDUs, whose failed blocks are
//! sent again after a fixed delay.
//!
//! A packet takes whole PDUs; the last is padded and not shared with the next packet. PDUs are
//! numbered without end, and whether a packet is complete follows from three things alone: the
//! next PDU to send for the first time, the blocks that have failed and wait to be sent again,
//! and the packets' own last PDUs. Left out: PDU headers and the AM protocol's status reports.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;

use super::Delivered;
use crate::Backlog;
use crate::mac::harq::repetitions::Repetitions;

no_parameters! {
    /// Parameters of the simple ARQ: none. The bearer's own say when a block goes again, and how often.
    Arq
}

/// A block that failed and waits to be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedBlock {
    /// First PDU.
    pub first: u64,
    /// Number of PDUs.
    pub pdus: u32,
    /// How often it has been sent.
    pub transmissions: u32,
}

/// A packet in the buffer.
#[derive(Debug)]
struct Sdu {
    packet: Packet,
    /// Its first PDU and one past its last.
    first: u64,
    end: u64,
    /// A block of it was given up.
    damaged: bool,
    /// It left before the ones ahead of it.
    gone: bool,
}

/// One user's buffer.
#[derive(Debug)]
pub struct Buffer {
    pdu_bytes: u32,
    limit: usize,
    order: Delivered,
    sdus: VecDeque<Sdu>,
    /// What has not left.
    backlog: Backlog,
    /// Next PDU to be sent for the first time, and one past the last PDU buffered.
    next: u64,
    end: u64,
    /// One past the last PDU of the first packet; `u64::MAX` without one. It is asked for in every TTI.
    first_end: u64,
    /// First PDU of a block that waits and is known to hold up the first packet; `u64::MAX` where none is.
    missing: u64,
    /// Blocks to be sent again.
    failed: Repetitions<FailedBlock>,
}

impl Buffer {
    /// An empty buffer for `limit` packets.
    pub fn new(pdu_bytes: u32, limit: usize, order: Delivered) -> Self {
        Self {
            pdu_bytes,
            limit,
            order,
            sdus: VecDeque::new(),
            backlog: Backlog::default(),
            next: 0,
            end: 0,
            first_end: u64::MAX,
            missing: u64::MAX,
            failed: Repetitions::default(),
        }
    }

    /// Takes a packet, cut into which PDUs; `None` means that the buffer is full.
    pub fn push(&mut self, packet: Packet) -> Option<Range<u64>> {
        if self.backlog.packets >= self.limit {
            return None;
        }
        let first = self.end;
        self.end += u64::from(packet.size.div_ceil(self.pdu_bytes));
        self.backlog.add(&packet);
        self.first_end = self.first_end.min(self.end);
        self.sdus.push_back(Sdu { packet, first, end: self.end, damaged: false, gone: false });
        Some(first..self.end)
    }

    /// PDUs that have never been sent.
    pub fn fresh(&self) -> u64 {
        self.end - self.next
    }

    /// TTI number from which the buffer has something to send; `None` when it has nothing.
    pub fn eligible(&self) -> Option<u64> {
        if self.fresh() > 0 { Some(0) } else { self.failed.eligible() }
    }

    /// Takes `pdus` PDUs for their first transmission and returns the number of the first.
    pub fn take_fresh(&mut self, pdus: u64) -> u64 {
        self.next += pdus;
        self.next - pdus
    }

    /// Takes a failed block that may be sent again in TTI number `tti`.
    pub fn take_failed(&mut self, tti: u64) -> Option<FailedBlock> {
        let block = self.failed.take(tti)?;
        if block.first == self.missing {
            self.missing = u64::MAX;
        }
        Some(block)
    }

    /// Keeps a block that failed, to be sent again from TTI number `from` on.
    pub fn keep_failed(&mut self, from: u64, block: FailedBlock) {
        self.failed.keep(from, block);
    }

    /// Gives up the PDUs of a block: the packets in it cannot be delivered any more.
    pub fn give_up(&mut self, pdus: Range<u64>) {
        let from = self.sdus.partition_point(|sdu| sdu.end <= pdus.start);
        for sdu in self.sdus.range_mut(from..).take_while(|sdu| sdu.first < pdus.end) {
            sdu.damaged = true;
        }
    }

    /// Whether some packet may leave.
    #[inline]
    pub fn has_complete(&mut self) -> bool {
        let end = self.first_end;
        if self.order == Delivered::OutOfSequence && !self.failed.is_empty() {
            return true;
        }
        if end > self.next || self.missing < end {
            return false;
        }
        let missing = self.failed.iter().map(|block| block.first).find(|first| *first < end);
        self.missing = missing.unwrap_or(u64::MAX);
        missing.is_none()
    }

    /// Hands over every packet that may leave now, and whether it is intact: a damaged one is lost.
    pub fn release(&mut self, mut leave: impl FnMut(Packet, bool)) {
        if self.order == Delivered::OutOfSequence && !self.failed.is_empty() {
            self.release_early(&mut leave);
        }
        let missing = self.failed.iter().map(|block| block.first).fold(self.next, u64::min);
        while let Some(sdu) = self.sdus.front()
            && sdu.end <= missing
        {
            if !sdu.gone {
                self.backlog.remove(&sdu.packet);
                leave(sdu.packet, !sdu.damaged);
            }
            self.sdus.pop_front();
        }
        self.first_end = self.sdus.front().map_or(u64::MAX, |sdu| sdu.end);
    }

    /// Out of sequence: whatever no failed block touches may leave.
    fn release_early(&mut self, leave: &mut impl FnMut(Packet, bool)) {
        let Self { sdus, failed, next, backlog, .. } = self;
        for sdu in sdus.iter_mut().take_while(|sdu| sdu.end <= *next).filter(|sdu| !sdu.gone && !sdu.damaged)
        {
            let missing = failed
                .iter()
                .any(|block| block.first < sdu.end && sdu.first < block.first + u64::from(block.pdus));
            if !missing {
                sdu.gone = true;
                backlog.remove(&sdu.packet);
                leave(sdu.packet, true);
            }
        }
    }

    /// Full TTIs of `per_tti` new PDUs from number `tti` on, up to the one that completes a packet or to
    /// the last before a failed block may go again; none where that cannot be told.
    pub fn ttis_until_change(&self, tti: u64, per_tti: u64) -> u64 {
        match self.failed.eligible() {
            None if self.first_end < u64::MAX => (self.first_end - self.next).div_ceil(per_tti),
            Some(from) if self.order == Delivered::InSequence => from.saturating_sub(tti),
            _ => 0,
        }
    }

    /// The parts of packets that these PDUs carry.
    pub fn carried(&self, first: u64, pdus: u32) -> impl Iterator<Item = Part> + '_ {
        let end = first + u64::from(pdus);
        let from = self.sdus.partition_point(|sdu| sdu.end <= first);
        let of = move |sdu: &Sdu| {
            // All PDUs of a packet are full but the last.
            let before =
                |pdu: u64| ((pdu - sdu.first) * u64::from(self.pdu_bytes)).min(sdu.packet.size.into());
            let (from, to) = (before(first.max(sdu.first)), before(end.min(sdu.end)));
            Part { packet: sdu.packet.id, offset: from as u32, bytes: (to - from) as u32 }
        };
        self.sdus.range(from..).take_while(move |sdu| sdu.first < end).map(of)
    }

    /// Packets and bytes buffered.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(seq: u64) -> Packet {
        Packet::new(seq, 100)
    }

    /// Three packets of 3 PDUs each, all sent once, with the given blocks failed.
    fn buffer(order: Delivered, failed: &[(u64, u32)]) -> Buffer {
        let mut buffer = Buffer::new(40, 10, order);
        for seq in 0..3 {
            assert_eq!(buffer.push(packet(seq)), Some(3 * seq..3 * seq + 3));
        }
        assert_eq!(buffer.fresh(), 9);
        buffer.take_fresh(9);
        for &(first, pdus) in failed {
            buffer.keep_failed(5, FailedBlock { first, pdus, transmissions: 1 });
        }
        buffer
    }

    fn release(buffer: &mut Buffer) -> (Vec<u64>, u64) {
        let (mut out, mut damaged) = (Vec::new(), 0);
        buffer.release(|packet, intact| if intact { out.push(packet.id.0) } else { damaged += 1 });
        (out, damaged)
    }

    #[test]
    fn in_sequence_a_failed_block_holds_up_all_behind_it() {
        let mut buffer = buffer(Delivered::InSequence, &[(4, 1)]);
        assert_eq!(release(&mut buffer), (vec![0], 0));
        assert_eq!(buffer.take_failed(4), None);
        assert!(buffer.take_failed(5).is_some());
        assert_eq!(release(&mut buffer), (vec![1, 2], 0));
        assert_eq!(buffer.backlog(), Backlog::default());
    }

    #[test]
    fn out_of_sequence_only_the_touched_packet_waits() {
        let mut buffer = buffer(Delivered::OutOfSequence, &[(4, 1)]);
        assert_eq!(release(&mut buffer), (vec![0, 2], 0));
        buffer.take_failed(5);
        assert_eq!(release(&mut buffer), (vec![1], 0));
    }

    #[test]
    fn a_block_given_up_takes_its_packets_with_it() {
        let mut buffer = buffer(Delivered::InSequence, &[(2, 2)]);
        let block = buffer.take_failed(5).unwrap();
        buffer.give_up(block.first..block.first + u64::from(block.pdus));
        assert_eq!(release(&mut buffer), (vec![2], 2));
    }

    #[test]
    fn a_full_buffer_takes_no_more() {
        let mut buffer = Buffer::new(40, 1, Delivered::InSequence);
        assert!(buffer.push(packet(0)).is_some() && buffer.push(packet(1)).is_none());
    }
}
