//! By time (RACK), by the number of SACKs, or by duplicate ACKs.

use nodeb_base::units::Time;

use super::MIN_WAIT;
use crate::linux::control::Loss;
use crate::linux::sender::{AckResult, Sender};
use crate::linux::timers::Pending;

impl Sender {
    /// Bytes newly marked.
    pub(super) fn find_losses(&mut self, now: Time, result: &mut AckResult) -> u64 {
        let before = self.scoreboard.lost_retransmissions();
        let lost = if self.params.rack {
            if !self.rack.take_advance() {
                return 0;
            }
            let (lost, waits) = self.find_losses_by_time(now);
            result.rearm &= !waits;
            lost
        } else if self.params.sack {
            self.scoreboard.mark_by_count()
        } else {
            self.find_loss_by_dupacks(result)
        };
        if lost > 0 {
            result.lost_again = self.scoreboard.lost_retransmissions() > before;
            self.report_losses(now);
        }
        lost
    }

    /// `tcp_rack_mark_lost`: bytes newly marked, and true if RACK waits for reordered segments.
    fn find_losses_by_time(&mut self, now: Time) -> (u64, bool) {
        let path = self.conditions();
        let (lost, again) = self.rack.detect(now, path, &mut self.scoreboard);
        if let Some(at) = again {
            let wait = (at + MIN_WAIT).since(now).min(self.rtt.rto());
            self.timers.set(now, wait, Pending::Reorder);
        }
        (lost, again.is_some())
    }

    #[cold]
    pub(super) fn report_losses(&mut self, now: Time) {
        let Self { scoreboard, sampler, control, .. } = self;
        for segment in scoreboard.drain_newly_lost() {
            let (range, snapshot) = (segment.range(), segment.snapshot);
            let lost = sampler.record_lost(segment.bytes(), snapshot);
            let delivered = sampler.delivered();
            control.report(|control| control.on_loss(&Loss { now, range, snapshot, lost, delivered }));
        }
    }

    #[cold]
    pub(in super::super) fn on_reorder_timer(&mut self, now: Time) {
        let (lost, waits) = self.find_losses_by_time(now);
        self.report_losses(now);
        if lost > 0 && !self.episode.is_recovery() {
            self.recover(now, false);
            self.spread_reduction(1, false);
        }
        if !waits {
            self.rearm_timeout(now);
        }
    }
}
