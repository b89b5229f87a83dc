use nodeb_base::units::Time;

use crate::linux::rate::Snapshot;

/// At most a cache line of 64 bytes, with the tags of Linux.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's tags")]
pub struct SentSegment {
    pub(super) first: u64,
    pub(super) length: u32,
    /// `TCPCB_SACKED_ACKED`.
    pub sacked: bool,
    /// `TCPCB_LOST`.
    pub lost: bool,
    /// `TCPCB_SACKED_RETRANS`.
    pub repaired: bool,
    /// `TCPCB_EVER_RETRANS`.
    pub retransmitted: bool,
    /// Last transmission.
    pub sent: Time,
    /// At the last transmission.
    pub snapshot: Snapshot,
}

impl SentSegment {
    pub fn bytes(&self) -> u64 {
        u64::from(self.length)
    }

    /// Last byte plus 1.
    pub fn end(&self) -> u64 {
        self.first + self.bytes()
    }

    /// First byte, and last byte plus 1.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.end())
    }

    /// Marked lost without a retransmission in flight.
    pub(super) fn awaits_repair(&self) -> bool {
        self.lost && !self.repaired
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// Retransmitted segments above `marker` of
    /// [`Scoreboard::sack_duplicate`](super::Scoreboard::sack_duplicate).
    pub repeated: u64,
    /// First byte of the lowest retransmitted segment that had been reported delivered before.
    pub needless: Option<u64>,
}
