use std::collections::BTreeMap;

use super::Delivered;
use super::sdu_buffer::SduBuffer;
use super::segmentation::Piece;

#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    received: u32,
    /// `None` until the last piece is received.
    size: Option<u32>,
}

/// In or out of sequence.
#[derive(Debug)]
pub struct Reassembly {
    order: Delivered,
    partial: BTreeMap<u64, Partial>,
    /// First SDU that is not given up and, in sequence, not delivered.
    next: u64,
}

impl Reassembly {
    pub fn new(order: Delivered) -> Self {
        Self { order, partial: BTreeMap::new(), next: 0 }
    }

    /// Of a new PDU; ignores SDUs that were given up or, in sequence, delivered, and in sequence waits for
    /// earlier SDUs.
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

    /// Even complete ones; in sequence, then delivers those that no longer wait.
    pub fn give_up_before(&mut self, kept: u64, sdus: &mut SduBuffer) {
        self.next = self.next.max(kept);
        self.partial = self.partial.split_off(&kept);
        sdus.discard(0..kept);
        self.deliver_in_sequence(sdus);
    }

    /// An SDU that the sender dropped before sending any part leaves no gap.
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
