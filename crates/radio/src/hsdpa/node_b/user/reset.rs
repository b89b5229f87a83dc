//! The reset of MAC-hs.

use std::ops::Range;

use super::User;

/// What a reset of MAC-hs leaves.
#[derive(Debug)]
pub struct Flushed {
    /// Units, and whether they are lost; otherwise they have arrived.
    pub all: Vec<(Range<u64>, bool)>,
    /// Of these the ones that had not been sent.
    pub queued: u64,
}

impl User {
    /// MAC-hs is reset, here and in the phone; what becomes of what it held.
    pub fn flush(&mut self) -> Flushed {
        let queued = std::mem::take(&mut self.queue);
        let arrived = self.reordering.reset().into_iter().map(|units| (units, false));
        let lost = self.processes.flush().filter(|block| !block.decoded);
        let on_air = lost.map(|block| (block.units, true));
        let mut all: Vec<_> = arrived.chain(on_air).collect();
        if queued > 0 {
            all.push((self.packets.send(queued), true));
        }
        Flushed { all, queued }
    }
}
