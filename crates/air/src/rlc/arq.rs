//! Segments packets into numbered PDUs; failed blocks are retransmitted after a fixed delay. A packet takes
//! whole PDUs, the last one padded, and is complete if its last PDU has been sent and no failed block with
//! one of its PDUs waits. Not modelled: PDU headers and the status reports of acknowledged mode.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;

use super::Delivered;
use crate::Backlog;
use crate::mac::harq::retransmissions::Retransmissions;

nodeb_base::no_parameters! {
    /// The simple ARQ has no parameters of its own. The bearer's parameters define the delay and
    /// limit of retransmissions.
    Arq
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedBlock {
    /// PDU number.
    pub first: u64,
    pub pdus: u32,
    pub transmissions: u32,
}

#[derive(Debug)]
struct Sdu {
    packet: Packet,
    /// PDU number.
    first: u64,
    end: u64,
    /// A block with a part of it was given up, so that the packet is lost.
    damaged: bool,
    /// Has left before earlier packets; the entry remains until they have left.
    gone: bool,
}

#[derive(Debug)]
pub struct Buffer {
    pdu_bytes: u32,
    limit: usize,
    order: Delivered,
    sdus: VecDeque<Sdu>,
    backlog: Backlog,
    /// Next PDU to be sent for the first time.
    next: u64,
    end: u64,
    /// Number after the first packet's last PDU, `u64::MAX` if empty; cached, as needed in every TTI.
    first_end: u64,
    /// First PDU of a failed block that holds back the first packet, `u64::MAX` if none is known; cached, as
    /// needed in every TTI.
    missing: u64,
    failed: Retransmissions<FailedBlock>,
}

impl Buffer {
    /// `limit` is in packets.
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
            failed: Retransmissions::default(),
        }
    }

    /// False if the buffer is full.
    pub fn push(&mut self, packet: Packet) -> bool {
        if self.backlog.packets >= self.limit {
            return false;
        }
        let first = self.end;
        self.end += u64::from(packet.size.div_ceil(self.pdu_bytes));
        self.backlog.add(&packet);
        self.first_end = self.first_end.min(self.end);
        self.sdus.push_back(Sdu { packet, first, end: self.end, damaged: false, gone: false });
        true
    }

    /// Never sent.
    pub fn new_pdus(&self) -> u64 {
        self.end - self.next
    }

    /// First TTI with something to send, 0 with new PDUs.
    pub fn eligible(&self) -> Option<u64> {
        if self.new_pdus() > 0 { Some(0) } else { self.failed.eligible() }
    }

    /// Number of the first PDU taken.
    pub fn take_new(&mut self, pdus: u64) -> u64 {
        self.next += pdus;
        self.next - pdus
    }

    #[inline]
    pub fn take_failed(&mut self, tti: u64) -> Option<FailedBlock> {
        let block = self.failed.take(tti)?;
        if block.first == self.missing {
            self.missing = u64::MAX;
        }
        Some(block)
    }

    pub fn keep_failed(&mut self, from: u64, block: FailedBlock) {
        self.failed.keep(from, block);
    }

    /// Packets with a part in these PDUs are lost.
    pub fn give_up(&mut self, pdus: Range<u64>) {
        let from = self.sdus.partition_point(|sdu| sdu.end <= pdus.start);
        for sdu in self.sdus.range_mut(from..).take_while(|sdu| sdu.first < pdus.end) {
            sdu.damaged = true;
        }
    }

    /// May be true too often; cheaper than [`Self::release`].
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

    /// With true if intact, false if lost because a block was given up.
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

    /// Even if earlier packets wait.
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

    /// TTIs until a packet is complete or a retransmission may be sent, at `per_tti` new PDUs; 0 if unknown.
    pub fn ttis_until_change(&self, tti: u64, per_tti: u64) -> u64 {
        match self.failed.eligible() {
            None if self.first_end < u64::MAX => (self.first_end - self.next).div_ceil(per_tti),
            Some(from) if self.order == Delivered::InSequence => from.saturating_sub(tti),
            _ => 0,
        }
    }

    /// Of the packet with this PDU, among those in the buffer.
    pub fn place_of(&self, pdu: u64) -> usize {
        self.sdus.partition_point(|sdu| sdu.end <= pdu)
    }

    /// The packet at `place` is the first in the block, or no longer any; moves `place` to that of the next
    /// block.
    #[inline]
    pub fn carried(&self, place: &mut usize, block: FailedBlock, mut carry: impl FnMut(Part)) {
        let end = block.first + u64::from(block.pdus);
        while let Some(sdu) = self.sdus.get(*place).filter(|sdu| sdu.first < end) {
            // All PDUs of a packet are full except the last one, so PDU numbers convert to bytes.
            let before =
                |pdu: u64| ((pdu - sdu.first) * u64::from(self.pdu_bytes)).min(sdu.packet.size.into());
            let (from, to) = (before(block.first.max(sdu.first)), before(end.min(sdu.end)));
            carry(Part { packet: sdu.packet.id, offset: from as u32, bytes: (to - from) as u32 });
            if sdu.end > end {
                return;
            }
            *place += 1;
        }
    }

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

    /// Three packets of 3 PDUs, all sent once; `failed` has first PDU and number of PDUs.
    fn buffer(order: Delivered, failed: &[(u64, u32)]) -> Buffer {
        let mut buffer = Buffer::new(40, 10, order);
        for seq in 0..3 {
            assert!(buffer.push(packet(seq)));
        }
        assert_eq!(buffer.new_pdus(), 9);
        buffer.take_new(9);
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
    fn in_sequence_a_failed_block_delays_all_later_packets() {
        let mut buffer = buffer(Delivered::InSequence, &[(4, 1)]);
        assert_eq!(release(&mut buffer), (vec![0], 0));
        assert_eq!(buffer.take_failed(4), None);
        assert!(buffer.take_failed(5).is_some());
        assert_eq!(release(&mut buffer), (vec![1, 2], 0));
        assert_eq!(buffer.backlog(), Backlog::default());
    }

    #[test]
    fn out_of_sequence_a_failed_block_delays_only_its_packets() {
        let mut buffer = buffer(Delivered::OutOfSequence, &[(4, 1)]);
        assert_eq!(release(&mut buffer), (vec![0, 2], 0));
        buffer.take_failed(5);
        assert_eq!(release(&mut buffer), (vec![1], 0));
    }

    #[test]
    fn giving_up_a_block_loses_its_packets() {
        let mut buffer = buffer(Delivered::InSequence, &[(2, 2)]);
        let block = buffer.take_failed(5).unwrap();
        buffer.give_up(block.first..block.first + u64::from(block.pdus));
        assert_eq!(release(&mut buffer), (vec![2], 2));
    }

    #[test]
    fn a_full_buffer_rejects_packets() {
        let mut buffer = Buffer::new(40, 1, Delivered::InSequence);
        assert!(buffer.push(packet(0)) && !buffer.push(packet(1)));
    }
}
