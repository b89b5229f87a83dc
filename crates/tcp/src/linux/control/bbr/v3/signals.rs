//! 5.5.10.

use super::{Bbr3Control, State};
use crate::linux::control::{AckEvent, Loss, Phase};
use crate::linux::rate::RateSample;

/// Separate losses in a round trip that end `Startup` (5.3.1.3).
const STARTUP_GAPS: u32 = 6;

/// Set by losses and ECN marks; infinite (`u64::MAX` for bytes) if not set.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// In bytes per second (`bw_shortterm`).
    pub bandwidth: f64,
    /// In flight (`inflight_shortterm`).
    pub short_term: u64,
    /// In flight (`inflight_longterm`).
    pub long_term: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bandwidth: f64::INFINITY, short_term: u64::MAX, long_term: u64::MAX }
    }
}

impl Bounds {
    /// `ResetShortTermModel`.
    pub fn forget_short_term(&mut self) {
        *self = Self { long_term: self.long_term, ..Self::default() };
    }

    fn at_least(self, other: Self) -> Self {
        Self {
            bandwidth: self.bandwidth.max(other.bandwidth),
            short_term: self.short_term.max(other.short_term),
            long_term: self.long_term.max(other.long_term),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Latest {
    bandwidth: f64,
    inflight: u64,
    /// Bytes delivered at the start of the round, which ends when data sent after it is delivered.
    round_end: u64,
    /// The last ACK ended a round.
    round_over: bool,
    loss_in_round: bool,
    /// Runs of lost bytes in this round, only in `Startup`.
    gaps: u32,
    /// After the last lost byte.
    gap_end: u64,
}

impl Latest {
    /// `ResetCongestionSignals`.
    pub fn reset(&mut self) {
        self.loss_in_round = false;
        (self.bandwidth, self.inflight) = (0.0, 0);
    }

    /// `UpdateLatestDeliverySignals`; `delivered` since the start of the connection.
    fn take(&mut self, sample: Option<RateSample>, delivered: u64) {
        self.round_over = false;
        let Some(sample) = sample else {
            return;
        };
        self.bandwidth = self.bandwidth.max(sample.rate.unwrap_or(0.0));
        self.inflight = self.inflight.max(sample.delivered);
        if sample.prior_delivered >= self.round_end {
            self.round_end = delivered;
            self.round_over = true;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub fn advance(&mut self, sample: Option<RateSample>) {
        if let Some(sample) = sample
            && self.round_over
        {
            self.bandwidth = sample.rate.unwrap_or(0.0);
            self.inflight = sample.delivered;
        }
    }
}

/// To restore after a spurious recovery (5.5.11).
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// `Startup` or `Up`, if the loss ended it.
    state: Option<State>,
    bounds: Bounds,
}

impl Bbr3Control {
    /// `UpdateCongestionSignals`; after a round with loss also lowers the short-term bounds unless BBR
    /// probes.
    pub(super) fn update_signals(&mut self, ack: &AckEvent) {
        self.latest.take(ack.sample, ack.total_delivered);
        self.path.rounds.on_ack(ack);
        self.cycle.rounds_since_up += u64::from(self.path.rounds.start);
        self.path.update_bandwidth(self.cycle.count, ack.sample);
        if ack.marked {
            self.take_mark(ack);
        }
        if self.latest.round_over {
            if self.latest.loss_in_round && !self.state.is_probing() {
                self.lower_short_term();
            }
            self.latest.loss_in_round = false;
        }
    }

    /// To the deliveries of the round, at least `beta` times before; once per round trip with loss.
    fn lower_short_term(&mut self) {
        let beta = self.params.beta;
        let bandwidth = self.bounds.bandwidth.min(self.path.max_bandwidth());
        let inflight =
            if self.bounds.short_term == u64::MAX { self.window.cwnd } else { self.bounds.short_term };
        self.bounds.bandwidth = self.latest.bandwidth.max(beta * bandwidth);
        self.bounds.short_term = self.latest.inflight.max((beta * inflight as f64) as u64);
    }

    /// `InflightWithHeadroom`, in bytes; `u64::MAX` without a long-term bound.
    pub(super) fn safe_with_headroom(&self) -> u64 {
        let safe = self.bounds.long_term;
        if safe == u64::MAX {
            return safe;
        }
        let headroom = ((self.params.headroom * safe as f64) as u64).max(self.mss);
        safe.saturating_sub(headroom).max(self.path.min_window())
    }

    /// `IsInflightTooHigh`; every loss is without SACK.
    pub(super) fn is_too_high(&self, lost: u64, in_flight: u64) -> bool {
        lost as f64 > self.params.loss_threshold * in_flight as f64 || (lost > 0 && !self.sack)
    }

    /// `HandleLostPacket`.
    pub(super) fn take_loss(&mut self, loss: &Loss) {
        self.now = loss.now;
        self.delivered = loss.delivered;
        self.record_loss();
        if loss.range.0 != self.latest.gap_end {
            self.latest.gaps += 1;
        }
        self.latest.gap_end = loss.range.1;
        if self.cycle.sampling && self.is_too_high(loss.lost, loss.snapshot.in_flight.into()) {
            self.lower_long_term(self.inflight_at(loss), loss.snapshot.app_limited);
        }
    }

    /// As a loss above the threshold: ends a probe and lowers the long-term bound.
    fn take_mark(&mut self, ack: &AckEvent) {
        self.record_loss();
        if self.cycle.sampling
            && let Some(sample) = ack.sample
        {
            self.lower_long_term(sample.in_flight, sample.app_limited);
        }
    }

    /// `NoteLoss` and `SaveStateUponLoss`: the first of a round starts a new one and saves window and bounds.
    fn record_loss(&mut self) {
        if !self.latest.loss_in_round {
            self.latest.round_end = self.delivered;
            self.save_window();
            self.undo = Undo { state: None, bounds: self.bounds };
        }
        self.latest.loss_in_round = true;
    }

    /// `InflightAtLoss`, possibly in the middle of the lost segment.
    pub(super) fn inflight_at(&self, loss: &Loss) -> u64 {
        let (threshold, size) = (self.params.loss_threshold, loss.range.1 - loss.range.0);
        let in_flight = u64::from(loss.snapshot.in_flight).saturating_sub(size) as f64;
        let earlier = (loss.lost - size) as f64;
        let within = (threshold * in_flight - earlier) / (1.0 - threshold);
        (in_flight + within.max(0.0)) as u64
    }

    /// `HandleInflightTooHigh`: at least `beta` times the target; unchanged if application-limited.
    fn lower_long_term(&mut self, in_flight: u64, app_limited: bool) {
        self.cycle.too_high = true;
        self.cycle.sampling = false;
        if !app_limited {
            let least = (self.params.beta * self.target_inflight() as f64) as u64;
            self.bounds.long_term = in_flight.max(least);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down();
        }
    }

    /// `CheckStartupHighLoss`: losses above the threshold in fast recovery, six separate ones or, without
    /// SACK, one.
    pub(super) fn check_startup_loss(&mut self, ack: &AckEvent) {
        let Some(sample) = ack.sample.filter(|_| self.latest.round_over) else {
            return;
        };
        let gaps = std::mem::take(&mut self.latest.gaps);
        let enough = if self.sack { gaps >= STARTUP_GAPS } else { gaps > 0 };
        if ack.phase == Phase::Recovery && enough && self.is_too_high(sample.lost, sample.in_flight) {
            self.undo.state = Some(State::Startup);
            self.filled = true;
            self.bounds.long_term = self.path.bdp(self.bandwidth(), 1.0).max(self.latest.inflight);
        }
    }

    /// `SaveCwnd`.
    pub(super) fn save_window(&mut self) {
        self.window.save(matches!(self.state, State::ProbeRtt(_)));
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn undo_recovery(&mut self) {
        self.window.restore();
        self.latest.loss_in_round = false;
        self.search_full_pipe(0.0);
        self.bounds = self.bounds.at_least(self.undo.bounds);
        let probing_rtt = matches!(self.state, State::ProbeRtt(_));
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.filled = false;
                if !probing_rtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && !probing_rtt => self.start_refill(),
            _ => {}
        }
    }
}
