//! The smallest round-trip time, and the `ProbeRTT` state that measures it (Linux 6.x: `bbr_update_min_rtt`,
//! `bbr_check_probe_rtt_done`).

use nodeb_base::units::Time;

use super::{BbrControl, State};
use crate::linux::control::AckEvent;

impl BbrControl {
    /// Updates the smallest round-trip time with that of an ACK. If the minimum has expired, any
    /// round-trip time that is not lengthened by a delayed ACK replaces it, and the state
    /// `ProbeRTT` starts. The state does not start if the sender restarts after a pause.
    pub(super) fn update_min_rtt(&mut self, ack: &AckEvent) {
        let expired = self.path.min_rtt.is_some_and(|(_, at)| ack.now.since(at) > self.params.min_rtt_window);
        if let Some(rtt) = ack.rtt
            && (self.path.min_rtt.is_none_or(|(min, _)| rtt < min) || (expired && !self.may_be_delayed(ack)))
        {
            self.path.min_rtt = Some((rtt, ack.now));
        }
        if expired && !self.restarting && !matches!(self.state, State::ProbeRtt(_)) {
            self.state = State::ProbeRtt(None);
            self.save_cwnd();
        }
        self.continue_probe_rtt(ack);
        if ack.sample.is_some_and(|sample| sample.delivered > 0) {
            self.restarting = false;
        }
    }

    /// Returns true if the ACK may have been delayed by the receiver: it acknowledges a single
    /// segment that is not full-sized, and no other ACK has delivered data since that segment was
    /// sent (`tcp_clean_rtx_queue`: `FLAG_ACK_MAYBE_DELAYED`).
    fn may_be_delayed(&self, ack: &AckEvent) -> bool {
        let alone = ack.sample.is_some_and(|sample| sample.delivered == ack.delivered);
        alone && ack.acked > 0 && ack.delivered < self.mss
    }

    fn continue_probe_rtt(&mut self, ack: &AckEvent) {
        match self.state {
            State::ProbeRtt(None) if ack.in_flight <= self.path.min_window() => {
                self.path.rounds.restart(ack.total_delivered);
                self.state = State::ProbeRtt(Some((ack.now + self.params.probe_rtt, false)));
            }
            State::ProbeRtt(Some((until, round))) => {
                let round = round || self.path.rounds.start;
                self.state = State::ProbeRtt(Some((until, round)));
                if round {
                    self.end_probe_rtt(ack.now);
                }
            }
            _ => {}
        }
    }

    /// Leaves `ProbeRTT` if its end time has passed, restores the window, and marks the smallest
    /// round-trip time as valid from `now` on.
    pub(super) fn end_probe_rtt(&mut self, now: Time) {
        let State::ProbeRtt(Some((until, _))) = self.state else {
            return;
        };
        if now <= until {
            return;
        }
        if let Some((_, at)) = &mut self.path.min_rtt {
            *at = now;
        }
        self.window.restore();
        if self.filled {
            self.enter_probe_bandwidth();
        } else {
            self.state = State::Startup;
        }
    }
}
