//! A segment that was sent and not yet acknowledged.

use nodeb_base::units::Time;

use crate::linux::rate::Snapshot;

/// An outstanding segment. It fits into a cache line.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's tags")]
pub struct SentSegment {
    pub(super) first: u64,
    pub(super) length: u32,
    /// Whether it was delivered beyond a gap (`TCPCB_SACKED_ACKED`).
    pub sacked: bool,
    /// Whether it was given up and not reported delivered since (`TCPCB_LOST`).
    pub lost: bool,
    /// Whether its repair is in flight (`TCPCB_SACKED_RETRANS`).
    pub repaired: bool,
    /// Whether it was sent more than once (`TCPCB_EVER_RETRANS`).
    pub retransmitted: bool,
    /// Time of its last transmission.
    pub sent: Time,
    /// What it remembers of that moment.
    pub snapshot: Snapshot,
}

impl SentSegment {
    /// Returns the number of bytes of payload.
    pub fn bytes(&self) -> u64 {
        u64::from(self.length)
    }

    /// Returns one past the last byte.
    pub fn end(&self) -> u64 {
        self.first + self.bytes()
    }

    /// Returns the first byte, and one past the last.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.end())
    }

    /// Returns true if it is lost and has not been sent again.
    pub(super) fn awaits_repair(&self) -> bool {
        self.lost && !self.repaired
    }
}

/// What a D-SACK says of segments that are outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// Number of repeated segments that it covers and that end above the byte asked about.
    pub repeated: u64,
    /// First byte of the lowest that was repeated although it had been reported delivered.
    pub needless: Option<u64>,
}
