//! Common parts of versions 1 and 3 of BBR: rounds, bandwidth, round-trip time, detection of a full
//! pipe, and the window with its saved value. References of the form "v1: 4.1" are sections of
//! draft-cardwell-iccrg-bbr-congestion-control-00, and "v3: 5.3" sections of draft-ietf-ccwg-bbr.

use nodeb_base::units::{Duration, Time};

use super::super::filter::WindowedMax;
use super::super::{AckEvent, Phase};
use crate::linux::rate::RateSample;

/// Smallest ratio of a round's bandwidth to the bandwidth at the last growth with which the round
/// counts as growth (v1: 4.3.2.2; v3: 5.3.1.2).
const FULL_GROWTH: f64 = 1.25;
/// Number of rounds without growth after which the pipe is full.
const FULL_ROUNDS: u32 = 3;
/// Smallest congestion window in segments (`BBRMinPipeCwnd`).
const MIN_SEGMENTS: u64 = 4;
/// Number of send quanta for which the window has room in addition to the path: one in the queue of
/// the sending host, one in its network card, and one in the receiving host.
const QUANTA: u64 = 3;
/// Time in seconds that a send quantum takes at the pacing rate, unless a limit of its size
/// applies.
const QUANTUM_TIME: f64 = 0.001;
/// Maximum size of a send quantum in bytes.
const MAX_QUANTUM: f64 = 65_536.0;

/// Counter of round trips. A round ends when data sent after its start is delivered (v1: 4.1.1.3;
/// v3: 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    pub count: u64,
    /// Whether the last ACK ended a round and started the next. BBR version 1 also sets this on a
    /// timeout.
    pub start: bool,
    end: u64,
}

impl Rounds {
    /// Processes an ACK, which starts a round if it delivers data sent after the last start. An ACK
    /// whose rate sample is invalid, because it spans too short a time, does not start a round
    /// (Linux: `bbr_update_bw`, `tcp_rate_gen`).
    pub fn on_ack(&mut self, ack: &AckEvent) {
        let valid = ack.sample.filter(|sample| sample.rate.is_some());
        self.start = valid.is_some_and(|sample| sample.prior_delivered >= self.end);
        if self.start {
            self.count += 1;
            self.restart(ack.total_delivered);
        }
    }

    /// Starts a round, which ends when data sent from now on is delivered. `delivered` is the
    /// number of bytes delivered so far.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// Detector of a full pipe. The pipe is full if the bandwidth hardly grows for several rounds
/// although the sending rate grows.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullPipe {
    baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// Creates a detector that counts rounds in which the bandwidth does not reach 1.25 times
    /// `baseline`, in bytes per second.
    pub fn above(baseline: f64) -> Self {
        Self { baseline, rounds: 0 }
    }

    /// Resets the baseline to 0, so that the bandwidth of the next round counts as growth (Linux:
    /// `bbr_set_state`).
    pub fn forget_baseline(&mut self) {
        self.baseline = 0.0;
    }

    /// Records the bandwidth of a round in bytes per second. Returns true if the pipe is full: for
    /// three rounds the bandwidth has not grown by 25 %.
    pub fn on_round(&mut self, bandwidth: f64) -> bool {
        if bandwidth >= self.baseline * FULL_GROWTH {
            *self = Self::above(bandwidth);
        } else {
            self.rounds += 1;
        }
        self.rounds >= FULL_ROUNDS
    }
}

/// Model of the path: its bandwidth, and its round-trip time without a queue.
#[derive(Clone, Debug)]
pub struct Path {
    mss: u64,
    initial_window: u64,
    pub rounds: Rounds,
    max_bandwidth: WindowedMax,
    /// Smallest round-trip time, and the time at which it was measured; `None` before the first
    /// measurement.
    pub min_rtt: Option<(Duration, Time)>,
}

impl Path {
    /// Creates a model without measurements. A bandwidth sample is kept for `length` units of time:
    /// rounds or cycles, depending on the caller of [`Self::update_bandwidth`].
    pub fn new(mss: u64, initial_window: u64, length: u64) -> Self {
        Self {
            mss,
            initial_window,
            rounds: Rounds::default(),
            max_bandwidth: WindowedMax::new(length),
            min_rtt: None,
        }
    }

