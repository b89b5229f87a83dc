//! Eifel: detection of and response to spurious retransmissions.
//!
//! Detection (Ludwig & Katz, *The Eifel algorithm: making TCP robust against spurious
//! retransmissions*, CCR 30(1), 2000; RFC 3522): the ACK of a retransmitted segment shows whether
//! the original or the retransmission triggered it. If the original did, nothing had been lost. The
//! RFC uses timestamps for this. As an alternative the paper proposes one bit, which is set on
//! retransmissions and echoed in the ACK; this module uses that bit.
//!
//! Response (RFC 4015): the sender continues with new data instead of going back N. The slow-start
//! threshold becomes the number of segments outstanding before the retransmission or, if larger,
//! the threshold at that time. The window becomes the number of segments outstanding now plus those
//! just acknowledged, of which at most an initial window counts, so that no burst follows. After a
//! spurious timeout the retransmission timer adapts to the round-trip time that exceeded the
//! timeout. This module uses the round-trip time of the original segment, which is available at
//! once; the RFC waits for the first measurement on data sent after the timeout. As in the paper,
//! but not in the RFC, the window is also restored after a spurious fast retransmission.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

/// The first retransmission after a loss event. It is suspected to be spurious until an ACK shows
/// whether the original or the retransmission arrived.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    seq: u64,
    pipe: u64,
    timed_out: bool,
}

/// Values that the response to a spurious retransmission needs: slow-start threshold to restore and
/// late round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpuriousRetransmission {
    /// Number of segments outstanding before the retransmission, or the slow-start threshold at
    /// that time if larger (`pipe_prev` of RFC 4015).
    pub pipe: u64,
    /// Round-trip time of the original segment if a timeout caused the retransmission, otherwise
    /// `None`.
    pub late: Option<Duration>,
}

/// State of the detection of spurious retransmissions by Eifel, for one connection.
#[derive(Debug, Default)]
pub struct Eifel {
    /// Number of the first segment in `sent`, the list of the first transmission times of
    /// outstanding segments.
    first: u64,
    sent: VecDeque<Time>,
    suspect: Option<Suspect>,
}

impl Eifel {
    /// Records the first transmission of a segment. The caller must report segments in order of
    /// their numbers.
    pub fn record_sent(&mut self, now: Time) {
        self.sent.push_back(now);
    }

    /// Discards the transmission times of segments below `acked`, which are acknowledged.
    pub fn forget_below(&mut self, acked: u64) {
        let known = acked.saturating_sub(self.first).min(self.sent.len() as u64);
        self.sent.drain(..known as usize);
        self.first += known;
    }

    /// Records that segment `seq` will be retransmitted. `pipe` is the larger of the number of
    /// outstanding segments and the slow-start threshold, and `timed_out` is true after a timeout.
    /// If a segment is retransmitted several times, only the first retransmission counts. A
    /// retransmitted SYN does not count, since there is no window to restore.
    pub fn suspect(&mut self, seq: u64, pipe: u64, timed_out: bool) {
        if seq > 0 && self.suspect.is_none_or(|suspect| suspect.seq != seq) {
            self.suspect = Some(Suspect { seq, pipe, timed_out });
        }
    }

    /// Processes an ACK of all segments below `acked`. `answers_retransmission` is true if a
    /// retransmission triggered the ACK. Returns the values for the response if the ACK shows that
    /// the recorded retransmission was spurious, otherwise `None`.
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
