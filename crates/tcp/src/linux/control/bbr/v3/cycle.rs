//! The cycle of probing for bandwidth (5.3.3), with the states `Down`, `Cruise`, `Refill` and `Up`.

use nodeb_base::units::{Duration, NANOS_PER_S, Time};

use super::{Bbr3Control, State};
use crate::linux::control::AckEvent;

/// Minimum time from the start of a cycle to the start of its probe, unless the number of rounds
/// starts the probe earlier (5.3.3.8.2). Up to a second is added, which depends on the simulated
/// time.
const MIN_WAIT: Duration = Duration::from_secs(2);
/// Maximum number of round trips between probes, so that BBR and Reno flows can coexist
/// (5.3.3.8.2).
const MAX_ROUNDS: u64 = 63;
/// Maximum number of doublings of the rate at which the long-term bound grows.
const MAX_DOUBLINGS: u32 = 30;

/// Relation of the ACKs that arrive at present to the last probe for bandwidth (2.14: `ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Feedback {
    #[default]
    None,
    /// The sender refills the pipe before a probe, so the ACKs do not answer a probe yet.
    Refilling,
    /// The probe has started, but its data is not yet acknowledged.
    Starting,
    /// The ACKs that arrive answer data of the probe.
    Probing,
    /// The probe is over, and its last segments are being acknowledged.
    Stopping,
}

/// State of the cycle in which BBR probes for bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cycle {
    /// Number of the present cycle, which dates bandwidth samples. It grows by 1 one round after each
    /// entry into `ProbeBW_DOWN`, unless the rate sample of the ACK is then application-limited.
    pub count: u64,
    feedback: Feedback,
    /// Whether the rate samples and losses that arrive at present belong to a probe
    /// (`is_bw_probe_sample`).
    pub sampling: bool,
    /// Start time of this cycle.
    since: Time,
    /// Time from the start of this cycle (`since`) after which the next ACK starts the cycle's probe. The
    /// probe may start earlier, after enough rounds.
    wait: Duration,
    pub rounds_since_up: u64,
    /// Whether the last probe caused too much loss.
    pub too_high: bool,
    /// Whether the present probe ended early, because the data in flight had reached the bound that
    /// the last probe had lowered.
    precautionary: bool,
    /// Number of bytes delivered while the long-term bound limited the sender and not yet used to
    /// raise the bound.
    acked: u64,
    /// Number of bytes that must be acknowledged per segment of growth of the long-term bound.
    acked_per_segment: u64,
    /// Number of times that the growth per acknowledged byte was set in this probe, at most
    /// [`MAX_DOUBLINGS`]. Each time after the first doubles it.
    doublings: u32,
}

impl Cycle {
    /// Records that the sender sends no more data of the probe. The last segments of the probe are
    /// still to be acknowledged.
    pub fn stop(&mut self) {
        self.feedback = Feedback::Stopping;
    }
}

impl Bbr3Control {
    /// Enters `ProbeBW_DOWN`, which drains the queue that a probe has built. A new cycle starts
    /// (`StartProbeBW_DOWN`).
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

    /// Enters `ProbeBW_REFILL`, which fills the pipe for a round trip before a probe
    /// (`StartProbeBW_REFILL`).
    pub(super) fn start_refill(&mut self) {
        self.bounds.forget_short_term();
        self.cycle.doublings = 0;
        self.cycle.acked = 0;
        self.cycle.precautionary = false;
        self.cycle.feedback = Feedback::Refilling;
        self.path.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    /// Enters `ProbeBW_UP`, which probes for bandwidth (`StartProbeBW_UP`).
    fn start_up(&mut self, ack: &AckEvent) {
        self.cycle.feedback = Feedback::Starting;
        self.path.rounds.restart(self.delivered);
        self.search_full_pipe(rate(ack));
        self.state = State::Up;
        self.raise_slope();
    }

    /// Processes an ACK in the cycle of probing: adapts the long-term bound, and enters the next
    /// state if it is due (`UpdateProbeBWCyclePhase`).
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

    /// Returns true if it is time to probe for bandwidth (`IsTimeToProbeBW`). A probe is due two to
    /// three seconds after the start of the cycle. It is due earlier if a Reno flow would have
    /// grown by the target for the data in flight, that is, after as many rounds as this target has
    /// segments, at most 63.
    fn is_time_to_probe(&self) -> bool {
        let reno_rounds = self.target_inflight() / self.mss;
        self.now > self.cycle.since + self.cycle.wait
            || self.cycle.rounds_since_up >= reno_rounds.min(MAX_ROUNDS)
    }

    /// Returns the target for the data in flight in bytes: the bandwidth-delay product, at most the
    /// window (`TargetInflight`).
    pub(super) fn target_inflight(&self) -> u64 {
        self.path.bdp(self.bandwidth(), 1.0).min(self.window.cwnd)
    }

    fn is_time_to_cruise(&self, ack: &AckEvent) -> bool {
        ack.in_flight <= self.safe_with_headroom()
            && ack.in_flight <= self.inflight(self.path.max_bandwidth(), 1.0)
    }

    /// Leaves `ProbeBW_UP` when the pipe is full, or when the data in flight reaches a long-term
    /// bound that the last probe has lowered (`IsTimeToGoDown`).
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

    /// Returns true if the sender uses its whole window and the long-term bound limits the window.
    fn is_at_long_term_bound(&self, ack: &AckEvent) -> bool {
        let cwnd = self.window.cwnd;
        ack.prior_in_flight + self.mss > cwnd && cwnd >= self.bounds.long_term
    }

    /// Updates the relation of ACKs to the probe, and raises the long-term bound if the data in
    /// flight caused little loss (`AdaptLongTermModel`). Returns true if it has started the next
    /// probe, which begins in `ProbeBW_REFILL`.
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

    /// Sets the growth of the long-term bound to one segment per window at the first call in a
    /// probe, and doubles it at each later call (`RaiseInflightLongtermSlope`).
    fn raise_slope(&mut self) {
        let growth = 1 << self.cycle.doublings;
        self.cycle.doublings = (self.cycle.doublings + 1).min(MAX_DOUBLINGS);
        self.cycle.acked_per_segment = (self.window.cwnd / growth).max(self.mss);
    }

    /// Raises the long-term bound during a probe if that bound limits the sender
    /// (`ProbeInflightLongtermUpward`).
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
