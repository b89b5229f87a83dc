//! Degree of reordering on the path: the largest distance in segments by which one segment has
//! overtaken another. It is measured as in Linux 6 (`tcp_check_sack_reordering`,
//! `tcp_check_reno_reordering`).

use super::DUP_THRESH;

/// Largest degree of reordering, in segments (`tcp_max_reordering`).
const MAX_DEGREE: u64 = 300;

/// Reordering that a connection has observed on its path.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    /// Degree of reordering, initially 3 and at most 300: the number of segments delivered beyond a
    /// gap, or of duplicate ACKs without SACK, that indicates a loss.
    degree: u32,
    /// Whether reordering has been observed since the start of the connection (`reord_seen`).
    seen: bool,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { degree: DUP_THRESH, seen: false }
    }
}

impl Reordering {
    /// Returns the degree of reordering: the number of segments delivered beyond a gap, or of
    /// duplicate ACKs without SACK, that indicates a loss.
    pub fn degree(self) -> u32 {
        self.degree
    }

    /// Returns true if reordering has been observed since the start of the connection.
    pub fn is_seen(self) -> bool {
        self.seen
    }

    /// Returns true if the degree exceeds its initial value. In this case any delivery may open the
    /// congestion window, and not only a delivery in order (`tcp_may_raise_cwnd`).
    pub fn is_high(self) -> bool {
        self.degree > DUP_THRESH
    }

    /// Records that the first transmission of the byte `late` was delivered after data up to the
    /// byte `fack`. The degree grows to the distance of the two bytes in segments of `mss` bytes, at
    /// most to 300. Has no effect if `late` is not below `fack`.
    pub fn record_late(&mut self, late: u64, fack: u64, mss: u64) {
        if late < fack {
            let distance = fack - late;
            if distance > u64::from(self.degree) * mss {
                self.set_degree(distance.div_ceil(mss));
            }
            self.seen = true;
        }
    }

    /// Records that more duplicate ACKs arrived than `outstanding` segments can have caused, so a
    /// segment was reordered. The degree becomes `outstanding`, at most 300.
    pub fn record_duplicates(&mut self, outstanding: u64) {
        self.set_degree(outstanding);
        self.seen = true;
    }

    /// Reduces the degree to 3 after a timeout if at least three segments had been reported by
    /// SACK. In this case the degree was too high to detect the loss before the timeout
    /// (`tcp_enter_loss`).
    pub fn on_timeout(&mut self, sacked: u32) {
        if sacked >= DUP_THRESH {
            self.degree = self.degree.min(DUP_THRESH);
        }
    }

    fn set_degree(&mut self, segments: u64) {
        self.degree = segments.min(MAX_DEGREE) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 100;

    /// By `tcp_check_sack_reordering` the degree is the distance from the late byte to the highest
    /// byte delivered. It is counted in segments and rounded up.
    #[test]
    fn degree_is_largest_distance() {
        let mut path = Reordering::default();
        let mut after = |late, fack| {
            path.record_late(late, fack, MSS);
            (path.degree(), path.is_seen(), path.is_high())
        };
        assert_eq!(after(300, 300), (3, false, false), "in order");
        assert_eq!(after(0, 300), (3, true, false));
        assert_eq!(after(0, 301), (4, true, true));
        assert_eq!(after(0, 1_250), (13, true, true));
        assert_eq!(after(500, 1_000), (13, true, true));
        assert_eq!(after(0, 1_000_000), (300, true, true));
    }

    #[test]
    fn timeout_with_sacked_segments_resets_degree() {
        let mut path = Reordering::default();
        path.record_late(0, 900, MSS);
        path.on_timeout(2);
        assert_eq!(path.degree(), 9);
        path.on_timeout(3);
        assert_eq!((path.degree(), path.is_seen()), (3, true));
    }
}
