//! Eifel: telling retransmissions that were needed from those that were not.
//!
//! Detection (Ludwig & Katz, *The Eifel algorithm: making TCP robust against spurious retransmissions*, CCR
//! 30(1), 2000; RFC 3522): the ACK of a segment that was sent again says whether the original or the
//! repetition has caused it. If it was the original, nothing had been lost. The mark that the paper proposes
//! beside timestamps is one bit on a repetition, which the ACK echoes.
//!
//! Response (RFC 4015): new data go on instead of go-back-N, threshold and window are as large as what was
//! outstanding, without a burst, and after a timeout the timer learns the round trip that surprised it: here that
//! of the original, which is known at once, where the RFC takes the first sample from data that had not been sent
//! at the timeout. The paper, and not the RFC, restores the window after a spurious fast retransmission too.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

/// The first retransmission of a loss event, while nobody knows whether it was needed.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    seq: u64,
    pipe: u64,
    timed_out: bool,
}

/// A retransmission that was not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Segments outstanding before it, or the threshold then if that was larger (`pipe_prev`).
    pub pipe: u64,
    /// The round trip of the original, where a timeout was too short for it.
    pub late: Option<Duration>,
}

/// The detection of one connection.
#[derive(Debug, Default)]
pub struct Eifel {
    /// When the outstanding segments were sent for the first time, from `first` on.
    first: u64,
    sent: VecDeque<Time>,
    suspect: Option<Suspect>,
}

impl Eifel {
    /// A segment is sent for the first time; they come in order.
    pub fn note_sent(&mut self, now: Time) {
        self.sent.push_back(now);
    }

    /// Everything below `acked` is acknowledged.
    pub fn forget_below(&mut self, acked: u64) {
        let known = acked.saturating_sub(self.first).min(self.sent.len() as u64);
        self.sent.drain(..known as usize);
        self.first += known;
    }

    /// Segment `seq` is about to be sent again, with `pipe` segments outstanding or as threshold. Of several
    /// such events for one segment the first counts. A repeated SYN is none: it finds no window to restore.
    pub fn suspect(&mut self, seq: u64, pipe: u64, timed_out: bool) {
        if seq > 0 && self.suspect.is_none_or(|suspect| suspect.seq != seq) {
            self.suspect = Some(Suspect { seq, pipe, timed_out });
        }
    }

    /// An ACK for everything below `acked` answers a repeated segment or not: what turns out to have been
    /// a mistake.
    pub fn judge(&mut self, now: Time, acked: u64, answers_retransmission: bool) -> Option<Mistake> {
        let Suspect { seq, pipe, timed_out } = self.suspect.take_if(|suspect| acked > suspect.seq)?;
        if answers_retransmission {
            return None;
        }
        let sent = self.sent.get(seq.checked_sub(self.first)? as usize)?;
        Some(Mistake { pipe, late: timed_out.then(|| now.since(*sent)) })
    }
}

#[cfg(test)]
mod tests;