    /// Returns the largest bandwidth sample that is still kept, in bytes per second; 0 before the
    /// first sample.
    pub fn max_bandwidth(&self) -> f64 {
        self.max_bandwidth.max()
    }

    /// Adds a bandwidth sample at time `at`, which counts rounds or cycles. An application-limited
    /// sample counts only if it is not below the present maximum.
    pub fn update_bandwidth(&mut self, at: u64, sample: Option<RateSample>) {
        if let Some(sample) = sample
            && let Some(rate) = sample.rate
            && (!sample.app_limited || rate >= self.max_bandwidth())
        {
            self.max_bandwidth.update(at, rate);
        }
    }

    /// Returns the smallest congestion window in bytes (`BBRMinPipeCwnd`).
    pub fn min_window(&self) -> u64 {
        MIN_SEGMENTS * self.mss
    }

    /// Returns the size of a send quantum at `rate` bytes per second: the number of segments that
    /// leave together. It is at least `min`.
    pub fn quantum(&self, rate: f64, min: u64) -> u64 {
        ((QUANTUM_TIME * rate).min(MAX_QUANTUM) as u64 / self.mss).max(min)
    }

    /// Returns the size of three send quanta in segments at `rate` bytes per second. The window has
    /// room for them in addition to the data on the path. `min` is the smallest quantum in
    /// segments.
    pub fn quanta(&self, rate: f64, min: u64) -> u64 {
        QUANTA * self.quantum(rate, min)
    }

    /// Records the round-trip time of the SYN as the first measurement (Linux: `bbr_init`; v3: 5.2.1,
    /// `OnInit`).
    pub fn on_established(&mut self, now: Time, rtt: Option<Duration>) {
        self.min_rtt = rtt.map(|rtt| (rtt, now));
    }

    /// Returns `gain` times the bandwidth-delay product in bytes at `bandwidth` bytes per second,
    /// or the initial window if no round-trip time is known.
    pub fn bdp(&self, bandwidth: f64, gain: f64) -> u64 {
        let bdp = |(rtt, _): (Duration, Time)| (gain * bandwidth * rtt.as_secs()) as u64;
        self.min_rtt.map_or(self.initial_window, bdp)
    }

    /// Returns the bandwidth in bytes per second that is assumed at the start: the initial window
    /// per round-trip time, or per 1 ms if the round-trip time is unknown (Linux:
    /// `bbr_init_pacing_rate_from_rtt`; v3: 5.6.2).
    pub fn nominal_bandwidth(&self, rtt: Option<Duration>) -> f64 {
        self.initial_window as f64 / rtt.map_or(1e-3, |rtt| rtt.as_secs().max(1e-6))
    }

    /// Returns true if `delivered`, the number of bytes delivered so far, is less than the initial
    /// window. So little data is not enough to model the path.
    pub fn is_unknown(&self, delivered: u64) -> bool {
        delivered < self.initial_window
    }
}

/// Congestion window in bytes, together with the window before a recovery or a measurement of the
/// round-trip time.
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

    /// Saves the present window for [`Self::restore`]. During a recovery or a measurement of the
    /// round-trip time the window is already reduced, so it does not replace a larger saved window.
    pub fn save(&mut self, probing_rtt: bool) {
        let undisturbed = self.phase == Phase::Open && !probing_rtt;
        self.saved = if undisturbed { self.cwnd } else { self.saved.max(self.cwnd) };
    }

    pub fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.saved);
    }
}

/// Pacing rate in bytes per second. The rate never falls before the pipe has been full for the
/// first time.
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

/// Returns a pseudo-random number below `bound` that depends only on the time (Fibonacci hashing:
/// the time multiplied by 2^64 over the golden ratio).
pub fn pseudo_random(now: Time, bound: u64) -> u64 {
    let mixed = now.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (mixed * bound) >> 32
}
