//! Congestion control: how large the window is, and how fast it may be sent.
//!
//! A control hears of ACKs, of congestion (once per recovery) and of timeouts, and answers with a
//! window and, if it wants, a rate. Everything else, from finding losses to spreading a reduction
//! over a round trip, belongs to the sender.

pub mod bbr;
pub mod cubic;
pub mod filter;
pub mod hystart;
pub mod reno;
pub mod vegas;
pub mod veno;
pub mod westwood;

use super::rate::RateSample;
use crate::registry;
use crate::units::{Duration, Time};

/// What the sender is doing when an ACK arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is known to be lost.
    Open,
    /// What was lost is being sent again, or the window reduced after an ECN echo.
    Recovery,
    /// The same after a timeout.
    Loss,
}

/// An ACK as a control sees it.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When it arrived.
    pub now: Time,
    /// Bytes that it acknowledges cumulatively.
    pub acked: u64,
    /// Bytes that it delivers, those beyond gaps included.
    pub delivered: u64,
    /// Bytes that were found lost on it.
    pub lost: u64,
    /// Bytes in flight before it.
    pub prior_in_flight: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// The round trip that it completes.
    pub rtt: Option<Duration>,
    /// Smoothed round trip.
    pub srtt: Duration,
    /// The delivery rate that it shows.
    pub rate: Option<RateSample>,
    /// Bytes delivered when the newest segment that it delivers was sent.
    pub prior_delivered: Option<u64>,
    /// Bytes delivered so far.
    pub total_delivered: u64,
    /// First byte not yet acknowledged.
    pub una: u64,
    /// The next byte to be sent for the first time.
    pub next: u64,
    /// What the sender is doing.
    pub phase: Phase,
    /// Whether the window, rather than the data or the receiver, has limited the sender.
    pub window_limited: bool,
}

/// A congestion control. All sizes are in bytes.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// Takes an ACK.
    fn on_ack(&mut self, ack: &AckEvent);
    /// A loss or an ECN echo begins a recovery with `in_flight` bytes outstanding.
    fn on_congestion(&mut self, now: Time, in_flight: u64);
    /// The retransmission timer has expired with `in_flight` bytes not given up; `again` says that
    /// it was for a segment that a timeout had sent again before.
    fn on_timeout(&mut self, now: Time, in_flight: u64, again: bool);
    /// The recovery has ended.
    fn on_recovered(&mut self, _now: Time) {}
    /// Nothing has been sent for longer than the timeout: the window says little about the path any
    /// more (RFC 5681, 4.1).
    fn on_idle(&mut self) {}
    /// The last reduction was a mistake (RFC 4015).
    fn undo(&mut self);
    /// The congestion window.
    fn cwnd(&self) -> u64;
    /// The slow-start threshold; `u64::MAX` while there is none.
    fn ssthresh(&self) -> u64;
    /// Bytes per second at which to pace; `None` leaves it to the window and the round trip.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// Whether the sender should spread a reduction over a round trip (PRR).
    fn reduces_proportionally(&self) -> bool {
        true
    }
    /// Whether the window still grows in search of the path's capacity.
    fn is_slow_start(&self) -> bool {
        self.cwnd() < self.ssthresh()
    }
}

registry! {
    /// The congestion control, as a scenario names it.
    "congestion control" CongestionSpec {
        /// Reno (RFC 5681) with byte counting (RFC 3465): one segment more per round trip.
        "reno" => Reno(reno::Reno),
        /// CUBIC (RFC 9438) with HyStart++ (RFC 9406): grows with time since the last reduction.
        "cubic" => Cubic(cubic::Cubic),
        /// BBR version 1: paced at the bandwidth that it measures, with a short queue.
        "bbr" => Bbr(bbr::Bbr),
        /// Westwood+: after a loss falls to the bandwidth that it has measured, for radio links.
        "westwood" => Westwood(westwood::Westwood),
        /// Vegas: keeps two to four segments in the queue and so avoids loss.
        "vegas" => Vegas(vegas::Vegas),
        /// Veno: Reno that takes a loss with a short queue for one of the radio.
        "veno" => Veno(veno::Veno),
    }
}

impl Default for CongestionSpec {
    fn default() -> Self {
        Self::Cubic(cubic::Cubic::default())
    }
}

impl CongestionSpec {
    /// The control for segments of `mss` bytes, with an initial window in bytes.
    pub fn build(&self, mss: u64, initial_window: u64, paced: bool) -> Box<dyn CongestionControl> {
        match self {
            Self::Reno(_) => Box::new(reno::Policy::new(mss, initial_window)),
            Self::Cubic(params) => Box::new(cubic::Policy::new(params, mss, initial_window, paced)),
            Self::Bbr(params) => Box::new(bbr::Policy::new(params, mss, initial_window)),
            Self::Westwood(_) => Box::new(westwood::Policy::new(mss, initial_window)),
            Self::Vegas(params) => Box::new(vegas::Policy::new(params, mss, initial_window)),
            Self::Veno(params) => Box::new(veno::Policy::new(params, mss, initial_window)),
        }
    }

    /// Whether the control cannot do without pacing.
    pub fn needs_pacing(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }
}

/// Window and threshold of a control that reacts to loss, with what they were before.
#[derive(Clone, Copy, Debug)]
pub struct LossWindow {
    /// Size of a segment.
    pub mss: u64,
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    initial: u64,
    before: Option<(u64, u64)>,
}

impl LossWindow {
    /// The window at the start.
    pub fn new(mss: u64, initial_window: u64) -> Self {
        Self { mss, cwnd: initial_window, ssthresh: u64::MAX, initial: initial_window, before: None }
    }

    /// Reduces window and threshold to `target`, at least two segments (RFC 5681, equation 4).
    pub fn reduce(&mut self, target: u64) {
        self.before = Some((self.cwnd, self.ssthresh));
        self.ssthresh = target.max(2 * self.mss);
        self.cwnd = self.ssthresh;
    }

    /// Restarts with one segment beyond what is in flight after a timeout (RFC 5681, 3.1).
    pub fn restart(&mut self, in_flight: u64) {
        self.cwnd = in_flight + self.mss;
    }

    /// Falls back to the restart window and remembers where slow start led before (RFC 5681, 4.1;
    /// the threshold as in Linux, `tcp_cwnd_restart`).
    pub fn idle(&mut self) {
        if self.cwnd > self.initial && self.ssthresh < u64::MAX {
            self.ssthresh = self.ssthresh.max(self.cwnd / 4 * 3);
        }
        self.cwnd = self.cwnd.min(self.initial);
    }

    /// Takes the last reduction back.
    pub fn undo(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
        }
    }

    /// Whether the window is below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start: grows by what is acknowledged, at most `limit` segments (RFC 3465, 2.2), up to
    /// the threshold; returns the bytes left over for congestion avoidance.
    pub fn slow_start(&mut self, acked: u64, limit: u64) -> u64 {
        let growth = acked.min(limit.saturating_mul(self.mss)).min(self.ssthresh - self.cwnd);
        self.cwnd += growth;
        if self.in_slow_start() { 0 } else { acked - growth.min(acked) }
    }
}

#[cfg(test)]
impl Default for AckEvent {
    /// An ACK of a sender that uses its window.
    fn default() -> Self {
        Self {
            now: Time::ZERO,
            acked: 0,
            delivered: 0,
            lost: 0,
            prior_in_flight: 0,
            in_flight: 0,
            rtt: None,
            srtt: Duration::ZERO,
            rate: None,
            prior_delivered: None,
            total_delivered: 0,
            una: 0,
            next: 0,
            phase: Phase::Open,
            window_limited: true,
        }
    }
}
