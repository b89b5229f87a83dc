//! Linux 6.x: `bbr_update_min_rtt`, `bbr_check_probe_rtt_done`.

use nodeb_base::units::Time;

use super::{BbrControl, State};
use crate::linux::control::AckEvent;

impl BbrControl {
    /// An expired minimum is replaced by any undelayed round-trip time and starts `ProbeRTT`, unless the
    /// sender restarts after a pause.
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

    /// `tcp_clean_rtx_queue`: `FLAG_ACK_MAYBE_DELAYED`, for a single short segment without another delivery
    /// since it was sent.
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

    /// The smallest round-trip time is valid from `now` on.
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
