//! What both versions measure: rounds, the bandwidth, the round trip, and whether the pipe is full;
//! and the window with the one to return to.

use nodeb_base::units::{Duration, Time};

use super::super::filter::WindowedMax;
use super::super::{AckEvent, Phase};
use crate::linux::rate::RateSample;

/// Growth that shows that the pipe is not full, and rounds without it that show the contrary (v1:
/// 4.3.2.2; v3: 5.3.1.2).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Smallest window in segments (`BBRMinPipeCwnd`).
const MIN_SEGMENTS: u64 = 4;
/// Send quanta for which the window has room: one each in the sending host's queue, in its network
/// card, and in the receiving host.
const QUANTA: u64 = 3;
/// What leaves together takes this long, seconds, and is at most so many bytes.
const QUANTUM_TIME: f64 = 0.001;
const LARGEST_QUANTUM: f64 = 65_536.0;

/// Round trips counted by bytes delivered (v1: 4.1.1.1; v3: 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    pub count: u64,
    /// Whether the last ACK began a round.
    pub start: bool,
    end: u64,
}

impl Rounds {
    /// A sample over too short a time begins no round (Linux: `bbr_update_bw`, `tcp_rate_gen`).
    pub fn on_ack(&mut self, ack: &AckEvent) {
        let valid = ack.sample.filter(|sample| sample.rate.is_some());
        self.start = valid.is_some_and(|sample| sample.prior_delivered >= self.end);
        if self.start {
            self.count += 1;
            self.restart(ack.total_delivered);
        }
    }

    /// Begins a round with what is sent from now on.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// Looks for a plateau of the bandwidth while sending accelerates.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// Begins to look, with `baseline` to be exceeded.
    pub fn above(baseline: f64) -> Self {
        Self { baseline, rounds: 0 }
    }

    /// Forgets the baseline, so that the next round is growth (Linux: `bbr_set_state`).
    pub fn forget_baseline(&mut self) {
        self.baseline = 0.0;
    }

    /// Takes a round's bandwidth; returns whether the pipe is full.
    pub fn on_round(&mut self, bandwidth: f64) -> bool {
        if bandwidth >= self.baseline * FULL_GROWTH {
            *self = Self::above(bandwidth);
        } else {
            self.rounds += 1;
        }
        self.rounds >= FULL_ROUNDS
    }
}

/// The model of the path: how much it delivers, and how long that takes when no queue is there.
#[derive(Clone, Debug)]
pub struct Path {
    mss: u64,
    initial_window: u64,
    pub rounds: Rounds,
    max_bandwidth: WindowedMax,
    /// The smallest round trip and when it was measured.
    pub min_rtt: Option<(Duration, Time)>,
}

impl Path {
    /// Nothing is known. `length` is how long the largest bandwidth is remembered, in whatever unit
    /// [`Self::update_bandwidth`] is told the time.
    pub fn new(mss: u64, initial_window: u64, length: u64) -> Self {
        Self {
            mss,
            initial_window,
            rounds: Rounds::default(),
            max_bandwidth: WindowedMax::new(length),
            min_rtt: None,
        }
    }

    /// The largest bandwidth, bytes per second.
    pub fn max_bandwidth(&self) -> f64 {
        self.max_bandwidth.max()
    }

    /// Takes a sample at time `at`; those that the data have limited count only if they are larger.
    pub fn update_bandwidth(&mut self, at: u64, sample: Option<RateSample>) {
        if let Some(sample) = sample
            && let Some(rate) = sample.rate
            && (!sample.app_limited || rate >= self.max_bandwidth())
        {
            self.max_bandwidth.update(at, rate);
        }
    }

    /// Smallest window.
    pub fn min_window(&self) -> u64 {
        MIN_SEGMENTS * self.mss
    }

    /// Segments that leave together at `rate`, at least `least`.
    pub fn quantum(&self, rate: f64, least: u64) -> u64 {
        ((QUANTUM_TIME * rate).min(LARGEST_QUANTUM) as u64 / self.mss).max(least)
    }

    /// Segments that may wait at either end.
    pub fn quanta(&self, rate: f64, least: u64) -> u64 {
        QUANTA * self.quantum(rate, least)
    }

    /// The connection is set up; its round trip is the first (Linux: `bbr_init`; v3: 5.2.1, `OnInit`).
    pub fn on_established(&mut self, now: Time, rtt: Option<Duration>) {
        self.min_rtt = rtt.map(|rtt| (rtt, now));
    }

    /// `gain` times what the path holds at `bandwidth`; the initial window while there is no round trip.
    pub fn bdp(&self, bandwidth: f64, gain: f64) -> u64 {
        let bdp = |(rtt, _): (Duration, Time)| (gain * bandwidth * rtt.as_secs()) as u64;
        self.min_rtt.map_or(self.initial_window, bdp)
    }

    /// The bandwidth at the start: the initial window in a round trip, or in 1 ms where none is known
    /// (Linux: `bbr_init_pacing_rate_from_rtt`; v3: 5.6.2).
    pub fn nominal_bandwidth(&self, rtt: Option<Duration>) -> f64 {
        self.initial_window as f64 / rtt.map_or(1e-3, |rtt| rtt.as_secs().max(1e-6))
    }

    /// Whether less than the initial window has been delivered, too little to judge the path.
    pub fn is_unknown(&self, delivered: u64) -> bool {
        delivered < self.initial_window
    }
}

/// The window, and what it was before a recovery or a probe of the round trip.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub cwnd: u64,
    saved: u64,
    pub phase: Phase,
}

impl Window {
    pub fn new(cwnd: u64) -> Self {
        Self { cwnd, saved: 0, phase: Phase::Open }
    }

    /// Remembers the window; one that was reduced before does not replace a larger one.
    pub fn save(&mut self, probing_rtt: bool) {
        let undisturbed = self.phase == Phase::Open && !probing_rtt;
        self.saved = if undisturbed { self.cwnd } else { self.saved.max(self.cwnd) };
    }

    pub fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.saved);
    }
}

/// The pacing rate, which does not fall before the pipe has been full.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    pub rate: Option<f64>,
}

impl Pace {
    pub fn set(&mut self, rate: f64, filled: bool) {
        if filled || self.rate.is_none_or(|before| rate > before) {
            self.rate = Some(rate);
        }
    }
}

/// A number below `most` that looks drawn at random and follows from the time (Fibonacci hashing: the time
/// times 2^64 over the golden ratio).
pub fn draw(now: Time, most: u64) -> u64 {
    let mixed = now.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (mixed * most) >> 32
}
