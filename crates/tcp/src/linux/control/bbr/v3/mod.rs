//! draft-ietf-ccwg-bbr, editors' copy of 3 August 2026, whose sections are cited. Its response to ECN is
//! open: here a mark counts as a loss, which ends a probe in `ProbeBW_UP` and lowers the short-term bounds in
//! states that do not probe. Random values are derived from the time, which also differs between flows.

mod aggregation;
mod cycle;
mod probe_rtt;
mod signals;
#[cfg(test)]
mod tests;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};

use super::super::{AckEvent, CongestionControl, CongestionParams, Loss, Phase};
use super::path::{FullPipe, Pace, Path, Window};
use crate::linux::Linux;
use aggregation::Aggregation;
use cycle::Cycle;
use probe_rtt::MinRtt;
use signals::{Bounds, Latest, Undo};

/// 4 ln 2 (5.3.1.1).
const STARTUP_GAIN: f64 = 2.77;
/// 5.3.2.
const DRAIN_GAIN: f64 = 0.5;
const DRAIN_ROUNDS: u64 = 3;
/// Except in `ProbeBW_UP` and `ProbeRTT` (5.6.1).
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
/// 5.6.2: `PacingMarginPercent`.
const PACING_MARGIN: f64 = 0.99;
/// Segments (5.6.3).
const MIN_QUANTUM: u64 = 2;
/// In addition to the present one (5.5.3: `MaxBwFilterLen`).
const BANDWIDTH_CYCLES: u64 = 1;

impl CongestionParams for Bbr3 {
    fn build(&self, mss: u64, initial_window: u64, tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(Bbr3Control::new(self, mss, initial_window, tcp.sack))
    }

    fn paces_itself(&self) -> bool {
        true
    }
}

params! {
    /// Parameters of BBRv3, which also bounds the data in flight after losses
    /// (draft-ietf-ccwg-bbr).
    pub struct Bbr3 {
        /// Share of a round trip's data that may be lost while BBRv3 probes for bandwidth (2.8:
        /// `LossThresh`).
        pub loss_threshold: f64 = 0.02,
        /// Minimum share of a bound on bandwidth or data in flight that remains after a round trip
        /// with loss (2.8: `Beta`).
        pub beta: f64 = 0.7,
        /// Share of the largest safe volume in flight that is left to other flows (2.8:
        /// `Headroom`).
        pub headroom: f64 = 0.15,
        /// Time for which the smallest round-trip time is valid (2.16.1: `MinRTTFilterLen`).
        pub min_rtt_window: Duration = Duration::from_secs(10),
        /// Time between measurements of the smallest round-trip time (2.16.2: `ProbeRTTInterval`).
        pub probe_rtt_interval: Duration = Duration::from_secs(5),
        /// Time for which the window is kept small to measure the smallest round-trip time (2.16.2:
        /// `ProbeRTTDuration`).
        pub probe_rtt: Duration = Duration::from_millis(200),
    }
}

impl Checked for Bbr3 {
    fn check(&self, check: &mut Check) {
        let shares =
            [("loss_threshold", self.loss_threshold), ("beta", self.beta), ("headroom", self.headroom)];
        for (key, share) in shares {
            check.require(share > 0.0 && share < 1.0, key, || {
                format!("{share} is no share; expected more than 0 and less than 1")
            });
        }
        check.require(self.probe_rtt_interval > self.probe_rtt, "probe_rtt_interval", || {
            format!("expected longer than one measurement, {}", self.probe_rtt)
        });
        check.require(self.min_rtt_window >= self.probe_rtt_interval, "min_rtt_window", || {
            format!("expected at least the time between measurements, {}", self.probe_rtt_interval)
        });
    }
}

