//! Detection (Ludwig & Katz, *The Eifel algorithm: making TCP robust against spurious retransmissions*, CCR
//! 30(1), 2000; RFC 3522): the ACK of a retransmitted segment shows whether the original triggered it, here
//! by one bit that is set on retransmissions and echoed (the RFC uses timestamps). Response (RFC 4015): new
//! data instead of going back N; the threshold becomes the larger of itself and the segments outstanding
//! before, the window those outstanding now plus those just acknowledged, at most an initial window. The
//! timer adapts to the round-trip time of the original segment, where the RFC waits for the first measurement
//! on later data; as in the paper, but not in the RFC, the window is also restored after a spurious fast
//! retransmission.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

/// First retransmission after a loss event, suspected until an ACK shows which copy arrived.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    seq: u64,
    pipe: u64,
    timed_out: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpuriousRetransmission {
    /// Segments outstanding before, or the threshold if larger (`pipe_prev` of RFC 4015).
    pub pipe: u64,
    /// Of the original segment, after a timeout.
    pub late: Option<Duration>,
}

#[derive(Debug, Default)]
pub struct Eifel {
    /// First segment in `sent`, the first transmission times of outstanding segments.
    first: u64,
    sent: VecDeque<Time>,
    suspect: Option<Suspect>,
}

impl Eifel {
    /// In order of their numbers.
    pub fn record_sent(&mut self, now: Time) {
        self.sent.push_back(now);
    }

    pub fn forget_below(&mut self, acked: u64) {
        let known = acked.saturating_sub(self.first).min(self.sent.len() as u64);
        self.sent.drain(..known as usize);
        self.first += known;
    }

    /// `pipe` is the larger of outstanding segments and threshold. Only the first retransmission of a segment
    /// counts, and not that of a SYN, as there is no window to restore.
    pub fn suspect(&mut self, seq: u64, pipe: u64, timed_out: bool) {
        if seq > 0 && self.suspect.is_none_or(|suspect| suspect.seq != seq) {
            self.suspect = Some(Suspect { seq, pipe, timed_out });
        }
    }

    /// `None` unless the ACK shows that the recorded retransmission was spurious.
    pub fn detect(
        &mut self,
        now: Time,
        acked: u64,
        answers_retransmission: bool,
    ) -> Option<SpuriousRetransmission> {
        let Suspect { seq, pipe, timed_out } = self.suspect.take_if(|suspect| acked > suspect.seq)?;
        if answers_retransmission {
            return None;
        }
        let sent = self.sent.get(seq.checked_sub(self.first)? as usize)?;
        Some(SpuriousRetransmission { pipe, late: timed_out.then(|| now.since(*sent)) })
    }
}

#[cfg(test)]
mod tests;
