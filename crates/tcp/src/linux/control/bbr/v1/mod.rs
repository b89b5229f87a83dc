//! Linux 6.x `tcp_bbr.c` (Cardwell et al., ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00). ECN marks are ignored.

mod aggregation;
mod policer;
mod probe_rtt;
#[cfg(test)]
mod tests;
mod window;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};

use super::super::{AckEvent, CongestionControl, CongestionParams, Loss, Phase};
use super::path::{FullPipe, Pace, Path, Window, pseudo_random};
use crate::linux::Linux;
use aggregation::Aggregation;
use policer::{Observation, Policer};
use window::min_quantum;

/// Doubles the rate every round trip: 2 / ln 2 in Linux's units of 1/256.
const HIGH_GAIN: f64 = 739.0 / 256.0;
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// `bbr_pacing_gain`, about a round trip each.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Above 1 because ACKs may be delayed or acknowledge many segments at once.
const CWND_GAIN: f64 = 2.0;
/// `bbr_pacing_margin_percent`: the queue shrinks.
const PACING_MARGIN: f64 = 0.99;
/// `bbr_bw_rtts`.
const BANDWIDTH_ROUNDS: u64 = CYCLE.len() as u64 + 2;

impl CongestionParams for Bbr {
    fn build(&self, mss: u64, initial_window: u64, _tcp: &Linux) -> Box<dyn CongestionControl> {
        Box::new(BbrControl::new(self, mss, initial_window))
    }

    fn paces_itself(&self) -> bool {
        true
    }
}

params! {
    /// Parameters of BBR version 1, which paces segments at the measured bandwidth.
    pub struct Bbr {
        /// Time for which the smallest round-trip time is valid before it is measured again (Linux:
        /// `bbr_min_rtt_win_sec`).
        pub min_rtt_window: Duration = Duration::from_secs(10),
        /// Time for which the window is kept small to measure the smallest round-trip time again
        /// (Linux: `bbr_probe_rtt_mode_ms`).
        pub probe_rtt: Duration = Duration::from_millis(200),
    }
}

impl Checked for Bbr {
    fn check(&self, check: &mut Check) {
        check.require(self.min_rtt_window > self.probe_rtt, "min_rtt_window", || {
            format!("expected longer than one measurement, {}", self.probe_rtt)
        });
    }
}

/// Draft, section 4.3.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain,
    /// `ProbeBW`, with the index in [`CYCLE`] and the start of the phase.
    ProbeBandwidth(usize, Time),
    /// `None` until the data in flight is small enough; then the earliest end, and true once a round has
    /// passed.
    ProbeRtt(Option<(Time, bool)>),
}

/// In multiples of the bandwidth and of the bandwidth-delay product.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gains {
    pacing: f64,
    window: f64,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct BbrControl {
    params: Bbr,
    mss: u64,
    state: State,
    /// Since the last ACK or timeout.
    gains: Gains,
    /// With the phase of loss recovery at the last ACK or timeout.
    window: Window,
    pace: Pace,
    path: Path,
    full_pipe: FullPipe,
    filled: bool,
    aggregation: Aggregation,
    policer: Policer,
    /// First round of a recovery: packet conservation.
    conserving: bool,
    /// Reduction by an ECN mark, without a loss.
    marked: bool,
    /// `idle_restart`.
    restarting: bool,
    delivered_at: Time,
    /// In bytes.
    delivered: u64,
    /// In bytes.
    lost: u64,
}

impl BbrControl {
    /// In bytes.
    pub fn new(params: &Bbr, mss: u64, initial_window: u64) -> Self {
        Self {
            params: params.clone(),
            mss,
            state: State::Startup,
            gains: Gains { pacing: HIGH_GAIN, window: HIGH_GAIN },
            window: Window::new(initial_window),
            pace: Pace::default(),
            path: Path::new(mss, initial_window, BANDWIDTH_ROUNDS),
            full_pipe: FullPipe::default(),
            filled: false,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            conserving: false,
            marked: false,
            restarting: false,
            delivered_at: Time::ZERO,
            delivered: 0,
            lost: 0,
        }
    }

