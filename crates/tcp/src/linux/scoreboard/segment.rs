//! Outstanding segments.

use nodeb_base::units::Time;

use crate::linux::rate::Snapshot;

/// Outstanding segment. It fits into a cache line.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's tags")]
pub struct SentSegment {
    pub(super) first: u64,
    pub(super) length: u32,
    /// Whether it was delivered beyond a gap (`TCPCB_SACKED_ACKED`).
    pub sacked: bool,
    /// Whether it was marked lost and not reported delivered since (`TCPCB_LOST`).
    pub lost: bool,
    /// Whether its retransmission is in flight (`TCPCB_SACKED_RETRANS`).
    pub repaired: bool,
    /// Whether it was sent more than once (`TCPCB_EVER_RETRANS`).
    pub retransmitted: bool,
    /// Time of its last transmission.
    pub sent: Time,
    /// State of the connection at that time.
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

    /// Returns true if it is lost and its retransmission is not in flight.
    pub(super) fn awaits_repair(&self) -> bool {
        self.lost && !self.repaired
    }
}

/// Effect of a D-SACK on outstanding segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// Number of retransmitted segments that it covers and that end above the given byte.
    pub repeated: u64,
    /// First byte of the lowest segment that was retransmitted although it had been reported delivered.
    pub needless: Option<u64>,
}
