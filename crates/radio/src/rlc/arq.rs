//! The simple ARQ: buffer of one user at the Node B, which segments packets into numbered PDUs.
//! Failed blocks are retransmitted after a fixed delay.
//!
//! A packet takes whole PDUs; the last one is padded and not shared with the next packet. PDU
//! numbers never wrap. A packet is complete if its last PDU has been sent and no failed block with
//! a PDU of the packet waits for retransmission.
//!
//! Not modelled: PDU headers and the status reports of acknowledged mode.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;

use super::Delivered;
use crate::Backlog;
use crate::mac::harq::retransmissions::Retransmissions;

no_parameters! {
    /// The simple ARQ has no parameters of its own. The bearer's parameters define the delay and
    /// limit of retransmissions.
    Arq
}

/// Failed block that waits for retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedBlock {
    /// Number of the block's first PDU.
    pub first: u64,
    /// Number of PDUs in the block.
    pub pdus: u32,
    /// Number of transmissions of the block so far.
    pub transmissions: u32,
}

/// Packet in a user's buffer, as a range of PDUs.
#[derive(Debug)]
struct Sdu {
    packet: Packet,
    /// Number of the packet's first PDU.
    first: u64,
    end: u64,
    /// Whether a block with a part of the packet was given up, so that the packet is lost.
    damaged: bool,
    /// Whether the packet has left the buffer before earlier packets. Its entry remains until all
    /// earlier packets have left.
    gone: bool,
}

/// Buffer of one user at the Node B, with its packets and failed blocks.
#[derive(Debug)]
pub struct Buffer {
    pdu_bytes: u32,
    limit: usize,
    order: Delivered,
    sdus: VecDeque<Sdu>,
    /// Number and size of the packets that have not left the buffer.
    backlog: Backlog,
    /// Number of the next PDU to be sent for the first time.
    next: u64,
    end: u64,
    /// Number after the last PDU of the first packet; `u64::MAX` if the buffer is empty. Cached, as
    /// it is needed in every TTI.
    first_end: u64,
    /// Number of the first PDU of a failed block that prevents the first packet from leaving;
    /// `u64::MAX` if no such block is known. Cached, as it is needed in every TTI.
    missing: u64,
    /// Failed blocks that wait for retransmission.
    failed: Retransmissions<FailedBlock>,
}

impl Buffer {
    /// Creates an empty buffer for `limit` packets, which are segmented into PDUs of `pdu_bytes`
    /// bytes.
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

    /// Accepts a packet. Returns the numbers of its PDUs, or `None` if the buffer is full.
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

    /// Returns the number of PDUs that have never been sent.
    pub fn new_pdus(&self) -> u64 {
        self.end - self.next
    }

    /// Returns the first TTI in which the buffer has something to send, 0 if it has new PDUs, or
    /// `None` if it has nothing.
    pub fn eligible(&self) -> Option<u64> {
        if self.new_pdus() > 0 { Some(0) } else { self.failed.eligible() }
    }

    /// Takes the next `pdus` new PDUs for transmission. Returns the number of the first PDU taken.
    pub fn take_new(&mut self, pdus: u64) -> u64 {
        self.next += pdus;
        self.next - pdus
    }

    /// Removes and returns the first failed block if it may be retransmitted in TTI `tti`, else
    /// returns `None`.
    pub fn take_failed(&mut self, tti: u64) -> Option<FailedBlock> {
        let block = self.failed.take(tti)?;
        if block.first == self.missing {
            self.missing = u64::MAX;
        }
        Some(block)
    }

    /// Stores a failed block, which may be retransmitted from TTI `from` on.
    pub fn keep_failed(&mut self, from: u64, block: FailedBlock) {
        self.failed.keep(from, block);
    }

    /// Gives up the PDUs of a block. All packets with a part in these PDUs are lost.
    pub fn give_up(&mut self, pdus: Range<u64>) {
        let from = self.sdus.partition_point(|sdu| sdu.end <= pdus.start);
        for sdu in self.sdus.range_mut(from..).take_while(|sdu| sdu.first < pdus.end) {
            sdu.damaged = true;
        }
    }

    /// Returns false if no packet can leave the buffer now, and true if one may. The check is
    /// cheaper than [`Self::release`].
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

    /// Removes all packets that may leave the buffer now. Passes each to `leave`, with true if it
    /// is intact and false if it is lost because a block was given up.
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

    /// Passes to `leave` each intact packet whose PDUs have all been sent and are in no failed
    /// block, even if earlier packets wait.
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

    /// Returns the number of TTIs, from TTI `tti` on, until a packet is complete or a retransmission
    /// may be sent, if each TTI carries `per_tti` new PDUs. Returns 0 if a retransmission may be sent
    /// in TTI `tti`, or if the number is unknown.
    pub fn ttis_until_change(&self, tti: u64, per_tti: u64) -> u64 {
        match self.failed.eligible() {
            None if self.first_end < u64::MAX => (self.first_end - self.next).div_ceil(per_tti),
            Some(from) if self.order == Delivered::InSequence => from.saturating_sub(tti),
            _ => 0,
        }
    }

    /// Returns the parts of packets in the `pdus` PDUs whose numbers start at `first`.
    pub fn carried(&self, first: u64, pdus: u32) -> impl Iterator<Item = Part> + '_ {
        let end = first + u64::from(pdus);
        let from = self.sdus.partition_point(|sdu| sdu.end <= first);
        let of = move |sdu: &Sdu| {
            // All PDUs of a packet are full except the last one, so PDU numbers convert to bytes.
            let before =
                |pdu: u64| ((pdu - sdu.first) * u64::from(self.pdu_bytes)).min(sdu.packet.size.into());
            let (from, to) = (before(first.max(sdu.first)), before(end.min(sdu.end)));
            Part { packet: sdu.packet.id, offset: from as u32, bytes: (to - from) as u32 }
        };
        self.sdus.range(from..).take_while(move |sdu| sdu.first < end).map(of)
    }

    /// Returns the number of packets in the buffer and their bytes.
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

    /// Returns a buffer with three packets of 3 PDUs each, all sent once. The blocks in `failed`,
    /// given as first PDU and number of PDUs, have failed.
    fn buffer(order: Delivered, failed: &[(u64, u32)]) -> Buffer {
        let mut buffer = Buffer::new(40, 10, order);
        for seq in 0..3 {
            assert_eq!(buffer.push(packet(seq)), Some(3 * seq..3 * seq + 3));
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
        assert!(buffer.push(packet(0)).is_some() && buffer.push(packet(1)).is_none());
    }
}