    /// `bbr_bw`, in bytes per second: the policer's rate or the largest recent bandwidth.
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or(self.path.max_bandwidth())
    }

    /// `bbr_update_gains`.
    fn update_gains(&mut self) {
        let (pacing, window) = match self.state {
            State::Startup => (HIGH_GAIN, HIGH_GAIN),
            State::Drain => (DRAIN_GAIN, HIGH_GAIN),
            State::ProbeBandwidth(..) if self.policer.rate().is_some() => (1.0, CWND_GAIN),
            State::ProbeBandwidth(phase, _) => (CYCLE[phase], CWND_GAIN),
            State::ProbeRtt(_) => (1.0, 1.0),
        };
        self.gains = Gains { pacing, window };
    }

    /// `bbr_update_bw`.
    fn update_bandwidth(&mut self, ack: &AckEvent) {
        self.path.rounds.on_ack(ack);
        let Some(sample) = ack.sample.filter(|sample| sample.rate.is_some()) else {
            return;
        };
        self.conserving &= !self.path.rounds.start;
        self.detect_policer(ack.lost > 0, sample.app_limited);
        self.path.update_bandwidth(self.path.rounds.count, Some(sample));
    }

    fn detect_policer(&mut self, loses: bool, app_limited: bool) {
        let ended = self.policer.observe(&Observation {
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            loses,
            round: self.path.rounds.start,
            app_limited,
            probing: matches!(self.state, State::ProbeBandwidth(..)),
        });
        if ended {
            self.enter_probe_bandwidth();
        } else if self.policer.rate().is_some() {
            self.gains.pacing = 1.0;
        }
    }

    fn aggregate(&mut self, ack: &AckEvent) {
        if ack.delivered > 0 && ack.sample.is_some_and(|sample| sample.rate.is_some()) {
            let (segments, cwnd) = (ack.delivered.div_ceil(self.mss), self.window.cwnd / self.mss);
            let bandwidth = self.bandwidth() / self.mss as f64;
            let round = self.path.rounds.start;
            self.aggregation.on_ack(self.delivered_at, segments, bandwidth, cwnd, round);
        }
    }

    /// `bbr_update_cycle_phase`.
    fn update_phase(&mut self, ack: &AckEvent) {
        if let State::ProbeBandwidth(phase, since) = self.state
            && self.is_next_phase(ack, since)
        {
            self.state = State::ProbeBandwidth((phase + 1) % CYCLE.len(), self.delivered_at);
        }
    }

    /// `bbr_is_next_cycle_phase`: after a round trip; with a gain above 1 once the pipe is full or a loss
    /// occurs, below 1 as soon as the queue is empty.
    fn is_next_phase(&self, ack: &AckEvent, since: Time) -> bool {
        let min_rtt = self.path.min_rtt.map_or(Duration::ZERO, |(rtt, _)| rtt);
        let over = self.delivered_at.since(since) > min_rtt;
        let in_network = || self.in_network_at_departure(ack, ack.prior_in_flight);
        match self.gains.pacing {
            gain if gain > 1.0 => over && (ack.lost > 0 || in_network() >= self.inflight(gain)),
            gain if gain < 1.0 => over || in_network() <= self.inflight(1.0),
            _ => over,
        }
    }

    /// `bbr_reset_probe_bw_mode`: any phase but that with a gain below 1, here by the time, which also
    /// differs between flows.
    fn enter_probe_bandwidth(&mut self) {
        let pseudo_random = pseudo_random(self.delivered_at, CYCLE.len() as u64 - 1);
        let phase = if pseudo_random == 0 { 0 } else { pseudo_random as usize + 1 };
        self.state = State::ProbeBandwidth(phase, self.delivered_at);
    }

    /// `bbr_check_full_bw_reached`.
    fn check_full_pipe(&mut self, ack: &AckEvent) {
        let app_limited = ack.sample.is_some_and(|sample| sample.app_limited);
        if !self.filled && self.path.rounds.start && !app_limited {
            self.filled = self.full_pipe.on_round(self.path.max_bandwidth());
        }
    }

    /// `bbr_check_drain`.
    fn check_drain(&mut self, ack: &AckEvent) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
        }
        if self.state == State::Drain
            && self.in_network_at_departure(ack, ack.in_flight) <= self.inflight(1.0)
        {
            self.enter_probe_bandwidth();
        }
    }

    /// `bbr_set_pacing_rate`: less 1 %; never falls until the pipe has been full.
    fn set_pacing_rate(&mut self, gain: f64) {
        self.pace.set(PACING_MARGIN * gain * self.bandwidth(), self.filled);
    }

    /// `bbr_save_cwnd`.
    fn save_cwnd(&mut self) {
        self.window.save(matches!(self.state, State::ProbeRtt(_)));
    }
}

impl CongestionControl for BbrControl {
    /// `bbr_init`.
    fn on_established(&mut self, now: Time, rtt: Option<Duration>) {
        self.delivered_at = now;
        self.path.on_established(now, rtt);
        self.aggregation.restart(now);
        self.pace.set(PACING_MARGIN * HIGH_GAIN * self.path.nominal_bandwidth(rtt), true);
    }

    /// `bbr_main`.
    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.delivered > 0 {
            (self.delivered_at, self.delivered) = (ack.now, ack.total_delivered);
        }
        self.update_bandwidth(ack);
        self.aggregate(ack);
        self.update_phase(ack);
        self.check_full_pipe(ack);
        self.check_drain(ack);
        self.update_min_rtt(ack);
        self.update_gains();
        self.set_pacing_rate(self.gains.pacing);
        self.set_cwnd(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.lost += loss.range.1 - loss.range.0;
    }

    /// `bbr_ssthresh`; the next ACK sets the window.
    fn on_congestion(&mut self, _: Time, _: u64) {
        self.save_cwnd();
    }

    /// `tcp_enter_loss` and `bbr_set_state`: one segment more than in flight.
    fn on_timeout(&mut self, _: Time, in_flight: u64, again: bool) {
        if !again {
            self.save_cwnd();
        }
        self.window.phase = Phase::Loss;
        self.window.cwnd = in_flight + self.mss;
        self.full_pipe.forget_baseline();
        self.path.rounds.start = true;
        self.detect_policer(true, false);
    }

    /// `bbr_cwnd_event`, `CA_EVENT_TX_START`: `ProbeBW` paces without a gain.
    fn on_restart(&mut self, now: Time) {
        self.restarting = true;
        self.aggregation.restart(now);
        match self.state {
            State::ProbeBandwidth(..) => self.set_pacing_rate(1.0),
            State::ProbeRtt(_) => self.end_probe_rtt(now),
            State::Startup | State::Drain => {}
        }
    }

    /// `bbr_undo_cwnd`: the window is restored when the recovery ends.
    fn undo(&mut self, _: u64) {
        self.full_pipe = FullPipe::default();
        self.policer = Policer::default();
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

    fn min_quantum(&self, rate: f64) -> u64 {
        min_quantum(rate)
    }

    fn buffered_windows(&self) -> u64 {
        3
    }

    fn reduces_proportionally(&self) -> bool {
        false
    }

    /// `bbr_update_min_rtt`: in `ProbeRTT` rate samples do not show the bandwidth.
    fn holds_back(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    fn is_slow_start(&self) -> bool {
        self.state == State::Startup
    }
}
