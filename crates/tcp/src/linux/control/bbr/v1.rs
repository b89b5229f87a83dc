//! BBR version 1: sends at the path's bottleneck bandwidth and keeps about one bandwidth-delay
//! product in flight (Cardwell et al., ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00, whose section numbers are cited).
//!
//! The bandwidth is the largest delivery rate of the last ten round trips, the round trip the
//! smallest of the last ten seconds. Gains around 1 probe for more of the one and, for a moment
//! every ten seconds, for less of the other. Left out: the detection of token-bucket policers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{AckEvent, CongestionControl, Phase};
use super::path::{FullPipe, Pace, Path, Window};
use crate::check::{Check, Checked};
use crate::units::{Duration, Time};

#[cfg(test)]
mod tests;

/// 2 / ln 2, the smallest gain that doubles the rate every round trip (4.3.2.1).
const HIGH_GAIN: f64 = 2.885;
/// Gains of the phases of probing for bandwidth, one round trip each (4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Window in steady state in bandwidth-delay products, for delayed and stretched ACKs (4.2.3.2).
const CWND_GAIN: f64 = 2.0;
/// Round trips over which the bandwidth is remembered (4.1.1.3: `BtlBwFilterLen`).
const BANDWIDTH_ROUNDS: u64 = 10;
/// Below this segments leave one by one: 1.2 Mbit/s in bytes per second (4.2.2).
const SLOW: f64 = 150_000.0;

/// BBR's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr {
    /// How long the smallest round trip is trusted before it is measured anew (4.1.2:
    /// `RTpropFilterLen`).
    pub min_rtt_window: Duration,
    /// How long the window is kept small for that (4.3.5: `ProbeRTTDuration`).
    pub probe_rtt: Duration,
}

impl Default for Bbr {
    fn default() -> Self {
        Self { min_rtt_window: Duration::from_secs(10), probe_rtt: Duration::from_millis(200) }
    }
}

impl Checked for Bbr {
    fn check(&self, check: &mut Check) {
        check.require(self.min_rtt_window > self.probe_rtt, "min_rtt_window", || {
            format!("expected longer than one measurement, {}", self.probe_rtt)
        });
    }
}

/// The states (4.3).
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain,
    /// Which gain is used, and since when.
    ProbeBandwidth(usize, Time),
    /// Until when, once the window is small; and whether a round has passed since.
    ProbeRtt(Option<(Time, bool)>),
}

/// BBR's state.
#[derive(Debug)]
pub struct Policy {
    params: Bbr,
    mss: u64,
    state: State,
    window: Window,
    pace: Pace,
    path: Path,
    full_pipe: FullPipe,
    filled: bool,
    /// Recovery's first round sends no more than is delivered, up to these bytes (4.2.3.4).
    conserving_until: Option<u64>,
    delivered: u64,
}

impl Policy {
    /// BBR at the start of a connection.
    pub fn new(params: &Bbr, mss: u64, initial_window: u64) -> Self {
        Self {
            params: params.clone(),
            mss,
            state: State::Startup,
            window: Window::new(initial_window),
            pace: Pace::default(),
            path: Path::new(mss, initial_window, BANDWIDTH_ROUNDS),
            full_pipe: FullPipe::default(),
            filled: false,
            conserving_until: None,
            delivered: 0,
        }
    }

