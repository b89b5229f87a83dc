//! SDUs put together again from the parts that arrive.

use std::collections::BTreeMap;

use super::Delivered;
use super::sdu_buffer::SduBuffer;
use super::segmentation::Piece;

/// What has arrived of an SDU.
#[derive(Clone, Copy, Debug, Default)]
struct Partial {
    received: u32,
    /// Its size, once its end is there.
    size: Option<u32>,
}

/// SDUs on their way to the user.
#[derive(Debug)]
pub struct Reassembly {
    order: Delivered,
    partial: BTreeMap<u64, Partial>,
    /// Next SDU to deliver, where order is kept.
    next: u64,
}

impl Reassembly {
    /// Nothing yet.
    pub fn new(order: Delivered) -> Self {
        Self { order, partial: BTreeMap::new(), next: 0 }
    }

    /// Takes the contents of a PDU that arrives for the first time.
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

    /// Gives up every SDU before number `kept` that is not complete.
    pub fn give_up_before(&mut self, kept: u64, sdus: &mut SduBuffer) {
        self.next = self.next.max(kept);
        self.partial = self.partial.split_off(&kept);
        sdus.discard(0..kept);
        self.deliver_in_sequence(sdus);
    }

    /// Delivers what is complete and has nothing before it. Packets that the sender dropped before it
    /// had begun them leave no gap: the phone has never heard of them.
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
