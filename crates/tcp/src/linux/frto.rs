//! F-RTO (RFC 5682): tells by the ACKs that follow a timeout whether it was spurious.
//!
//! After the first segment has been sent again, what else was outstanding is held back and new data
//! are sent instead. If the ACKs then deliver what was sent before the timeout, it had only been
//! late. Section 3.1 is followed with SACK, section 2.1 without.
//!
//! Eifel detection (RFC 3522) goes first. It decides on the first ACK, without new data, and knows
//! which transmission was answered; F-RTO needs a second one and only infers it. It is there for
//! connections without timestamps, and for those whose first ACK answers the retransmission although
//! the rest of the window was only late.

use super::loss::Episode;
use super::sender::{Harvest, Sender};

/// New segments that step 2 may send.
const NEW_SEGMENTS: u32 = 2;

/// How far the detection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frto {
    /// Step 2: nothing has been acknowledged since the timeout.
    Waiting,
    /// Step 3: so many new segments may still be sent, and the next ACK decides.
    Probing(u32),
}

/// What an ACK tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Undecided,
    /// New data must be sent to find out.
    Probe,
    Genuine,
    Spurious,
}

impl Frto {
    /// Begins at a timeout (step 1), unless a recovery is under way: its retransmissions would be
    /// taken for originals. Repeated timeouts begin anew.
    pub fn begin(before: &Episode) -> Option<Self> {
        let undecided = matches!(before, Episode::Open | Episode::Loss { frto: Some(Self::Waiting), .. });
        undecided.then_some(Self::Waiting)
    }

    /// Whether lost segments must wait, and if so whether a new one may be sent.
    pub fn may_send_new(self) -> Option<bool> {
        match self {
            Self::Waiting => None,
            Self::Probing(left) => Some(left > 0),
        }
    }

    /// Takes note of a new segment.
    pub fn note_new(&mut self) {
        if let Self::Probing(left) = self {
            *left = left.saturating_sub(1);
        }
    }

    /// Judges an ACK. `una` is what is acknowledged after it, `until` what had been sent at the
    /// timeout (`RecoveryPoint`).
    fn judge(self, harvest: &Harvest, una: u64, until: u64, sack: bool) -> Verdict {
        match self {
            Self::Waiting if harvest.acked == 0 && (sack || !harvest.duplicate) => Verdict::Undecided,
            Self::Waiting if harvest.acked == 0 || una >= until => Verdict::Genuine,
            Self::Waiting => Verdict::Probe,
            Self::Probing(_) if !harvest.duplicate && harvest.acked == 0 => Verdict::Undecided,
            Self::Probing(_) if !sack && harvest.acked > 0 => Verdict::Spurious,
            Self::Probing(_) if harvest.highest > until => Verdict::Genuine,
            Self::Probing(_) if harvest.original => Verdict::Spurious,
            Self::Probing(_) => Verdict::Genuine,
        }
    }
}

impl Sender {
    /// Leads an ACK through the detection; returns whether the timeout was spurious.
    pub(super) fn is_spurious_timeout(&mut self, harvest: &Harvest) -> bool {
        let Episode::Loss { until, frto: Some(frto) } = self.episode else {
            return false;
        };
        let verdict = frto.judge(harvest, self.board.una(), until, self.params.sack);
        let can_probe = !self.board.is_exhausted() && self.receiver_allows(self.board.end());
        let frto = match verdict {
            Verdict::Undecided => Some(frto),
            Verdict::Probe if can_probe => Some(Frto::Probing(NEW_SEGMENTS)),
            _ => None,
        };
        self.episode = Episode::Loss { until, frto };
        verdict == Verdict::Spurious
    }

    /// The detection at a timeout.
    pub(super) fn begin_frto(&self) -> Option<Frto> {
        if self.params.frto { Frto::begin(&self.episode) } else { None }
    }
}
