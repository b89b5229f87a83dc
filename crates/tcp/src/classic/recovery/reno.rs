//! RFC 2581, 3.2.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::Time;

use super::{Ack, Cumulative, Recovery, classify, inflated, limit_after_ack};
use crate::classic::era::{self, Era};
use crate::classic::sender::{DUPACK_THRESHOLD, Transmission};
use crate::segment::Segment;

params! {
    /// Parameters of Reno, whose fast recovery ends at the first new ACK.
    pub struct Reno {
        /// Whether duplicate ACKs inflate the window only in fast recovery, and not after a
        /// timeout. Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub clean_exit: Option<bool>,
    }
}

impl Checked for Reno {}

#[derive(Debug)]
pub struct RenoRecovery {
    recovering: bool,
    /// In segments, by duplicate ACKs.
    inflation: u64,
    clean_exit: bool,
}

impl RenoRecovery {
    /// Unset parameters have the defaults of `era`.
    pub fn new(params: &Reno, era: Era) -> Self {
        let clean_exit = era::CLEAN_EXIT.of(params.clean_exit, era);
        Self { recovering: false, inflation: 0, clean_exit }
    }

    fn exit(&mut self) {
        self.recovering = false;
        self.inflation = 0;
    }
}

impl Cumulative for RenoRecovery {
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, _: &mut Vec<Segment>) {
        self.exit();
        tx.advance(now, acked);
        tx.open_window();
    }

    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, out: &mut Vec<Segment>) {
        if tx.may_retransmit_fast() {
            tx.halve(now, self.inflation);
            tx.send(now, tx.una, out);
            self.recovering = true;
            self.inflation = u64::from(DUPACK_THRESHOLD);
        } else if self.recovering || !self.clean_exit {
            self.inflation = inflated(self.inflation, tx.dupacks);
        }
    }
}

impl Recovery for RenoRecovery {
    fn on_ack(
        &mut self,
        tx: &mut Transmission,
        now: Time,
        ack: Ack<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<u64> {
        classify(self, tx, now, ack.acked(), out);
        limit_after_ack(tx, u64::MAX)
    }

    fn abandon(&mut self, tx: &mut Transmission) {
        self.exit();
        tx.dupacks = 0;
    }

    fn is_repairing(&self, _: &Transmission) -> bool {
        self.recovering
    }

    fn inflation(&self) -> u64 {
        self.inflation
    }
}
