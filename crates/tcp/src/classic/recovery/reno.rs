//! Reno (RFC 2581, 3.2): fast retransmission, and fast recovery that the first new ACK ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, Cumulative, Recovery, classify, unless_waiting};
use crate::check::{Check, Checked};
use crate::classic::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::Segment;
use crate::units::Time;

/// Parameters of Reno: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reno {}

impl Checked for Reno {
    fn check(&self, _: &mut Check) {}
}

/// Duplicate ACKs that inflate the window while in fast recovery.
#[derive(Debug, Default)]
pub struct Policy {
    inflation: Option<u64>,
}

impl Cumulative for Policy {
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, _: &mut Vec<Segment>) {
        self.inflation = None;
        tx.advance(now, acked);
        tx.open_window();
    }

    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Segment>) {
        if tx.may_retransmit_fast() {
            tx.halve(now, self.inflation());
            tx.send(now, tx.una, out);
            self.inflation = Some(u64::from(DUPACK_THRESHOLD));
        } else if let Some(inflation) = &mut self.inflation {
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
        unless_waiting(tx, u64::MAX)
    }

    fn abandon(&mut self, tx: &mut Transmission) {
        self.inflation = None;
        tx.dupacks = 0;
    }

    fn is_repairing(&self, _: &Transmission) -> bool {
        self.inflation.is_some()
    }

    fn inflation(&self) -> u64 {
        self.inflation.unwrap_or(0)
    }
}
