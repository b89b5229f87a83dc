//! Jacobson, "Congestion avoidance and control", SIGCOMM 1988: after the third duplicate ACK slow start
//! restarts with one segment, without fast recovery.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::Time;

use super::{Ack, Cumulative, Recovery, classify};
use crate::classic::sender::Transmission;
use crate::segment::Segment;

params! {
    /// Tahoe has no parameters.
    pub struct Tahoe {}
}

impl Checked for Tahoe {}

#[derive(Debug)]
pub struct TahoeRecovery;

impl Cumulative for TahoeRecovery {
    fn on_new_ack(&mut self, tx: &mut Transmission, now: Time, acked: u64, _: &mut Vec<Segment>) {
        tx.advance(now, acked);
        tx.open_window();
    }

    fn on_dupack(&mut self, tx: &mut Transmission, now: Time, _: &mut Vec<Segment>) {
        if tx.may_retransmit_fast() {
            tx.halve(now, 0);
            tx.cwnd = 1.0;
            tx.next = tx.una;
        }
    }
}

impl Recovery for TahoeRecovery {
    fn on_ack(
        &mut self,
        tx: &mut Transmission,
        now: Time,
        ack: Ack<'_>,
        out: &mut Vec<Segment>,
    ) -> Option<u64> {
        classify(self, tx, now, ack.acked(), out);
        Some(u64::MAX)
    }

    /// ns-2's Tahoe continues to count duplicate ACKs after a timeout.
    fn abandon(&mut self, _: &mut Transmission) {}

    fn is_repairing(&self, tx: &Transmission) -> bool {
        tx.is_behind_loss()
    }
}
