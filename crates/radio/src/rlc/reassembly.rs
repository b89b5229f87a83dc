//! Reassembly of SDUs at the phone from the pieces that arrive in PDUs.

use std::collections::BTreeMap;

use super::Delivered;
use super::sdu_buffer::SduBuffer;
use super::segmentation::Piece;

/// SDU of which some pieces have been received.
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    received: u32,
    /// Size of the SDU in bytes; `None` until its last piece is received.
    size: Option<u32>,
}

/// Reassembly of one user's SDUs at the phone, in or out of sequence.
#[derive(Debug)]
pub struct Reassembly {
    order: Delivered,
    partial: BTreeMap<u64, Partial>,
    /// Number of the first SDU that is not given up and, if SDUs are delivered in sequence, not
    /// delivered.
    next: u64,
}

impl Reassembly {
    /// Creates the state before any piece has been received.
    pub fn new(order: Delivered) -> Self {
        Self { order, partial: BTreeMap::new(), next: 0 }
    }

    /// Processes the pieces of SDUs in a PDU that has not been received before. Ignores pieces of SDUs
    /// that were given up or, in sequence, delivered. Delivers the SDUs that are then complete. If SDUs
    /// are delivered in sequence, a complete SDU waits until each earlier SDU is delivered or dropped.
    pub fn take(&mut self, pieces: &[Piece], sdus: &mut SduBuffer) {
        for piece in pieces.iter().filter(|piece| piece.sdu >= self.next) {
            let partial = self.partial.entry(piece.sdu).or_default();
            partial.received += piece.bytes;
            partial.size = partial.size.or(piece.last.then_some(piece.offset + piece.bytes));
            if self.order == Delivered::OutOfSequence && partial.size == Some(partial.received) {
                self.partial.remove(&piece.sdu);
                sdus.deliver(piece.sdu);
            }
        }
        self.deliver_in_sequence(sdus);
    }

    /// Gives up all SDUs before number `kept` that are not delivered, even complete ones, and drops
    /// their packets. If SDUs are delivered in sequence, then delivers complete SDUs that no longer
    /// have to wait for earlier SDUs.
    pub fn give_up_before(&mut self, kept: u64, sdus: &mut SduBuffer) {
        self.next = self.next.max(kept);
        self.partial = self.partial.split_off(&kept);
        sdus.discard(0..kept);
        self.deliver_in_sequence(sdus);
    }

    /// Delivers complete SDUs in order of their numbers, if SDUs are delivered in sequence. An SDU that
    /// the sender dropped before sending any part of it leaves no gap.
    fn deliver_in_sequence(&mut self, sdus: &mut SduBuffer) {
        while self.order == Delivered::InSequence
            && let Some(entry) = self.partial.first_entry()
            && entry.get().size == Some(entry.get().received)
            && (self.next..*entry.key()).all(|number| sdus.is_gone(number))
        {
            let (number, _) = entry.remove_entry();
            sdus.deliver(number);
            self.next = number + 1;
        }
    }
}
