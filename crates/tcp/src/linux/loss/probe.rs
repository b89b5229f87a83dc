//! Tail loss probes (RFC 8985, 7).

use nodeb_base::units::{Duration, Time};

use super::{Episode, LEAST_WAIT};
use crate::linux::sender::{Harvest, Sender, Transmission};
use crate::linux::timers::Pending;
use crate::segment::Segment;

/// A tail loss probe that has not been answered (RFC 8985, 7.4).
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Next byte when it was sent (`TLP.end_seq`).
    end: u64,
    /// Whether it repeats a segment.
    again: bool,
}

impl Probe {
    /// Returns the next byte when it was sent.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns true if the probe repeats a segment.
    pub(in super::super) fn repeats(&self) -> bool {
        self.again
    }
}

impl Sender {
    /// Arms the tail loss probe (RFC 8985, 7.2) in the place of the timeout; returns whether there is one to
    /// wait for. An ACK that has come `afresh` puts the timeout off, which is the latest time for a probe
    /// (Linux: `tcp_schedule_loss_probe`).
    #[inline(never)]
    pub(in super::super) fn arm_probe(&mut self, now: Time, afresh: bool) -> bool {
        let quiet = match self.episode {
            Episode::Open => !self.disordered,
            Episode::Recovery { repairs, .. } => !repairs,
            Episode::Loss { .. } => false,
        };
        if !self.params.tail_loss_probe || !quiet || self.board.head().is_none() {
            return false;
        }
        let Some(srtt) = self.rtt.srtt() else {
            return false;
        };
        let single = self.board.head() == self.board.tail();
        // A single segment may meet a delayed ACK (`TLP.max_ack_delay`).
        let wait = Duration(2 * srtt.0 + if single { self.params.min_rto.0 } else { LEAST_WAIT.0 });
        let timeout = if afresh { self.rtt.rto() } else { self.timeout_left(now) };
        self.timers.set(now, wait.min(timeout), Pending::Probe);
        true
    }

    /// Sends the probe (7.3): new data if there are any and the receiver allows, else the tail. Only one is
    /// sent before an answer.
    #[cold]
    pub(in super::super) fn on_probe_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let Some(tail) = self.board.tail() else {
            return;
        };
        let again = !self.has_new();
        if self.probe.is_none() && (!again || self.may_send_again(tail)) {
            let (number, transmission) =
                if again { (tail, Transmission::Probe) } else { (self.board.end(), Transmission::New) };
            self.send(now, number, transmission, out);
            self.probe = Some(Probe { end: self.board.next(), again });
            // The timeout begins afresh.
            self.timers.loss = None;
        }
        self.rearm_timeout(now);
    }

    /// Judges what became of the probe (7.4.2; Linux: `tcp_process_tlp_ack`): if the segment that it repeated had
    /// been lost, that was congestion all the same.
    pub(in super::super) fn answer_probe(&mut self, now: Time, harvest: &Harvest) {
        let Some(probe) = self.probe.filter(|probe| self.board.una() >= probe.end) else {
            return;
        };
        let una = self.board.una();
        let pure_duplicate = !harvest.advances() && !harvest.opened && !harvest.sacked;
        if !probe.again || harvest.dsack.is_some_and(|dsack| dsack.of_probe) {
            self.probe = None;
        } else if una > probe.end {
            self.probe = None;
            // The window falls at once: what was lost has been sent.
            let outstanding = self.board.next() - una;
            self.control.report(|control| control.on_congestion(now, outstanding));
            self.reopen(now);
            self.keep_open(now);
            self.tell_reduced = self.params.ecn;
        } else if pure_duplicate {
            self.probe = None;
        }
    }
}
