//! NewReno as ns-2's studies used it (RFC 2582, today RFC 6582, the "impatient" variant).
//!
//! A partial ACK retransmits the next hole, deflates the window by what it acknowledges, and only
//! the first one of a recovery restarts the timer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, Cumulative, Recovery, classify, unless_waiting};
use crate::check::{Check, Checked};
use crate::classic::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::Segment;
use crate::units::Time;

/// Segments sent per ACK while in fast recovery (ns-2 `tcp-newreno.cc`).
const RECOVERY_BURST: u64 = 2;

/// Parameters of NewReno: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewReno {}

impl Checked for NewReno {
    fn check(&self, _: &mut Check) {}
}

/// Where the sender stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// No recovery under way.
    #[default]
    Open,
    /// In fast recovery, the window inflated by this many duplicate ACKs.
    Recovery { inflation: u64, partial_ack_seen: bool },
}

/// NewReno's state.
#[derive(Debug, Default)]
pub struct Policy {
    phase: Phase,
}

impl Policy {
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

impl Cumulative for Policy {
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, out: &mut Vec<Segment>) {
        match self.phase {
            Phase::Recovery { inflation, partial_ack_seen } if acked < tx.recover => {
                if !partial_ack_seen {
                    tx.restart_timer(now);
                }
                let inflation = Self::deflate(tx, inflation, acked - tx.una);
                self.phase = Phase::Recovery { inflation, partial_ack_seen: true };
                tx.advance_partially(acked);
                tx.send(now, acked, out);
            }
            _ => {
                self.phase = Phase::Open;
                tx.advance(now, acked);
                tx.open_window();
            }
        }
    }

    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Segment>) {
        if tx.may_retransmit_fast() {
            tx.halve(now, self.inflation());
            tx.send(now, tx.una, out);
            let inflation = u64::from(DUPACK_THRESHOLD);
            self.phase = Phase::Recovery { inflation, partial_ack_seen: false };
        } else if let Phase::Recovery { inflation, .. } = &mut self.phase {
            *inflation += 1;
        }
    }
}

impl Recovery for Policy {
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
        tx.dupacks = 0;
    }

    fn is_repairing(&self, _: &Transmission) -> bool {
        self.phase != Phase::Open
    }

    fn inflation(&self) -> u64 {
        match self.phase {
            Phase::Open => 0,
            Phase::Recovery { inflation, .. } => inflation,
        }
    }
}
