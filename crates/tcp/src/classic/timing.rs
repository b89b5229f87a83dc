//! Which segments are timed, to measure round trips.
//!
//! Only segments sent once tell a round trip (Karn & Partridge, SIGCOMM 1987), and none does that an ACK covers
//! together with one sent again: it may have lain at the receiver until that one arrived, a timeout long. As a
//! round trip it would make the next timeout longer, which the next loss would measure again, without end.

use std::collections::VecDeque;

use nodeb_base::units::Time;

use super::rtt::EstimatorSpec;

/// When the segments under way were sent, as far as they are timed.
#[derive(Debug)]
pub enum Timing {
    /// One at a time, as ns-2 does without timestamps: the segment, and the last one timed.
    One {
        /// The segment being timed and when it was sent.
        timed: Option<(u64, Time)>,
        /// The last segment timed.
        last: Option<u64>,
    },
    /// Every segment, from `first` on; `None` where one was sent again.
    Each {
        /// The first segment in `sent`.
        first: u64,
        /// When each was sent.
        sent: VecDeque<Option<Time>>,
    },
}

impl Timing {
    /// What the estimator wants timed.
    pub fn new(estimator: &EstimatorSpec) -> Self {
        match estimator {
            EstimatorSpec::Ticks(_) => Self::One { timed: None, last: None },
            EstimatorSpec::Smoothed(_) => Self::Each { first: 0, sent: VecDeque::new() },
        }
    }

    /// A segment is sent, for the first time or `again`. First transmissions come in order.
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

    /// Everything below `acked` is acknowledged: the segment timed that this tells the round trip of, and
    /// when it was sent.
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

    /// A loss: the one segment being timed may wait for a repetition before it.
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
    fn one_segment_at_a_time() {
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
    fn every_segment_that_was_sent_once() {
        let mut timing = each();
        (0..5).for_each(|seq| timing.send(Time(10 + seq), seq, false));
        assert_eq!(timing.acknowledge(1), Some((0, Time(10))));
        timing.send(Time(20), 1, true);
        assert_eq!(timing.acknowledge(2), None);
        // One ACK for several: the newest counts.
        assert_eq!(timing.acknowledge(4), Some((3, Time(13))));
        timing.send(Time(30), 0, true);
        timing.mark_loss();
        assert_eq!(timing.acknowledge(5), Some((4, Time(14))));
        assert_eq!(timing.acknowledge(9), None);
    }

    /// 0 is lost, 1 and 2 wait for its repetition: their ACK tells how long that took, not a round trip.
    #[test]
    fn what_waited_for_a_repetition_tells_nothing() {
        let mut timing = each();
        (0..4).for_each(|seq| timing.send(Time(10 + seq), seq, false));
        timing.send(Time(500), 0, true);
        assert_eq!(timing.acknowledge(3), None);
        // The next ACK was brought by its own segment.
        assert_eq!(timing.acknowledge(4), Some((3, Time(13))));
    }
}
