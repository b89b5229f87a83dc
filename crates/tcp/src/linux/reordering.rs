//! Largest distance in segments by which one has overtaken another, as in Linux 6
//! (`tcp_check_sack_reordering`, `tcp_check_reno_reordering`).

use super::DUP_THRESH;

/// `tcp_max_reordering`.
const MAX_DEGREE: u64 = 300;

#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    /// 3 to 300: segments beyond a gap, or duplicate ACKs, that indicate a loss.
    degree: u32,
    /// `reord_seen`.
    seen: bool,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { degree: DUP_THRESH, seen: false }
    }
}

impl Reordering {
    pub fn degree(self) -> u32 {
        self.degree
    }

    pub fn is_seen(self) -> bool {
        self.seen
    }

    /// Above its initial value any delivery may open the window (`tcp_may_raise_cwnd`).
    pub fn is_high(self) -> bool {
        self.degree > DUP_THRESH
    }

    /// The first transmission of `late` came after data up to `fack`, at most 300 segments.
    pub fn record_late(&mut self, late: u64, fack: u64, mss: u64) {
        if late < fack {
            let distance = fack - late;
            if distance > u64::from(self.degree) * mss {
                self.set_degree(distance.div_ceil(mss));
            }
            self.seen = true;
        }
    }

    /// More duplicate ACKs than `outstanding` segments can cause.
    pub fn record_duplicates(&mut self, outstanding: u64) {
        self.set_degree(outstanding);
        self.seen = true;
    }

    /// `tcp_enter_loss`: back to 3 if at least three segments were reported by SACK, as the degree was too
    /// high to detect the loss.
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

    /// `tcp_check_sack_reordering`: from the late byte to the highest delivered, rounded up.
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
