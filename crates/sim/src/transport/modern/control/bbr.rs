//! BBR version 1: sends at the path's bottleneck bandwidth and keeps about one bandwidth-delay
//! product in flight (Cardwell et al., ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00, whose section numbers are cited).
//!
//! The bandwidth is the largest delivery rate of the last ten round trips, the round trip the
//! smallest of the last ten seconds. Gains around 1 probe for more of the one and, for a moment
//! every ten seconds, for less of the other. Left out: the detection of token-bucket policers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter::WindowedMax;
use super::{AckEvent, CongestionControl, Phase};
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
/// Growth that shows that the pipe is not full, and rounds without it that show the contrary (4.3.2.2).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Smallest window (4.2.3.1: `BBRMinPipeCwnd`).
const MIN_SEGMENTS: u64 = 4;

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
    initial_window: u64,
    state: State,
    cwnd: u64,
    /// Window before a recovery or a probe of the round trip.
    saved_cwnd: u64,
    pacing_rate: Option<f64>,
    /// Bytes per second.
    bandwidth: WindowedMax,
    min_rtt: Option<(Duration, Time)>,
    /// Rounds counted by bytes delivered (4.1.1.1).
    round: u64,
    round_start: bool,
    next_round_delivered: u64,
    full_bandwidth: f64,
    full_rounds: u32,
    filled_pipe: bool,
    phase: Phase,
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
            initial_window,
            state: State::Startup,
            cwnd: initial_window,
            saved_cwnd: 0,
            pacing_rate: None,
            bandwidth: WindowedMax::new(BANDWIDTH_ROUNDS),
            min_rtt: None,
            round: 0,
            round_start: false,
            next_round_delivered: 0,
            full_bandwidth: 0.0,
            full_rounds: 0,
            filled_pipe: false,
            phase: Phase::Open,
            conserving_until: None,
            delivered: 0,
        }
    }

    fn min_window(&self) -> u64 {
        MIN_SEGMENTS * self.mss
    }

    /// `gain` bandwidth-delay products and three send quanta, or the initial window while there is
    /// no round trip (4.2.3.2).
    fn inflight(&self, gain: f64) -> u64 {
        let Some((min_rtt, _)) = self.min_rtt else {
            return self.initial_window;
        };
        let bdp = self.bandwidth.max() * min_rtt.as_secs();
        ((gain * bdp) as u64 + 3 * self.mss).max(self.min_window())
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

    /// 4.1.1: rounds and the bandwidth filter.
    fn update_bandwidth(&mut self, ack: &AckEvent) {
        self.delivered = ack.total_delivered;
        self.round_start = ack.prior_delivered.is_some_and(|prior| prior >= self.next_round_delivered);
        if self.round_start {
            self.next_round_delivered = ack.total_delivered;
            self.round += 1;
        }
        if let Some(sample) = ack.rate
            && (!sample.app_limited || sample.rate >= self.bandwidth.max())
        {
            self.bandwidth.update(self.round, sample.rate);
        }
    }

    /// 4.3.2.2: the pipe is full when the bandwidth has not grown for three rounds.
    fn check_full_pipe(&mut self, ack: &AckEvent) {
        if self.filled_pipe || !self.round_start || ack.rate.is_some_and(|rate| rate.app_limited) {
            return;
        }
        if self.bandwidth.max() >= self.full_bandwidth * FULL_GROWTH {
            self.full_bandwidth = self.bandwidth.max();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled_pipe = self.full_rounds >= FULL_ROUNDS;
    }

    /// 4.3.3 and 4.3.4.
    fn update_state(&mut self, ack: &AckEvent) {
        if self.state == State::Startup && self.filled_pipe {
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
        let min_rtt = self.min_rtt.map_or(Duration::ZERO, |(rtt, _)| rtt);
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
        let expired = self.min_rtt.is_some_and(|(_, at)| ack.now.since(at) > self.params.min_rtt_window);
        if let Some(rtt) = ack.rtt
            && (expired || self.min_rtt.is_none_or(|(min, _)| rtt <= min))
        {
            self.min_rtt = Some((rtt, ack.now));
        }
        if expired && !matches!(self.state, State::ProbeRtt(_)) {
            self.save_cwnd();
            self.state = State::ProbeRtt(None);
        }
        match self.state {
            State::ProbeRtt(None) if ack.in_flight <= self.min_window() => {
                self.next_round_delivered = ack.total_delivered;
                self.state = State::ProbeRtt(Some((ack.now + self.params.probe_rtt, false)));
            }
            State::ProbeRtt(Some((until, round))) => {
                let round = round || self.round_start;
                self.state = State::ProbeRtt(Some((until, round)));
                if round && ack.now >= until {
                    self.leave_probe_rtt(ack.now);
                }
            }
            _ => {}
        }
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        if let Some((_, at)) = &mut self.min_rtt {
            *at = now;
        }
        self.cwnd = self.cwnd.max(self.saved_cwnd);
        if self.filled_pipe {
            self.enter_probe_bandwidth(now);
        } else {
            self.state = State::Startup;
        }
    }

    fn save_cwnd(&mut self) {
        let undisturbed = self.phase == Phase::Open && !matches!(self.state, State::ProbeRtt(_));
        self.saved_cwnd = if undisturbed { self.cwnd } else { self.saved_cwnd.max(self.cwnd) };
    }

    /// 4.2.1: never below what has been reached before the pipe is known to be full.
    fn set_pacing_rate(&mut self, ack: &AckEvent) {
        let gain = self.pacing_gain();
        if self.bandwidth.max() <= 0.0 {
            let rtt = ack.srtt.as_secs().max(1e-3);
            self.pacing_rate = Some(HIGH_GAIN * self.initial_window as f64 / rtt);
            return;
        }
        let rate = gain * self.bandwidth.max();
        if self.filled_pipe || self.pacing_rate.is_none_or(|before| rate > before) {
            self.pacing_rate = Some(rate);
        }
    }

    /// 4.2.3.
    fn set_cwnd(&mut self, ack: &AckEvent) {
        let target = self.inflight(self.cwnd_gain());
        if ack.lost > 0 {
            self.cwnd = self.cwnd.saturating_sub(ack.lost).max(self.mss);
        }
        if self.conserving_until.is_some_and(|until| ack.prior_delivered.is_some_and(|p| p >= until)) {
            self.conserving_until = None;
        }
        if self.conserving_until.is_some() {
            self.cwnd = self.cwnd.max(ack.in_flight + ack.delivered);
        } else if self.filled_pipe {
            self.cwnd = (self.cwnd + ack.delivered).min(target);
        } else if self.cwnd < target || ack.total_delivered < self.initial_window {
            self.cwnd += ack.delivered;
        }
        self.cwnd = self.cwnd.max(self.min_window());
        if matches!(self.state, State::ProbeRtt(_)) {
            self.cwnd = self.cwnd.min(self.min_window());
        }
    }
}

impl CongestionControl for Policy {
    fn on_ack(&mut self, ack: &AckEvent) {
        self.update_bandwidth(ack);
        self.check_full_pipe(ack);
        self.update_state(ack);
        self.update_min_rtt(ack);
        self.set_pacing_rate(ack);
        self.set_cwnd(ack);
    }

    /// 4.2.3.4: for one round trip only as much is sent as is delivered.
    fn on_congestion(&mut self, _: Time, _: u64) {
        self.save_cwnd();
        self.phase = Phase::Recovery;
        self.conserving_until = Some(self.delivered);
    }

    fn on_timeout(&mut self, _: Time, in_flight: u64, _: bool) {
        self.save_cwnd();
        self.phase = Phase::Loss;
        self.cwnd = in_flight + self.mss;
        self.conserving_until = None;
    }

    fn on_recovered(&mut self, _: Time) {
        self.phase = Phase::Open;
        self.conserving_until = None;
        self.cwnd = self.cwnd.max(self.saved_cwnd);
    }

    fn undo(&mut self) {
        self.cwnd = self.cwnd.max(self.saved_cwnd);
        self.full_rounds = 0;
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn reduces_proportionally(&self) -> bool {
        false
    }

    fn is_slow_start(&self) -> bool {
        self.state == State::Startup
    }
}
