//! 5.3.3.

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

use super::{Bbr3Control, State};
use crate::linux::control::AckEvent;

/// From cycle to probe, unless rounds start it earlier (5.3.3.8.2); up to a second is added.
const MIN_WAIT: Duration = Duration::from_secs(2);
/// So that BBR and Reno flows can coexist (5.3.3.8.2).
const MAX_ROUNDS: u64 = 63;
/// Of the growth of the long-term bound.
const MAX_DOUBLINGS: u32 = 30;

/// 2.14: `ack_phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Feedback {
    #[default]
    None,
    /// ACKs do not answer a probe yet.
    Refilling,
    /// Its data is not yet acknowledged.
    Starting,
    /// ACKs answer data of the probe.
    Probing,
    /// Its last segments are being acknowledged.
    Stopping,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Cycle {
    /// Dates bandwidth samples; grows one round after each entry into `ProbeBW_DOWN`, unless the rate sample
    /// is then application-limited.
    pub count: u64,
    feedback: Feedback,
    /// `is_bw_probe_sample`.
    pub sampling: bool,
    /// Of this cycle.
    since: Time,
    /// From `since` to the probe, unless rounds start it earlier.
    wait: Duration,
    pub rounds_since_up: u64,
    /// The last probe caused too much loss.
    pub too_high: bool,
    /// The probe ended early at the bound that the last one had lowered.
    precautionary: bool,
    /// Bytes delivered under the long-term bound and not yet used to raise it.
    acked: u64,
    /// Per segment of growth of the long-term bound.
    acked_per_segment: u64,
    /// At most [`MAX_DOUBLINGS`]; the first only sets the growth.
    doublings: u32,
}

impl Cycle {
    /// Its last segments are still to be acknowledged.
    pub fn stop(&mut self) {
        self.feedback = Feedback::Stopping;
    }
}

impl Bbr3Control {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self) {
        self.latest.reset();
        self.cycle.acked_per_segment = u64::MAX;
        self.cycle.rounds_since_up = self.now.0 / 1_000 % 2;
        self.cycle.wait = Duration(MIN_WAIT.0 + self.now.0 % NANOS_PER_S);
        self.cycle.since = self.now;
        self.cycle.stop();
        self.path.rounds.restart(self.delivered);
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.bounds.forget_short_term();
        self.cycle.doublings = 0;
        self.cycle.acked = 0;
        self.cycle.precautionary = false;
        self.cycle.feedback = Feedback::Refilling;
        self.path.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, ack: &AckEvent) {
        self.cycle.feedback = Feedback::Starting;
        self.path.rounds.restart(self.delivered);
        self.search_full_pipe(rate(ack));
        self.state = State::Up;
        self.raise_slope();
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, ack: &AckEvent) {
        if !self.filled || ack.sample.is_none() || self.adapt_long_term(ack) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe() => self.start_refill(),
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if self.path.rounds.start => {
                self.cycle.sampling = true;
                self.start_up(ack);
            }
            State::Up => self.probe(ack),
            _ => {}
        }
    }

    /// `IsTimeToProbeBW`: after two to three seconds, or as many rounds as the target has segments, at most
    /// 63, in which a Reno flow would have grown by it.
    fn is_time_to_probe(&self) -> bool {
        let reno_rounds = self.target_inflight() / self.mss;
        self.now > self.cycle.since + self.cycle.wait
            || self.cycle.rounds_since_up >= reno_rounds.min(MAX_ROUNDS)
    }

    /// `TargetInflight`, in bytes.
    pub(super) fn target_inflight(&self) -> u64 {
        self.path.bdp(self.bandwidth(), 1.0).min(self.window.cwnd)
    }

    fn is_time_to_cruise(&self, ack: &AckEvent) -> bool {
        ack.in_flight <= self.safe_with_headroom()
            && ack.in_flight <= self.inflight(self.path.max_bandwidth(), 1.0)
    }

    /// `IsTimeToGoDown`.
    fn probe(&mut self, ack: &AckEvent) {
        if self.cycle.too_high && ack.in_flight >= self.bounds.long_term {
            self.cycle.precautionary = true;
        } else if self.is_at_long_term_bound(ack) {
            // The long-term bound, and not the path, may have limited the bandwidth, so the search
            // for a full pipe starts again.
            return self.search_full_pipe(rate(ack));
        } else if !self.full_now {
            return;
        }
        self.cycle.too_high = false;
        self.start_down();
    }

    /// And uses the whole window.
    fn is_at_long_term_bound(&self, ack: &AckEvent) -> bool {
        let cwnd = self.window.cwnd;
        ack.prior_in_flight + self.mss > cwnd && cwnd >= self.bounds.long_term
    }

    /// `AdaptLongTermModel`; true if it has started the next probe.
    fn adapt_long_term(&mut self, ack: &AckEvent) -> bool {
        let Some(sample) = ack.sample else {
            return false;
        };
        if self.path.rounds.start && self.cycle.feedback == Feedback::Starting {
            self.cycle.feedback = Feedback::Probing;
        }
        if self.path.rounds.start && self.cycle.feedback == Feedback::Stopping {
            self.cycle.sampling = false;
            self.cycle.feedback = Feedback::None;
            if self.state.is_probe_bw() && !sample.app_limited {
                self.cycle.count += 1;
            }
            if self.state.is_probe_bw() && self.cycle.precautionary && !self.cycle.too_high {
                self.start_refill();
                return true;
            }
        }
        if self.bounds.long_term < u64::MAX && !self.is_too_high(sample.lost, sample.in_flight) {
            self.bounds.long_term = self.bounds.long_term.max(sample.in_flight);
            if self.state == State::Up {
                self.raise_long_term(ack);
            }
        }
        false
    }

    /// `RaiseInflightLongtermSlope`: one segment per window, then doubled at each call.
    fn raise_slope(&mut self) {
        let growth = 1 << self.cycle.doublings;
        self.cycle.doublings = (self.cycle.doublings + 1).min(MAX_DOUBLINGS);
        self.cycle.acked_per_segment = (self.window.cwnd / growth).max(self.mss);
    }

    /// `ProbeInflightLongtermUpward`.
    fn raise_long_term(&mut self, ack: &AckEvent) {
        if !self.is_at_long_term_bound(ack) {
            return;
        }
        self.cycle.acked += ack.delivered;
        let segments = self.cycle.acked / self.cycle.acked_per_segment;
        self.cycle.acked -= segments * self.cycle.acked_per_segment;
        self.bounds.long_term += segments * self.mss;
        if self.path.rounds.start {
            self.raise_slope();
        }
    }
}

fn rate(ack: &AckEvent) -> f64 {
    ack.sample.and_then(|sample| sample.rate).unwrap_or(0.0)
}