/// 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    /// With the round in which it started.
    Drain(u64),
    /// `ProbeBW_DOWN`, as `Cruise`, `Refill` and `Up` are of `ProbeBW`.
    Down,
    Cruise,
    Refill,
    Up,
    /// `None` until the data in flight is small enough; then the earliest end, and true once a round has
    /// passed.
    ProbeRtt(Option<(Time, bool)>),
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`.
    fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Bbr3Control {
    params: Bbr3,
    mss: u64,
    /// Without SACK only one loss per round trip can be detected.
    sack: bool,
    state: State,
    window: Window,
    pace: Pace,
    path: Path,
    full_pipe: FullPipe,
    /// `full_bw_now`.
    full_now: bool,
    /// `full_bw_reached`: found so, or losses have ended `Startup`.
    filled: bool,
    bounds: Bounds,
    latest: Latest,
    cycle: Cycle,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    undo: Undo,
    /// After a pause of the application.
    restarting: bool,
    now: Time,
    delivered: u64,
}

impl Bbr3Control {
    /// In bytes.
    pub fn new(params: &Bbr3, mss: u64, initial_window: u64, sack: bool) -> Self {
        Self {
            params: params.clone(),
            mss,
            sack,
            state: State::Startup,
            window: Window::new(initial_window),
            pace: Pace::default(),
            path: Path::new(mss, initial_window, BANDWIDTH_CYCLES),
            full_pipe: FullPipe::default(),
            full_now: false,
            filled: false,
            bounds: Bounds::default(),
            latest: Latest::default(),
            cycle: Cycle::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            undo: Undo::default(),
            restarting: false,
            now: Time::ZERO,
            delivered: 0,
        }
    }

    /// `BBR.bw`, in bytes per second.
    fn bandwidth(&self) -> f64 {
        self.path.max_bandwidth().min(self.bounds.bandwidth)
    }

    /// 5.6.4.2, in bytes.
    fn inflight(&self, bandwidth: f64, gain: f64) -> u64 {
        self.quantized(self.path.bdp(bandwidth, gain))
    }

    fn quantized(&self, inflight: u64) -> u64 {
        let rate = self.pace.rate.unwrap_or(0.0);
        let quanta = self.path.quanta(rate, MIN_QUANTUM) * self.mss;
        let enough = inflight.max(quanta).max(self.path.min_window());
        if self.state == State::Up { enough + 2 * self.mss } else { enough }
    }

    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (STARTUP_GAIN, CWND_GAIN),
            State::Drain(_) => (DRAIN_GAIN, CWND_GAIN),
            State::Down => (0.9, CWND_GAIN),
            State::Cruise | State::Refill => (1.0, CWND_GAIN),
            State::Up => (1.25, UP_CWND_GAIN),
            State::ProbeRtt(_) => (1.0, probe_rtt::CWND_GAIN),
        }
    }

    /// 5.3.1.2.
    fn check_full_pipe(&mut self, ack: &AckEvent) {
        let Some(sample) = ack.sample.filter(|sample| !sample.app_limited && self.path.rounds.start) else {
            return;
        };
        if !self.full_now
            && let Some(rate) = sample.rate
        {
            self.full_now = self.full_pipe.on_round(rate);
            self.filled |= self.full_now;
        }
    }

    /// `ResetFullBW`: from 1.25 times `rate` on.
    fn search_full_pipe(&mut self, rate: f64) {
        self.full_pipe = FullPipe::above(rate);
        self.full_now = false;
    }

    /// 5.3.1 and 5.3.2.
    fn update_start(&mut self, ack: &AckEvent) {
        if self.state == State::Startup {
            self.check_startup_loss(ack);
            if self.filled {
                self.state = State::Drain(self.path.rounds.count);
            }
        }
        if let State::Drain(since) = self.state
            && (ack.in_flight <= self.inflight(self.bandwidth(), 1.0)
                || self.path.rounds.count > since + DRAIN_ROUNDS)
        {
            self.start_down();
        }
    }

    /// 5.6.2.
    fn set_pacing_rate(&mut self) {
        self.pace.set(PACING_MARGIN * self.gains().0 * self.bandwidth(), self.filled);
    }

    /// 5.6.4.6 and 5.6.4.7.
    fn set_cwnd(&mut self, ack: &AckEvent) {
        let bdp = self.path.bdp(self.bandwidth(), self.gains().1);
        let max = self.quantized(bdp + self.aggregation.extra());
        let mut cwnd = self.window.cwnd;
        if self.filled {
            cwnd = (cwnd + ack.delivered).min(max);
        } else if cwnd < max || self.path.is_unknown(ack.total_delivered) {
            cwnd += ack.delivered;
        }
        cwnd = cwnd.max(self.path.min_window());
        if matches!(self.state, State::ProbeRtt(_)) {
            cwnd = cwnd.min(self.probe_rtt_window());
        }
        let cap = match self.state {
            State::Cruise | State::ProbeRtt(_) => self.safe_with_headroom(),
            state if state.is_probe_bw() => self.bounds.long_term,
            _ => u64::MAX,
        };
        self.window.cwnd = cwnd.min(cap.min(self.bounds.short_term).max(self.path.min_window()));
    }
}

impl CongestionControl for Bbr3Control {
    /// 5.2.1 and 5.6.2.
    fn on_established(&mut self, now: Time, rtt: Option<Duration>) {
        self.path.on_established(now, rtt);
        self.aggregation.restart(now);
        self.pace.set(STARTUP_GAIN * self.path.nominal_bandwidth(rtt), true);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.now = ack.now;
        self.delivered = ack.total_delivered;
        self.update_signals(ack);
        self.aggregate(ack);
        self.check_full_pipe(ack);
        self.update_start(ack);
        self.update_cycle(ack);
        self.update_min_rtt(ack);
        self.update_probe_rtt(ack);
        self.latest.advance(ack.sample);
        self.set_pacing_rate();
        self.set_cwnd(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.take_loss(loss);
    }

    /// 5.6.4.4; the bounds were saved when the loss was recorded.
    fn on_congestion(&mut self, _: Time, _: u64) {
        self.save_window();
        self.window.phase = Phase::Recovery;
    }

    fn on_timeout(&mut self, _: Time, in_flight: u64, _: bool) {
        self.save_window();
        self.window.phase = Phase::Loss;
        self.window.cwnd = in_flight + self.mss;
    }

    fn on_recovered(&mut self, _: Time) {
        self.window.phase = Phase::Open;
        self.window.restore();
    }

    /// 5.4: `ProbeBW` paces without a gain.
    fn on_restart(&mut self, now: Time) {
        self.now = now;
        self.restarting = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.pace.set(PACING_MARGIN * self.bandwidth(), self.filled);
        } else {
            self.end_probe_rtt();
        }
    }

    fn undo(&mut self, _: u64) {
        self.undo_recovery();
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

    fn buffered_windows(&self) -> u64 {
        3
    }

    fn reduces_proportionally(&self) -> bool {
        false
    }

    fn holds_back(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    fn is_slow_start(&self) -> bool {
        self.state == State::Startup
    }
}
