//! `hossain`, section II.B and Figure 1: failed frames are retransmitted first, after the delay of the
//! acknowledgement. If all frames fail in a given number of consecutive slots with transmissions, the oldest
//! packet with a frame in the last of them is given up.

use std::collections::VecDeque;

use nodeb_base::event::Part;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Hazard;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use nodeb_air::Backlog;
use nodeb_air::mac::harq::retransmissions::Retransmissions;
use nodeb_air::rlc::Delivered;

/// Rule that determines which frames of a connection may be sent in the same slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Retransmitted frames of any packets, and new frames of one packet; the next packet starts in
    /// a later slot.
    #[default]
    OnePacket,
    /// Retransmitted and new frames of any packets.
    AnyPackets,
    /// Either retransmitted frames, or new frames of one packet, but never both.
    Apart,
}

#[derive(Clone, Debug)]
pub struct Arq {
    /// Without any header.
    pub frame_bytes: u32,
    /// Which frames may share a slot.
    pub sharing: Sharing,
    /// Slots from that of a failed frame to its earliest retransmission.
    pub retransmit_after: u64,
    /// Consecutive slots with failed frames only after which a packet is given up; slots without
    /// transmissions do not count.
    pub max_failed_slots: Option<u32>,
    pub delivery: Delivered,
    /// In packets.
    pub buffer: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub frames: u32,
    pub failed: u32,
    /// A packet was given up after the slot.
    pub gave_up: bool,
}

/// A packet that leaves before earlier ones keeps its entry until they have left.
#[derive(Debug)]
struct Sdu {
    packet: Packet,
    /// Frames never sent.
    unsent: u32,
    missing: u32,
    /// Has left before earlier packets, or was given up.
    gone: bool,
}

impl Sdu {
    /// In its next `frames` unsent frames.
    fn part(&self, arq: &Arq, frames: u32) -> Part {
        let size = self.packet.size;
        let sent = size.div_ceil(arq.frame_bytes).max(1) - self.unsent;
        let bytes_in = |frames: u32| size.min(frames.saturating_mul(arq.frame_bytes));
        let offset = bytes_in(sent);
        Part { packet: self.packet.id, offset, bytes: bytes_in(sent + frames) - offset }
    }
}

#[derive(Debug, Default)]
pub struct Queue {
    sdus: VecDeque<Sdu>,
    /// First packet in `sdus`.
    first: u64,
    /// First packet with frames never sent, or the number after the last.
    next_new: u64,
    /// By packet.
    failed: Retransmissions<u64>,
    failed_slots: u32,
    backlog: Backlog,
}

impl Queue {
    /// False if the buffer is full.
    pub fn push(&mut self, arq: &Arq, packet: Packet) -> bool {
        if self.backlog.packets >= arq.buffer {
            return false;
        }
        let frames = packet.size.div_ceil(arq.frame_bytes).max(1);
        self.backlog.add(&packet);
        self.sdus.push_back(Sdu { packet, unsent: frames, missing: frames, gone: false });
        true
    }

    /// First slot with something to send, 0 with unsent frames.
    pub fn eligible(&self) -> Option<u64> {
        let has_new = self.next_new < self.first + self.sdus.len() as u64;
        if has_new { Some(0) } else { self.failed.eligible() }
    }

    pub fn is_busy(&self) -> bool {
        self.backlog.packets > 0
    }

    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Up to `rate` frames; adds a packet given up to `discarded` and the parts in new frames to `parts`.
    pub fn send(
        &mut self,
        arq: &Arq,
        slot: u64,
        rate: u32,
        errors: &mut Hazard<'_>,
        discarded: &mut Vec<Packet>,
        parts: Option<&mut Vec<Part>>,
    ) -> Sent {
        let mut parts = parts;
        let mut sent = Sent::default();
        let mut oldest = u64::MAX;
        while sent.frames < rate
            && let Some(sdu) = self.failed.take(slot)
        {
            oldest = oldest.min(sdu);
            sent.frames += 1;
            sent.failed += self.transmit(arq, slot, sdu, 1, errors);
        }
        let retransmits_alone = arq.sharing == Sharing::Apart && sent.frames > 0;
        let mut left = if retransmits_alone { 0 } else { rate - sent.frames };
        while left > 0
            && let Some(unsent) = self.next_unsent()
        {
            let frames = unsent.min(left);
            let sdu = self.next_new;
            oldest = oldest.min(sdu);
            if let Some(parts) = &mut parts {
                parts.push(self.of(sdu).part(arq, frames));
            }
            sent.frames += frames;
            sent.failed += self.transmit(arq, slot, sdu, frames, errors);
            left = if arq.sharing == Sharing::AnyPackets { left - frames } else { 0 };
            self.of(sdu).unsent -= frames;
            self.skip_sent();
        }
        sent.gave_up = self.count_failures(arq, sent, oldest, discarded);
        sent
    }

