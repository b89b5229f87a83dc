//! RFC 2018 as in ns-2's `Sack1` (Fall & Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP",
//! 1996): in recovery a duplicate ACK reduces the pipe by one segment, a partial ACK by two; while it is
//! below the window, the lowest hole not retransmitted yet or new data are sent. A lost retransmission is
//! only repaired after a timeout.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::Time;

use super::{Ack, Recovery};
use crate::classic::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::Segment;

params! {
    /// SACK with ns-2's pipe algorithm has no parameters.
    pub struct Sack {}
}

impl Checked for Sack {}

#[derive(Debug, Default)]
struct Scoreboard {
    /// (first, last + 1), in ascending order, with gaps between them.
    runs: Vec<(u64, u64)>,
    /// All holes below it have been retransmitted.
    retransmitted: u64,
}

impl Scoreboard {
    /// True if at least one segment is new.
    fn update(&mut self, ack: Ack<'_>) -> bool {
        let mut changed = false;
        for (first, end) in ack.sack.of(ack.number) {
            changed |= self.add(first, end);
        }
        changed
    }

    /// `first` to `end - 1`; true if any is new.
    fn add(&mut self, first: u64, end: u64) -> bool {
        let from = self.runs.partition_point(|run| run.1 < first);
        let to = self.runs.partition_point(|run| run.0 <= end);
        let touched = &self.runs[from..to];
        if touched.iter().any(|run| run.0 <= first && end <= run.1) {
            return false;
        }
        let first = touched.first().map_or(first, |run| run.0.min(first));
        let end = touched.last().map_or(end, |run| run.1.max(end));
        self.runs.splice(from..to, [(first, end)]);
        true
    }

    fn forget_below(&mut self, una: u64) {
        self.runs.retain(|run| run.1 > una);
    }

    fn clear(&mut self) {
        self.runs.clear();
        self.retransmitted = 0;
    }

    /// From `una` on, below the highest reported segment.
    fn next_hole(&self, una: u64) -> Option<u64> {
        let mut hole = una.max(self.retransmitted);
        for &(first, end) in &self.runs {
            if hole < first {
                return Some(hole);
            }
            hole = hole.max(end);
        }
        None
    }
}

#[derive(Debug, Default)]
pub struct SackRecovery {
    scoreboard: Scoreboard,
    /// Segments in the network; `None` outside of fast recovery.
    pipe: Option<i64>,
    /// Also while idle, since the last ACK of new data; then duplicate ACKs are ignored.
    timed_out: bool,
}

impl SackRecovery {
    fn on_ack_in_recovery(
        &mut self,
        tx: &mut Transmission,
        now: Time,
        ack: Ack<'_>,
        pipe: i64,
        out: &mut Vec<Segment>,
    ) -> Option<u64> {
        let acked = ack.acked();
        let mut pipe = pipe - 1;
        if acked >= tx.recover {
            tx.advance(now, acked);
            tx.recover = 1;
            self.scoreboard.clear();
            self.pipe = None;
            return Some(u64::MAX);
        }
        if acked > tx.una {
            tx.advance_in_sack_recovery(now, acked);
            self.scoreboard.forget_below(acked);
            pipe -= 1;
        }
        self.scoreboard.update(ack);
        self.pipe = Some(self.fill_pipe(tx, now, pipe, out));
        None
    }

    /// Holes, then new data, while the pipe is below the window; the pipe afterwards.
    fn fill_pipe(&mut self, tx: &mut Transmission, now: Time, mut pipe: i64, out: &mut Vec<Segment>) -> i64 {
        let limit = tx.una + tx.max_window();
        while pipe < tx.allowed() as i64 {
            if let Some(hole) = self.scoreboard.next_hole(tx.una) {
                if hole >= limit {
                    break;
                }
                self.retransmit(tx, now, hole, out);
            } else if tx.next < limit.min(tx.data_end()) {
                tx.next += 1;
                tx.send(now, tx.next - 1, out);
            } else {
                break;
            }
            pipe += 1;
        }
        pipe
    }

    fn retransmit(&mut self, tx: &mut Transmission, now: Time, hole: u64, out: &mut Vec<Segment>) {
        self.scoreboard.retransmitted = hole + 1;
        tx.send(now, hole, out);
        tx.next = tx.next.max(hole + 1);
    }

    fn on_duplicate(&mut self, tx: &mut Transmission, now: Time, ack: Ack<'_>, out: &mut Vec<Segment>) {
        if self.timed_out || !self.scoreboard.update(ack) {
            return;
        }
        tx.dupacks += 1;
        if tx.may_retransmit_fast() {
            self.pipe = Some((tx.end - tx.una).cast_signed() - i64::from(DUPACK_THRESHOLD));
            self.scoreboard.retransmitted = tx.una + 1;
            tx.halve(now, 0);
            tx.send(now, tx.una, out);
        } else if tx.dupacks < DUPACK_THRESHOLD {
            tx.send_beyond_window(now, out);
        }
    }
}

impl Recovery for SackRecovery {
    fn on_ack(
        &mut self,
        tx: &mut Transmission,
        now: Time,
        ack: Ack<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<u64> {
        if let Some(pipe) = self.pipe {
            return self.on_ack_in_recovery(tx, now, ack, pipe, out);
        }
        if ack.acked() > tx.una {
            tx.advance(now, ack.acked());
            tx.open_window();
            self.timed_out = false;
            self.scoreboard.clear();
        } else if ack.acked() == tx.una {
            self.on_duplicate(tx, now, ack, out);
        }
        (tx.dupacks == 0).then_some(u64::MAX)
    }

    /// ns-2's `Sack1TcpAgent::send_much`: in fast recovery holes and new data while the pipe is below the
    /// window; outside, no new data while there is a hole, which is retransmitted only after a timeout or
    /// after Eifel has ended a fast recovery, until the next completed one.
    fn on_write(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Segment>) -> Option<u64> {
        if let Some(pipe) = self.pipe {
            self.pipe = Some(self.fill_pipe(tx, now, pipe, out));
            return None;
        }
        while let Some(hole) = self.scoreboard.next_hole(tx.una) {
            let is_after_loss = tx.recover > 1;
            if !is_after_loss || tx.next >= tx.una + tx.window(0) {
                return None;
            }
            self.retransmit(tx, now, hole, out);
        }
        Some(u64::MAX)
    }

    fn abandon(&mut self, tx: &mut Transmission) {
        tx.dupacks = 0;
        self.pipe = None;
        self.timed_out = true;
        self.scoreboard.clear();
    }

    fn is_repairing(&self, _: &Transmission) -> bool {
        self.pipe.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn scoreboard_agrees_with_set(
            blocks in prop::collection::vec((1u64..60, 1u64..8), 0..30),
            una in 1u64..20,
            retransmitted in 0u64..40,
        ) {
            let mut board = Scoreboard { retransmitted, ..Scoreboard::default() };
            let mut set = BTreeSet::new();
            for (first, length) in blocks {
                let before = set.len();
                set.extend(first..first + length);
                prop_assert_eq!(board.add(first, first + length), set.len() != before);
            }
            let highest = set.last().copied().unwrap_or(0);
            let hole = (una.max(retransmitted)..highest).find(|segment| !set.contains(segment));
            prop_assert_eq!(board.next_hole(una), hole);
        }
    }
}
