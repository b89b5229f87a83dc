//! References "v1: 4.1" are sections of draft-cardwell-iccrg-bbr-congestion-control-00, "v3: 5.3" of
//! draft-ietf-ccwg-bbr.

use nodeb_base::units::{Duration, Time};

use super::super::filter::WindowedMax;
use super::super::{AckEvent, Phase};
use crate::linux::rate::RateSample;

/// Of a round's bandwidth to that at the last growth (v1: 4.3.2.2; v3: 5.3.1.2).
const FULL_GROWTH: f64 = 1.25;
/// Without growth the pipe is full.
const FULL_ROUNDS: u32 = 3;
/// `BBRMinPipeCwnd`.
const MIN_SEGMENTS: u64 = 4;
/// Room in addition to the path: in the sender's queue, its network card, and the receiver.
const QUANTA: u64 = 3;
/// In seconds at the pacing rate.
const QUANTUM_TIME: f64 = 0.001;
/// In bytes.
const MAX_QUANTUM: f64 = 65_536.0;

/// A round ends when data sent after its start is delivered (v1: 4.1.1.3; v3: 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    pub count: u64,
    /// The last ACK started a round; in version 1 also a timeout.
    pub start: bool,
    end: u64,
}

impl Rounds {
    /// An ACK with an invalid rate sample, over too short a time, starts no round (Linux: `bbr_update_bw`,
    /// `tcp_rate_gen`).
    pub fn on_ack(&mut self, ack: &AckEvent) {
        let valid = ack.sample.filter(|sample| sample.rate.is_some());
        self.start = valid.is_some_and(|sample| sample.prior_delivered >= self.end);
        if self.start {
            self.count += 1;
            self.restart(ack.total_delivered);
        }
    }

    /// Until data sent from now on is delivered; `delivered` is in bytes.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// The bandwidth hardly grows for several rounds although the sending rate grows.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// In bytes per second.
    pub fn above(baseline: f64) -> Self {
        Self { baseline, rounds: 0 }
    }

    /// The next round counts as growth (Linux: `bbr_set_state`).
    pub fn forget_baseline(&mut self) {
        self.baseline = 0.0;
    }

    /// In bytes per second; true after three rounds without growth by 25 %.
    pub fn on_round(&mut self, bandwidth: f64) -> bool {
        if bandwidth >= self.baseline * FULL_GROWTH {
            *self = Self::above(bandwidth);
        } else {
            self.rounds += 1;
        }
        self.rounds >= FULL_ROUNDS
    }
}

#[derive(Clone, Debug)]
pub struct Path {
    mss: u64,
    initial_window: u64,
    pub rounds: Rounds,
    max_bandwidth: WindowedMax,
    /// With the time of measurement.
    pub min_rtt: Option<(Duration, Time)>,
}

impl Path {
    /// Bandwidth samples are kept for `length` rounds or cycles, see [`Self::update_bandwidth`].
    pub fn new(mss: u64, initial_window: u64, length: u64) -> Self {
        Self {
            mss,
            initial_window,
            rounds: Rounds::default(),
            max_bandwidth: WindowedMax::new(length),
            min_rtt: None,
        }
    }

    /// In bytes per second; 0 before the first sample.
    pub fn max_bandwidth(&self) -> f64 {
        self.max_bandwidth.max()
    }

    /// `at` counts rounds or cycles; an application-limited sample counts only if it is not below the
    /// maximum.
    pub fn update_bandwidth(&mut self, at: u64, sample: Option<RateSample>) {
        if let Some(sample) = sample
            && let Some(rate) = sample.rate
            && (!sample.app_limited || rate >= self.max_bandwidth())
        {
            self.max_bandwidth.update(at, rate);
        }
    }

    /// In bytes (`BBRMinPipeCwnd`).
    pub fn min_window(&self) -> u64 {
        MIN_SEGMENTS * self.mss
    }

    /// Segments that leave together, at least `min`; `rate` in bytes per second.
    pub fn quantum(&self, rate: f64, min: u64) -> u64 {
        ((QUANTUM_TIME * rate).min(MAX_QUANTUM) as u64 / self.mss).max(min)
    }

    /// Three send quanta in segments, the window's room in addition to the path.
    pub fn quanta(&self, rate: f64, min: u64) -> u64 {
        QUANTA * self.quantum(rate, min)
    }

    /// The SYN's round-trip time (Linux: `bbr_init`; v3: 5.2.1, `OnInit`).
    pub fn on_established(&mut self, now: Time, rtt: Option<Duration>) {
        self.min_rtt = rtt.map(|rtt| (rtt, now));
    }

    /// In bytes; the initial window if no round-trip time is known.
    pub fn bdp(&self, bandwidth: f64, gain: f64) -> u64 {
        let bdp = |(rtt, _): (Duration, Time)| (gain * bandwidth * rtt.as_secs()) as u64;
        self.min_rtt.map_or(self.initial_window, bdp)
    }

    /// In bytes per second: the initial window per round-trip time, or per 1 ms (Linux:
    /// `bbr_init_pacing_rate_from_rtt`; v3: 5.6.2).
    pub fn nominal_bandwidth(&self, rtt: Option<Duration>) -> f64 {
        self.initial_window as f64 / rtt.map_or(1e-3, |rtt| rtt.as_secs().max(1e-6))
    }

    /// Less than the initial window is too little to model the path.
    pub fn is_unknown(&self, delivered: u64) -> bool {
        delivered < self.initial_window
    }
}

/// In bytes, with that before a recovery or a measurement of the round-trip time.
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

    /// An already reduced window does not replace a larger saved one.
    pub fn save(&mut self, probing_rtt: bool) {
        let undisturbed = self.phase == Phase::Open && !probing_rtt;
        self.saved = if undisturbed { self.cwnd } else { self.saved.max(self.cwnd) };
    }

    pub fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.saved);
    }
}

/// In bytes per second; never falls before the pipe has been full for the first time.
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

/// Fibonacci hashing: the time multiplied by 2^64 over the golden ratio.
pub fn pseudo_random(now: Time, bound: u64) -> u64 {
    let mixed = now.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (mixed * bound) >> 32
}
