//! NewReno as ns-2 has it (RFC 2582, today RFC 6582).
//!
//! A partial ACK retransmits the next hole. Two things about it changed in ns-2 in May 2003: which of them restart
//! the timer (RFC 2582, section 3: the "impatient" and the "slow-but-steady" variant), and what they take out of
//! the window. In July 2003 it stopped taking duplicate ACKs after a timeout for those of a recovery. Source of the rules: ns-2.35 `tcp-newreno.cc`, which still has both.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::Time;

use super::{Ack, Cumulative, Recovery, classify, inflated, unless_waiting};
use crate::classic::era::{self, Era};
use crate::classic::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::Segment;

/// Segments sent per ACK while in fast recovery (ns-2 `tcp-newreno.cc`).
const RECOVERY_BURST: u64 = 2;

params! {
    /// Parameters of NewReno.
    pub struct NewReno {
        /// Whether only the first partial ACK of a recovery restarts the timer (impatient), and not each
        /// (slow but steady); absent: the era's.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub impatient: Option<bool>,
        /// Whether a partial ACK takes what it acknowledges out of the window, and not all that duplicate
        /// ACKs have added; absent: the era's.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub partial_deflation: Option<bool>,
        /// Whether duplicate ACKs inflate the window in fast recovery only, and not after a timeout too;
        /// absent: the era's.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub clean_exit: Option<bool>,
    }
}

impl Checked for NewReno {}

/// Where the sender stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// No recovery under way.
    #[default]
    Open,
    /// In fast recovery.
    Recovery { partial_ack_seen: bool },
}

/// NewReno's state.
#[derive(Debug)]
pub struct NewRenoRecovery {
    phase: Phase,
    /// By how much duplicate ACKs have inflated the window.
    inflation: u64,
    impatient: bool,
    partial_deflation: bool,
    clean_exit: bool,
}

impl NewRenoRecovery {
    /// The recovery before any loss, as it was in `era` where `params` do not say otherwise.
    pub fn new(params: &NewReno, era: Era) -> Self {
        Self {
            phase: Phase::Open,
            inflation: 0,
            impatient: era::IMPATIENT.of(params.impatient, era),
            partial_deflation: era::PARTIAL_DEFLATION.of(params.partial_deflation, era),
            clean_exit: era::CLEAN_EXIT.of(params.clean_exit, era),
        }
    }

    /// Takes what a partial ACK acknowledged out of the inflation, and the rest out of the window.
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
        unless_waiting(tx, RECOVERY_BURST)
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
