//! Only segments sent once give a round-trip time (Karn & Partridge, SIGCOMM 1987). An ACK that also covers a
//! retransmission gives none: others may have waited for it as long as a timeout, which would lengthen
//! timeouts without end. If one segment is timed at a time, each loss event discards its timing, as in ns-2.

use std::collections::VecDeque;

use nodeb_base::units::Time;

use super::rtt::EstimatorSpec;

#[derive(Debug)]
pub enum Timing {
    /// As in ns-2 without timestamps.
    One {
        timed: Option<(u64, Time)>,
        /// So that no segment is timed twice.
        last: Option<u64>,
    },
    /// Except retransmitted ones.
    Each {
        /// First outstanding segment.
        first: u64,
        /// From `first` on; `None` if retransmitted.
        sent: VecDeque<Option<Time>>,
    },
}

impl Timing {
    /// One at a time for `ticks`, all for `smoothed`.
    pub fn new(estimator: &EstimatorSpec) -> Self {
        match estimator {
            EstimatorSpec::Ticks(_) => Self::One { timed: None, last: None },
            EstimatorSpec::Smoothed(_) => Self::Each { first: 0, sent: VecDeque::new() },
        }
    }

    /// First transmissions in order.
    pub fn send(&mut self, now: Time, seq: u64, again: bool) {
        match self {
            Self::One { timed, last } => {
                if !again && timed.is_none() && last.is_none_or(|last| seq > last) {
                    *timed = Some((seq, now));
                    *last = Some(seq);
                }
            }
            Self::Each { sent, .. } if !again => sent.push_back(Some(now)),
            Self::Each { first, sent } => {
                if let Some(at) = seq.checked_sub(*first).and_then(|at| sent.get_mut(at as usize)) {
                    *at = None;
                }
            }
        }
    }

    /// Segment whose round-trip time ends with this ACK, and its transmission time.
    pub fn acknowledge(&mut self, acked: u64) -> Option<(u64, Time)> {
        match self {
            Self::One { timed, .. } => timed.take_if(|(seq, _)| acked > *seq),
            Self::Each { first, sent } => {
                let (mut newest, mut waited) = (None, false);
                while *first < acked
                    && let Some(at) = sent.pop_front()
                {
                    newest = at.map(|at| (*first, at));
                    waited |= at.is_none();
                    *first += 1;
                }
                newest.filter(|_| !waited)
            }
        }
    }

    /// A single timing is discarded, since its segment may wait for the retransmission of an earlier one.
    pub fn mark_loss(&mut self) {
        if let Self::One { timed, .. } = self {
            *timed = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rtt::Smoothed;
    use super::*;

    fn each() -> Timing {
        Timing::new(&EstimatorSpec::Smoothed(Smoothed::default()))
    }

    #[test]
    fn ticks_estimator_times_one_segment_at_a_time() {
        let mut timing = Timing::new(&EstimatorSpec::default());
        timing.send(Time(1), 0, false);
        timing.send(Time(2), 1, false);
        assert_eq!(timing.acknowledge(2), Some((0, Time(1))));
        assert_eq!(timing.acknowledge(2), None);
        timing.send(Time(3), 2, false);
        timing.mark_loss();
        assert_eq!(timing.acknowledge(3), None);
    }

    #[test]
    fn smoothed_estimator_times_segments_sent_once() {
        let mut timing = each();
        (0..5).for_each(|seq| timing.send(Time(10 + seq), seq, false));
        assert_eq!(timing.acknowledge(1), Some((0, Time(10))));
        timing.send(Time(20), 1, true);
        assert_eq!(timing.acknowledge(2), None);
        // If an ACK covers several segments, the newest one gives the round-trip time.
        assert_eq!(timing.acknowledge(4), Some((3, Time(13))));
        timing.send(Time(30), 0, true);
        timing.mark_loss();
        assert_eq!(timing.acknowledge(5), Some((4, Time(14))));
        assert_eq!(timing.acknowledge(9), None);
    }

    /// Segments 1 and 2 wait for the retransmission of 0.
    #[test]
    fn segments_waiting_for_retransmission_are_not_timed() {
        let mut timing = each();
        (0..4).for_each(|seq| timing.send(Time(10 + seq), seq, false));
        timing.send(Time(500), 0, true);
        assert_eq!(timing.acknowledge(3), None);
        // The next ACK was triggered by the only segment that it acknowledges, so it gives a
        // round-trip time.
        assert_eq!(timing.acknowledge(4), Some((3, Time(13))));
    }
}
