//! As in ns-2 (RFC 2582, today RFC 6582; `tcp-newreno.cc` of ns-2.35). Since May 2003 only the first partial
//! ACK restarts the timer ("impatient" instead of "slow-but-steady"), and a partial ACK deflates the window
//! by less; since July 2003 duplicate ACKs after a timeout no longer inflate it. Both rules are here.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::Time;

use super::{Ack, Cumulative, Recovery, classify, inflated, limit_after_ack};
use crate::classic::era::{self, Era};
use crate::classic::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::Segment;

/// Per ACK from the third duplicate on, besides a retransmission (ns-2 `tcp-newreno.cc`).
const RECOVERY_BURST: u64 = 2;

params! {
    /// Parameters of NewReno, which stays in fast recovery until the whole window is acknowledged.
    pub struct NewReno {
        /// Whether only the first partial ACK of a recovery restarts the retransmission timer
        /// (impatient), instead of every partial ACK (slow but steady). Absent: the default of ns-2
        /// at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub impatient: Option<bool>,
        /// Whether a partial ACK deflates the window by the segments that it acknowledges, instead
        /// of by all that duplicate ACKs have added. Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub partial_deflation: Option<bool>,
        /// Whether duplicate ACKs inflate the window only in fast recovery, and not after a
        /// timeout. Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub clean_exit: Option<bool>,
    }
}

impl Checked for NewReno {}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// `partial_ack_seen` in this recovery.
    Recovery { partial_ack_seen: bool },
}

#[derive(Debug)]
pub struct NewRenoRecovery {
    phase: Phase,
    /// In segments, by duplicate ACKs.
    inflation: u64,
    impatient: bool,
    partial_deflation: bool,
    clean_exit: bool,
}

impl NewRenoRecovery {
    /// Unset parameters have the defaults of `era`.
    pub fn new(params: &NewReno, era: Era) -> Self {
        Self {
            phase: Phase::Open,
            inflation: 0,
            impatient: era::IMPATIENT.of(params.impatient, era),
            partial_deflation: era::PARTIAL_DEFLATION.of(params.partial_deflation, era),
            clean_exit: era::CLEAN_EXIT.of(params.clean_exit, era),
        }
    }

    /// Subtracts `acked` from the inflation, then from the window; the inflation grows by one segment for the
    /// retransmission.
    fn deflate(tx: &mut Transmission, inflation: u64, acked: u64) -> u64 {
        if inflation > acked {
            inflation - (acked - 1)
        } else {
            tx.cwnd = (tx.cwnd - (acked - inflation) as f64).max(1.0);
            1
        }
    }
}

impl Cumulative for NewRenoRecovery {
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, out: &mut Vec<Segment>) {
        match self.phase {
            Phase::Recovery { partial_ack_seen } if acked < tx.recover => {
                if !(self.impatient && partial_ack_seen) {
                    tx.restart_timer(now);
                }
                self.inflation = if self.partial_deflation {
                    Self::deflate(tx, self.inflation, acked - tx.una)
                } else {
                    0
                };
                self.phase = Phase::Recovery { partial_ack_seen: true };
                tx.advance_partially(acked);
                tx.send(now, acked, out);
            }
            _ => {
                self.phase = Phase::Open;
                self.inflation = 0;
                tx.advance(now, acked);
                tx.open_window();
            }
        }
    }

    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Segment>) {
        if tx.may_retransmit_fast() {
            tx.halve(now, self.inflation);
            tx.send(now, tx.una, out);
            self.phase = Phase::Recovery { partial_ack_seen: false };
            self.inflation = u64::from(DUPACK_THRESHOLD);
        } else if self.phase != Phase::Open || !self.clean_exit {
            self.inflation = inflated(self.inflation, tx.dupacks);
        }
    }
}

impl Recovery for NewRenoRecovery {
    fn on_ack(
        &mut self,
        tx: &mut Transmission,
        now: Time,
        ack: Ack<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<u64> {
        classify(self, tx, now, ack.acked(), out);
        limit_after_ack(tx, RECOVERY_BURST)
    }

    fn abandon(&mut self, tx: &mut Transmission) {
        self.phase = Phase::Open;
        self.inflation = 0;
        tx.dupacks = 0;
    }

    fn is_repairing(&self, _: &Transmission) -> bool {
        self.phase != Phase::Open
    }

    fn inflation(&self) -> u64 {
        self.inflation
    }
}
