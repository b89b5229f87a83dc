//! Outstanding segments, as the scoreboard stores them.

use nodeb_base::units::Time;

use crate::linux::rate::Snapshot;

/// Outstanding segment with the tags of Linux. Its size must not exceed a cache line of 64 bytes.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's tags")]
pub struct SentSegment {
    pub(super) first: u64,
    pub(super) length: u32,
    /// Whether the segment was delivered beyond a gap (`TCPCB_SACKED_ACKED`).
    pub sacked: bool,
    /// Whether the segment was marked lost and not reported delivered since (`TCPCB_LOST`).
    pub lost: bool,
    /// Whether a retransmission of the segment is in flight (`TCPCB_SACKED_RETRANS`).
    pub repaired: bool,
    /// Whether the segment was ever sent again (`TCPCB_EVER_RETRANS`).
    pub retransmitted: bool,
    /// Time at which the segment was last sent.
    pub sent: Time,
    /// State of the connection at the time at which the segment was last sent.
    pub snapshot: Snapshot,
}

impl SentSegment {
    /// Returns the number of payload bytes in the segment.
    pub fn bytes(&self) -> u64 {
        u64::from(self.length)
    }

    /// Returns the number of the segment's last byte, plus 1.
    pub fn end(&self) -> u64 {
        self.first + self.bytes()
    }

    /// Returns the first byte of the segment, and its last byte plus 1.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.end())
    }

    /// Returns true if the segment is marked lost and no retransmission of it is in flight.
    pub(super) fn awaits_repair(&self) -> bool {
        self.lost && !self.repaired
    }
}

/// Effect of a D-SACK on the outstanding segments that it covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// Number of retransmitted segments that the D-SACK covers and that end above the byte `marker`
    /// passed to [`Scoreboard::sack_duplicate`](super::Scoreboard::sack_duplicate).
    pub repeated: u64,
    /// First byte of the lowest segment that was retransmitted and had been reported delivered
    /// before the D-SACK; `None` if there is none.
    pub needless: Option<u64>,
}
