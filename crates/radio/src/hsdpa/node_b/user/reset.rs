//! Reset of MAC-hs at the Node B and in the phone, at a change of cell that loses the Node B's
//! data.

use std::ops::Range;

use super::User;

/// Payload units that were in MAC-hs when it was reset.
#[derive(Debug)]
pub struct Flushed {
    /// Ranges of units, each with a flag that is true if the units are lost and false if they have
    /// arrived.
    pub all: Vec<(Range<u64>, bool)>,
    /// Number of units in the Node B's queue that had not been sent; these units are also in `all`.
    pub queued: u64,
}

impl User {
    /// Resets MAC-hs at the Node B and in the phone. Returns the units that were in the queue, the
    /// HARQ processes and the reordering queue.
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