    /// The frames that failed.
    fn transmit(&mut self, arq: &Arq, slot: u64, sdu: u64, frames: u32, errors: &mut Hazard<'_>) -> u32 {
        let failed = errors.count_within(frames);
        (0..failed).for_each(|_| self.failed.keep(slot + arq.retransmit_after, sdu));
        self.of(sdu).missing -= frames - failed;
        failed
    }

    fn of(&mut self, sdu: u64) -> &mut Sdu {
        &mut self.sdus[(sdu - self.first) as usize]
    }

    /// Unsent frames of the first packet that has any.
    fn next_unsent(&self) -> Option<u32> {
        self.sdus.get((self.next_new - self.first) as usize).map(|sdu| sdu.unsent)
    }

    fn skip_sent(&mut self) {
        while self.next_unsent() == Some(0) {
            self.next_new += 1;
        }
    }

    /// At the limit of consecutive failed slots gives up the packet `oldest`.
    fn count_failures(&mut self, arq: &Arq, sent: Sent, oldest: u64, discarded: &mut Vec<Packet>) -> bool {
        if sent.failed < sent.frames {
            self.failed_slots = 0;
            return false;
        }
        self.failed_slots += u32::from(sent.frames > 0);
        let gives_up = arq.max_failed_slots.is_some_and(|most| self.failed_slots >= most);
        if gives_up && sent.frames > 0 {
            self.failed_slots = 0;
            self.give_up(oldest, discarded);
            return true;
        }
        false
    }

    fn give_up(&mut self, number: u64, discarded: &mut Vec<Packet>) {
        self.failed.retain(|sdu| *sdu != number);
        let sdu = self.of(number);
        (sdu.unsent, sdu.missing, sdu.gone) = (0, 0, true);
        let packet = sdu.packet;
        self.backlog.remove(&packet);
        discarded.push(packet);
        self.skip_sent();
    }

