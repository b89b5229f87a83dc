//! 5.3.4.

use nodeb_base::units::{Duration, Time};

use super::{Bbr3Control, State};
use crate::linux::control::AckEvent;

/// `ProbeRTTCwndGain`.
pub const CWND_GAIN: f64 = 0.5;

/// Since the last `ProbeRTT`.
#[derive(Clone, Copy, Debug, Default)]
pub struct MinRtt {
    /// `probe_rtt_min_delay`, and `probe_rtt_min_stamp`, from which its validity counts.
    recent: Option<(Duration, Time)>,
    /// Must be measured again.
    expired: bool,
}

impl Bbr3Control {
    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, ack: &AckEvent) {
        let (interval, window) = (self.params.probe_rtt_interval, self.params.min_rtt_window);
        let MinRtt { recent, expired } = &mut self.min_rtt;
        *expired = recent.is_some_and(|(_, at)| ack.now > at + interval);
        if let Some(rtt) = ack.rtt
            && (*expired || recent.is_none_or(|(least, _)| rtt < least))
        {
            *recent = Some((rtt, ack.now));
        }
        if let Some((rtt, at)) = *recent
            && self.path.min_rtt.is_none_or(|(min, since)| rtt < min || ack.now > since + window)
        {
            self.path.min_rtt = Some((rtt, at));
        }
    }

    /// `ProbeRTTCwnd`, in bytes.
    pub(super) fn probe_rtt_window(&self) -> u64 {
        self.path.bdp(self.bandwidth(), CWND_GAIN).max(self.path.min_window())
    }

    /// `CheckProbeRTT`.
    pub(super) fn update_probe_rtt(&mut self, ack: &AckEvent) {
        if !self.is_probe_rtt() && self.min_rtt.expired && !self.restarting {
            self.window.save(false);
            self.state = State::ProbeRtt(None);
            self.cycle.stop();
            self.path.rounds.restart(self.delivered);
        }
        match self.state {
            State::ProbeRtt(None) if ack.in_flight <= self.probe_rtt_window() => {
                self.state = State::ProbeRtt(Some((ack.now + self.params.probe_rtt, false)));
                self.path.rounds.restart(self.delivered);
            }
            State::ProbeRtt(Some((until, false))) if self.path.rounds.start => {
                self.state = State::ProbeRtt(Some((until, true)));
                self.end_probe_rtt();
            }
            State::ProbeRtt(Some((_, true))) => self.end_probe_rtt(),
            _ => {}
        }
        if ack.delivered > 0 {
            self.restarting = false;
        }
    }

    fn is_probe_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT`: to `Cruise`, or `Startup` if the pipe has not been full yet.
    pub(super) fn end_probe_rtt(&mut self) {
        let State::ProbeRtt(Some((until, _))) = self.state else {
            return;
        };
        if self.now <= until {
            return;
        }
        if let Some((_, at)) = &mut self.min_rtt.recent {
            *at = self.now;
        }
        self.window.restore();
        self.bounds.forget_short_term();
        if self.filled {
            self.start_down();
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
