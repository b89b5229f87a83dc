//! Eifel: detection of and response to spurious retransmissions.
//!
//! Detection (Ludwig & Katz, *The Eifel algorithm: making TCP robust against spurious retransmissions*, CCR
//! 30(1), 2000; RFC 3522): the ACK of a retransmitted segment shows whether the original or the
//! retransmission triggered it. If it was the original, nothing had been lost. As an alternative to
//! timestamps the paper proposes one bit, which is set on retransmissions and echoed in the ACK; this module
//! uses that bit.
//!
//! Response (RFC 4015): the sender continues with new data instead of going back N. Threshold and window are
//! restored to what was outstanding, without a burst. After a spurious timeout the timer adapts to the
//! round-trip time that exceeded it. Here that is the round-trip time of the original, which is available at
//! once; the RFC takes the first measurement on data sent after the timeout. As in the paper, but not in the
//! RFC, the window is also restored after a spurious fast retransmission.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

/// First retransmission of a loss event, while it is unknown whether it was spurious.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    seq: u64,
    pipe: u64,
    timed_out: bool,
}

/// Values needed for the response to a spurious retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpuriousRetransmission {
    /// Segments outstanding before it, or the slow-start threshold at that time if larger (`pipe_prev`).
    pub pipe: u64,
    /// Round-trip time of the original, if a timeout caused the retransmission.
    pub late: Option<Duration>,
}

/// Eifel detection of one connection.
#[derive(Debug, Default)]
pub struct Eifel {
    /// Number of the first segment in `sent`, which holds the first transmission times of outstanding
    /// segments.
    first: u64,
    sent: VecDeque<Time>,
    suspect: Option<Suspect>,
}

impl Eifel {
    /// Records the first transmission of a segment. Segments must be reported in order.
    pub fn record_sent(&mut self, now: Time) {
        self.sent.push_back(now);
    }

    /// Forgets the segments below `acked`.
    pub fn forget_below(&mut self, acked: u64) {
        let known = acked.saturating_sub(self.first).min(self.sent.len() as u64);
        self.sent.drain(..known as usize);
        self.first += known;
    }

    /// Records that segment `seq` will be retransmitted; `pipe` is the larger of the number of outstanding
    /// segments and the threshold. Of several such events for one segment only the first counts. A
    /// retransmitted SYN does not count: there is no window to restore.
    pub fn suspect(&mut self, seq: u64, pipe: u64, timed_out: bool) {
        if seq > 0 && self.suspect.is_none_or(|suspect| suspect.seq != seq) {
            self.suspect = Some(Suspect { seq, pipe, timed_out });
        }
    }

    /// Processes an ACK for everything below `acked`, which answers a retransmission if
    /// `answers_retransmission`. Returns the retransmission that it shows to be spurious, if any.
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
