//! RFC 8985, 7.

use nodeb_base::units::{Duration, Time};

use super::{Episode, MIN_WAIT};
use crate::linux::sender::{AckResult, Sender, Transmission};
use crate::linux::timers::Pending;
use crate::segment::Segment;

#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// `TLP.end_seq`.
    end: u64,
    /// A retransmission instead of a new segment.
    again: bool,
}

impl Probe {
    pub fn end(&self) -> u64 {
        self.end
    }

    pub(in super::super) fn is_retransmission(&self) -> bool {
        self.again
    }
}

impl Sender {
    /// RFC 8985, 7.2, instead of the timeout and no later; `afresh` restarts it (Linux:
    /// `tcp_schedule_loss_probe`). False if no probe may be sent.
    #[inline(never)]
    pub(in super::super) fn arm_probe(&mut self, now: Time, afresh: bool) -> bool {
        let quiet = match self.episode {
            Episode::Open => !self.disordered,
            Episode::Recovery { repairs, .. } => !repairs,
            Episode::Loss { .. } => false,
        };
        if !self.params.tail_loss_probe || !quiet || self.scoreboard.head().is_none() {
            return false;
        }
        let single = self.scoreboard.head() == self.scoreboard.tail();
        // The receiver may delay the ACK of a single segment, so the probe waits longer
        // (`TLP.max_ack_delay`). Before a round trip is measured the probe waits for
        // `TCP_TIMEOUT_INIT`.
        let wait = self.rtt.srtt().map_or(self.params.initial_rto, |srtt| {
            Duration(2 * srtt.0 + if single { self.params.min_rto.0 } else { MIN_WAIT.0 })
        });
        let timeout = if afresh { self.rtt.rto() } else { self.timeout_left(now) };
        self.timers.set(now, wait.min(timeout), Pending::Probe);
        true
    }

    /// 7.3: a new segment if possible, otherwise the last one; no other until an ACK.
    #[cold]
    pub(in super::super) fn on_probe_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let Some(tail) = self.scoreboard.tail() else {
            return;
        };
        let again = !self.has_new();
        if self.probe.is_none() && (!again || self.may_retransmit(tail)) {
            let (number, transmission) =
                if again { (tail, Transmission::Probe) } else { (self.scoreboard.end(), Transmission::New) };
            self.send(now, number, transmission, out);
            self.probe = Some(Probe { end: self.scoreboard.next(), again });
            // While no timer is armed, `rearm_timeout` lets the timeout start now.
            self.timers.loss = None;
        }
        self.rearm_timeout(now);
    }

    /// 7.4.2; Linux: `tcp_process_tlp_ack`: a loss that the probe has repaired counts as congestion.
    pub(in super::super) fn on_probe_ack(&mut self, now: Time, result: &AckResult) {
        let Some(probe) = self.probe.filter(|probe| self.scoreboard.una() >= probe.end) else {
            return;
        };
        let una = self.scoreboard.una();
        let pure_duplicate = !result.advances() && !result.updates_window && !result.sacked;
        if !probe.again || result.dsack.is_some_and(|dsack| dsack.of_probe) {
            self.probe = None;
        } else if una > probe.end {
            self.probe = None;
            // The probe has repaired a loss. The window is reduced at once, since nothing is left
            // to retransmit.
            let outstanding = self.scoreboard.next() - una;
            self.control.report(|control| control.on_congestion(now, outstanding));
            self.reopen(now);
            self.keep_open(now);
            self.send_cwr = self.params.ecn;
        } else if pure_duplicate {
            self.probe = None;
        }
    }
}