    /// `gain` bandwidth-delay products and the send quanta (4.2.3.2).
    fn inflight(&self, gain: f64) -> u64 {
        (self.path.bdp(self.path.max_bandwidth(), gain) + self.path.quanta()).max(self.path.min_window())
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBandwidth(phase, _) => CYCLE[phase],
            State::ProbeRtt(_) => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBandwidth(..) => CWND_GAIN,
            State::ProbeRtt(_) => 1.0,
        }
    }

    /// 4.3.2.2: the pipe is full when the bandwidth has not grown for three rounds.
    fn check_full_pipe(&mut self, ack: &AckEvent) {
        let app_limited = ack.sample.is_some_and(|sample| sample.app_limited);
        if !self.filled && self.path.rounds.start && !app_limited {
            self.filled = self.full_pipe.on_round(self.path.max_bandwidth());
        }
    }

    /// 4.3.3 and 4.3.4.
    fn update_state(&mut self, ack: &AckEvent) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
        }
        if self.state == State::Drain && ack.in_flight <= self.inflight(1.0) {
            self.enter_probe_bandwidth(ack.now);
        }
        if let State::ProbeBandwidth(phase, since) = self.state
            && self.is_next_phase(ack, phase, since)
        {
            self.state = State::ProbeBandwidth((phase + 1) % CYCLE.len(), ack.now);
        }
    }

    /// 4.3.4.3: a phase lasts a round trip; probing up goes on until it has filled the pipe or met
    /// loss, draining ends as soon as it is done.
    fn is_next_phase(&self, ack: &AckEvent, phase: usize, since: Time) -> bool {
        let min_rtt = self.path.min_rtt.map_or(Duration::ZERO, |(rtt, _)| rtt);
        let over = ack.now.since(since) > min_rtt;
        match CYCLE[phase] {
            gain if gain > 1.0 => over && (ack.lost > 0 || ack.prior_in_flight >= self.inflight(gain)),
            gain if gain < 1.0 => over || ack.prior_in_flight <= self.inflight(1.0),
            _ => over,
        }
    }

    /// Begins at any phase but that which drains. The draft draws it at random; here it follows from
    /// the time, which differs from flow to flow as much.
    fn enter_probe_bandwidth(&mut self, now: Time) {
        let draw = (now.0 / 1_000) % (CYCLE.len() as u64 - 1);
        let phase = if draw == 0 { 0 } else { draw as usize + 1 };
        self.state = State::ProbeBandwidth(phase, now);
    }

    /// 4.1.2 and 4.3.5.
    fn update_min_rtt(&mut self, ack: &AckEvent) {
        let expired = self.path.min_rtt.is_some_and(|(_, at)| ack.now.since(at) > self.params.min_rtt_window);
        if let Some(rtt) = ack.rtt
            && (expired || self.path.min_rtt.is_none_or(|(min, _)| rtt <= min))
        {
            self.path.min_rtt = Some((rtt, ack.now));
        }
        if expired && !matches!(self.state, State::ProbeRtt(_)) {
            self.window.save(false);
            self.state = State::ProbeRtt(None);
        }
        match self.state {
            State::ProbeRtt(None) if ack.in_flight <= self.path.min_window() => {
                self.path.rounds.restart(ack.total_delivered);
                self.state = State::ProbeRtt(Some((ack.now + self.params.probe_rtt, false)));
            }
            State::ProbeRtt(Some((until, round))) => {
                let round = round || self.path.rounds.start;
                self.state = State::ProbeRtt(Some((until, round)));
                if round && ack.now >= until {
                    self.leave_probe_rtt(ack.now);
                }
            }
            _ => {}
        }
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        if let Some((_, at)) = &mut self.path.min_rtt {
            *at = now;
        }
        self.window.restore();
        if self.filled {
            self.enter_probe_bandwidth(now);
        } else {
            self.state = State::Startup;
        }
    }

    /// 4.2.1: never below what has been reached before the pipe is known to be full.
    fn set_pacing_rate(&mut self, ack: &AckEvent) {
        let bandwidth = self.path.max_bandwidth();
        if bandwidth > 0.0 {
            self.pace.set(self.pacing_gain() * bandwidth, self.filled);
        } else {
            self.pace = Pace { rate: Some(HIGH_GAIN * self.path.nominal_bandwidth(ack.srtt)) };
        }
    }

    /// 4.2.3.
    fn set_cwnd(&mut self, ack: &AckEvent) {
        let target = self.inflight(self.cwnd_gain());
        let cwnd = &mut self.window.cwnd;
        if ack.lost > 0 {
            *cwnd = cwnd.saturating_sub(ack.lost).max(self.mss);
        }
        let prior = ack.sample.map(|sample| sample.prior_delivered);
        if self.conserving_until.is_some_and(|until| prior.is_some_and(|prior| prior >= until)) {
            self.conserving_until = None;
        }
        if self.conserving_until.is_some() {
            *cwnd = (*cwnd).max(ack.in_flight + ack.delivered);
        } else if self.filled {
            *cwnd = (*cwnd + ack.delivered).min(target);
        } else if *cwnd < target || self.path.is_unknown(ack.total_delivered) {
            *cwnd += ack.delivered;
        }
        *cwnd = (*cwnd).max(self.path.min_window());
        if matches!(self.state, State::ProbeRtt(_)) {
            *cwnd = (*cwnd).min(self.path.min_window());
        }
    }

    fn save_cwnd(&mut self) {
        self.window.save(matches!(self.state, State::ProbeRtt(_)));
    }
}

impl CongestionControl for Policy {
    fn on_ack(&mut self, ack: &AckEvent) {
        self.delivered = ack.total_delivered;
        self.path.rounds.on_ack(ack);
        self.path.update_bandwidth(self.path.rounds.count, ack.sample);
        self.check_full_pipe(ack);
        self.update_state(ack);
        self.update_min_rtt(ack);
        self.set_pacing_rate(ack);
        self.set_cwnd(ack);
    }

    /// 4.2.3.4: for one round trip only as much is sent as is delivered.
    fn on_congestion(&mut self, _: Time, _: u64) {
        self.save_cwnd();
        self.window.phase = Phase::Recovery;
        self.conserving_until = Some(self.delivered);
    }

    fn on_timeout(&mut self, _: Time, in_flight: u64, _: bool) {
        self.save_cwnd();
        self.window.phase = Phase::Loss;
        self.window.cwnd = in_flight + self.mss;
        self.conserving_until = None;
    }

    fn on_recovered(&mut self, _: Time) {
        self.window.phase = Phase::Open;
        self.conserving_until = None;
        self.window.restore();
    }

    fn undo(&mut self) {
        self.window.restore();
        self.full_pipe = FullPipe::default();
    }

    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pace.rate
    }

    /// 4.2.2.
    fn least_quantum(&self, rate: f64) -> u64 {
        if rate < SLOW { 1 } else { 2 }
    }

    fn reduces_proportionally(&self) -> bool {
        false
    }

    fn is_slow_start(&self) -> bool {
        self.state == State::Startup
    }
}
