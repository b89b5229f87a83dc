//! Response to losses (5.5.10): the latest deliveries, and the bounds of the model that are derived
//! from them.

use super::{Bbr3Control, State};
use crate::linux::control::{AckEvent, Loss, Phase};
use crate::linux::rate::RateSample;

/// Number of separate losses in a round trip that end `Startup` (5.3.1.3).
const STARTUP_GAPS: u32 = 6;

/// Bounds of the model, which losses and ECN marks set. A bound that is not set is infinite
/// (`u64::MAX` for bytes).
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Short-term bound of the bandwidth in bytes per second (`bw_shortterm`).
    pub bandwidth: f64,
    /// Short-term bound of the number of bytes in flight (`inflight_shortterm`).
    pub short_term: u64,
    /// Long-term bound of the number of bytes in flight (`inflight_longterm`).
    pub long_term: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bandwidth: f64::INFINITY, short_term: u64::MAX, long_term: u64::MAX }
    }
}

impl Bounds {
    /// Removes the short-term bounds by setting them to infinity (`ResetShortTermModel`).
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

/// Deliveries and losses of the present round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latest {
    bandwidth: f64,
    inflight: u64,
    /// Number of bytes that had been delivered at the start of the round. The round ends when data
    /// sent after its start is delivered.
    round_end: u64,
    /// Whether the last ACK ended a round of deliveries.
    round_over: bool,
    loss_in_round: bool,
    /// Number of separate losses (runs of lost bytes) in this round. It is used, and reset at the
    /// end of each round, only in `Startup`.
    gaps: u32,
    /// Number of the byte after the last lost one.
    gap_end: u64,
}

impl Latest {
    /// Sets the maxima of the round, `bandwidth` and `inflight`, to 0, and clears `loss_in_round`
    /// (`ResetCongestionSignals`).
    pub fn reset(&mut self) {
        self.loss_in_round = false;
        (self.bandwidth, self.inflight) = (0.0, 0);
    }

    /// Adds a rate sample to the deliveries of the round. `delivered` bytes have been delivered
    /// since the start of the connection (`UpdateLatestDeliverySignals`).
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

    /// If the last ACK ended a round, restarts the maxima `bandwidth` and `inflight` with the
    /// values of the rate sample (`AdvanceLatestDeliverySignals`).
    pub fn advance(&mut self, sample: Option<RateSample>) {
        if let Some(sample) = sample
            && self.round_over
        {
            self.bandwidth = sample.rate.unwrap_or(0.0);
            self.inflight = sample.delivered;
        }
    }
}

/// State of the model to restore if a recovery turns out to be spurious (5.5.11).
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// State that BBR left because of the loss, `Startup` or `Up`; `None` if the loss did not end a
    /// state.
    state: Option<State>,
    bounds: Bounds,
}

impl Bbr3Control {
    /// Updates deliveries, rounds and bandwidth on an ACK (`UpdateCongestionSignals`). After a
    /// round with loss, also lowers the short-term bounds unless BBR probes for bandwidth.
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

    /// Lowers the short-term bounds to the deliveries of the round, but not below `beta` times the
    /// previous bounds. The caller does this once per round trip with loss.
    fn lower_short_term(&mut self) {
        let beta = self.params.beta;
        let bandwidth = self.bounds.bandwidth.min(self.path.max_bandwidth());
        let inflight =
            if self.bounds.short_term == u64::MAX { self.window.cwnd } else { self.bounds.short_term };
        self.bounds.bandwidth = self.latest.bandwidth.max(beta * bandwidth);
        self.bounds.short_term = self.latest.inflight.max((beta * inflight as f64) as u64);
    }

    /// Returns the long-term bound in bytes less the headroom for other flows, at least the
    /// smallest window (`InflightWithHeadroom`). Without a long-term bound the result is
    /// `u64::MAX`.
    pub(super) fn safe_with_headroom(&self) -> u64 {
        let safe = self.bounds.long_term;
        if safe == u64::MAX {
            return safe;
        }
        let headroom = ((self.params.headroom * safe as f64) as u64).max(self.mss);
        safe.saturating_sub(headroom).max(self.path.min_window())
    }

    /// Returns true if a loss of `lost` bytes while `in_flight` bytes were in flight exceeds the
    /// loss threshold. Without SACK every loss exceeds the threshold (`IsInflightTooHigh`).
    pub(super) fn is_too_high(&self, lost: u64, in_flight: u64) -> bool {
        lost as f64 > self.params.loss_threshold * in_flight as f64 || (lost > 0 && !self.sack)
    }

    /// Processes a lost segment: counts the loss, and lowers the long-term bound if a probe has
    /// caused too much loss (`HandleLostPacket`).
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

    /// Processes an ECN mark like a loss above the threshold: during a probe it lowers the
    /// long-term bound and ends the probe.
    fn take_mark(&mut self, ack: &AckEvent) {
        self.record_loss();
        if self.cycle.sampling
            && let Some(sample) = ack.sample
        {
            self.lower_long_term(sample.in_flight, sample.app_limited);
        }
    }

    /// Records a loss or ECN mark. The first one of a round starts a new round, and saves window and
    /// bounds for an undo (`NoteLoss` and `SaveStateUponLoss`).
    fn record_loss(&mut self) {
        if !self.latest.loss_in_round {
            self.latest.round_end = self.delivered;
            self.save_window();
            self.undo = Undo { state: None, bounds: self.bounds };
        }
        self.latest.loss_in_round = true;
    }

    /// Returns the number of bytes in flight at which losses exceeded the threshold
    /// (`InflightAtLoss`). This number may be reached in the middle of the lost segment.
    pub(super) fn inflight_at(&self, loss: &Loss) -> u64 {
        let (threshold, size) = (self.params.loss_threshold, loss.range.1 - loss.range.0);
        let in_flight = u64::from(loss.snapshot.in_flight).saturating_sub(size) as f64;
        let earlier = (loss.lost - size) as f64;
        let within = (threshold * in_flight - earlier) / (1.0 - threshold);
        (in_flight + within.max(0.0)) as u64
    }

    /// Sets the long-term bound to `in_flight` bytes, but not below `beta` times the target, and
    /// ends a probe. The bound is unchanged if the application limited the sender
    /// (`HandleInflightTooHigh`).
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

    /// Ends `Startup` at the end of a round in fast recovery if the losses of the round exceed the threshold
    /// and there are at least six separate losses, or at least one without SACK (`CheckStartupHighLoss`).
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

    /// Saves the window, so that it can be restored after a recovery (`SaveCwnd`).
    pub(super) fn save_window(&mut self) {
        self.window.save(matches!(self.state, State::ProbeRtt(_)));
    }

    /// Restores the window, bounds and state from before a recovery that was spurious
    /// (`HandleSpuriousLossDetection`).
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