    /// In sequence, a packet waits until all earlier ones have left or were given up.
    pub fn release(&mut self, delivery: Delivered, mut deliver: impl FnMut(Packet)) {
        let sent = (self.next_new - self.first) as usize;
        let Self { sdus, backlog, .. } = self;
        for sdu in sdus.iter_mut().take(sent) {
            if sdu.missing == 0 && !sdu.gone {
                sdu.gone = true;
                backlog.remove(&sdu.packet);
                deliver(sdu.packet);
            } else if sdu.missing > 0 && delivery == Delivered::InSequence {
                break;
            }
        }
        while self.first < self.next_new && self.sdus.front().is_some_and(|sdu| sdu.gone) {
            self.sdus.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nodeb_base::rng::{Hazards, Streams};

    fn arq(sharing: Sharing) -> Arq {
        Arq {
            frame_bytes: 16,
            sharing,
            retransmit_after: 2,
            max_failed_slots: None,
            delivery: Delivered::InSequence,
            buffer: 10,
        }
    }

    fn packet(seq: u64, frames: u32) -> Packet {
        Packet::new(seq, 16 * frames)
    }

    struct Script {
        arq: Arq,
        queue: Queue,
        hazards: Hazards,
        discarded: Vec<Packet>,
    }

    impl Script {
        fn new(arq: Arq, packets: &[u32]) -> Self {
            let mut queue = Queue::default();
            for (seq, frames) in (0..).zip(packets) {
                assert!(queue.push(&arq, packet(seq, *frames)));
            }
            let hazards = Hazards::new(Streams::new(1, 0).stream("test", 0, "errors"));
            Self { arq, queue, hazards, discarded: Vec::new() }
        }

        fn slot(&mut self, slot: u64, rate: u32, fail: bool) -> (u32, Vec<u64>) {
            let mut errors = self.hazards.with(f64::from(u8::from(fail)));
            let sent = self.queue.send(&self.arq, slot, rate, &mut errors, &mut self.discarded, None);
            assert_eq!(sent.failed, if fail { sent.frames } else { 0 });
            let mut out = Vec::new();
            self.queue.release(self.arq.delivery, |packet| out.push(packet.id.0));
            (sent.frames, out)
        }
    }

    /// 36 frames take 5 slots at 8 per slot, as in the study.
    #[test]
    fn a_packet_starts_with_a_slot() {
        let mut script = Script::new(arq(Sharing::OnePacket), &[36, 36]);
        let sent: Vec<_> = (0..10).map(|slot| script.slot(slot, 8, false)).collect();
        let frames: Vec<u32> = sent.iter().map(|(frames, _)| *frames).collect();
        assert_eq!(frames, [8, 8, 8, 8, 4, 8, 8, 8, 8, 4]);
        assert_eq!(sent[4].1, [0]);
        assert_eq!(sent[9].1, [1]);
        assert_eq!(script.queue.backlog(), Backlog::default());
    }

    #[test]
    fn packets_share_a_slot_if_allowed() {
        let mut script = Script::new(arq(Sharing::AnyPackets), &[3, 3, 3]);
        assert_eq!(script.slot(0, 8, false), (8, vec![0, 1]));
        assert_eq!(script.slot(1, 8, false), (1, vec![2]));
    }

    /// Figure 1: after the acknowledgement delay; new frames follow in the same slot, unless the sharing rule
    /// forbids this.
    #[test]
    fn retransmitted_frames_precede_new_ones() {
        for (sharing, third) in [(Sharing::OnePacket, 4), (Sharing::AnyPackets, 4), (Sharing::Apart, 2)] {
            let mut script = Script::new(arq(sharing), &[12]);
            assert_eq!(script.slot(0, 2, true).0, 2);
            assert_eq!(script.slot(1, 4, false).0, 4);
            assert_eq!(script.slot(2, 4, false).0, third, "{sharing:?}");
        }
    }

    #[test]
    fn delivery_order_decides_if_a_packet_waits_for_a_failed_frame() {
        for (delivery, early) in [(Delivered::InSequence, vec![]), (Delivered::OutOfSequence, vec![1])] {
            let mut script = Script::new(Arq { delivery, ..arq(Sharing::OnePacket) }, &[1, 1]);
            assert_eq!(script.slot(0, 1, true), (1, vec![]));
            assert_eq!(script.slot(1, 1, false), (1, early.clone()));
            let rest = if early.is_empty() { vec![0, 1] } else { vec![0] };
            assert_eq!(script.slot(2, 1, false), (1, rest));
            assert_eq!(script.queue.backlog(), Backlog::default());
        }
    }

    #[test]
    fn a_packet_is_given_up_after_consecutive_failed_slots() {
        let arq = Arq { max_failed_slots: Some(3), ..arq(Sharing::OnePacket) };
        let mut script = Script::new(arq, &[6, 1]);
        script.slot(0, 2, true);
        script.slot(1, 2, true);
        // A slot in which a frame succeeds restarts the count of failed slots.
        assert_eq!(script.slot(2, 2, false).0, 2);
        script.slot(3, 2, true);
        script.slot(4, 2, true);
        assert!(script.discarded.is_empty());
        script.slot(5, 2, true);
        assert_eq!(script.discarded.len(), 1);
        assert_eq!(script.queue.backlog().packets, 1);
        assert_eq!(script.slot(6, 2, false), (1, vec![1]));
        assert_eq!(script.queue.eligible(), None);
    }

    #[test]
    fn the_rest_of_a_packet_given_up_is_not_sent() {
        let arq = Arq { max_failed_slots: Some(1), ..arq(Sharing::OnePacket) };
        let mut script = Script::new(arq, &[100, 3]);
        script.slot(0, 8, true);
        assert_eq!(script.discarded[0].id.0, 0);
        assert_eq!(script.slot(1, 8, false), (3, vec![1]));
    }

    #[test]
    fn a_full_buffer_rejects_packets() {
        let arq = Arq { buffer: 1, ..arq(Sharing::OnePacket) };
        let mut queue = Queue::default();
        assert!(queue.push(&arq, packet(0, 1)) && !queue.push(&arq, packet(1, 1)));
    }
}
