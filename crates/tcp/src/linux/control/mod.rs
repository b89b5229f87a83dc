//! Congestion control: the size of the window and the pacing rate.
//!
//! The sender reports ACKs, congestion (once per recovery) and timeouts to the congestion control,
//! which sets a window and, optionally, a pacing rate. All other functions are part of the sender,
//! from loss detection to spreading a window reduction over a round trip.

pub mod bbr;
pub mod cubic;
pub mod cubic_rfc9438;
pub mod filter;
pub mod hystart;
pub mod hystart_plus_plus;
pub mod loss_based;
pub mod reno;
pub mod scalable;
pub mod slow_start;
pub mod vegas;
pub mod veno;
pub mod westwood;

use nodeb_base::plugin::Parameters;
use nodeb_base::registry;
use nodeb_base::units::{Duration, Time};

use super::params::Linux;
use super::rate::{RateSample, Snapshot};

/// Phase of the sender's loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss is being repaired, and no window reduction is in progress.
    Open,
    /// Recovery without a timeout: lost segments are retransmitted, or the window is reduced after
    /// an ECN echo.
    Recovery,
    /// Recovery after a retransmission timeout, in which lost segments are retransmitted.
    Loss,
}

/// Fields of an ACK, and of the sender's state, on which congestion control depends.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Number of bytes that the ACK acknowledges cumulatively.
    pub acked: u64,
    /// Number of bytes that the ACK delivers: cumulatively, by SACK beyond a gap, or as duplicates
    /// (D-SACK).
    pub delivered: u64,
    /// Number of segments that the ACK delivers, by which windows grow (Linux: `acked_sacked`). An
    /// ACK may acknowledge many more segments, if SACKs have reported them before.
    pub segments: u64,
    /// Number of bytes that were newly marked lost on the ACK.
    pub lost: u64,
    /// Whether the ACK echoes an ECN mark for which the window is reduced (RFC 3168).
    pub marked: bool,
    /// Number of bytes that were in flight before the ACK.
    pub prior_in_flight: u64,
    /// Number of bytes that are in flight after the ACK.
    pub in_flight: u64,
    /// Round-trip time that the ACK gives: that of the newest segment measured or, without one, that of the
    /// echoed timestamp. `None` if the ACK gives no measurement.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; 0 before the first measurement.
    pub srtt: Duration,
    /// Sample of the delivery rate; `None` if the ACK delivers no data or the congestion control
    /// does not pace itself.
    pub sample: Option<RateSample>,
    /// Number of bytes delivered since the start of the connection.
    pub total_delivered: u64,
    /// First byte that is not yet acknowledged after the ACK.
    pub una: u64,
    /// Next byte that will be sent for the first time.
    pub next: u64,
    /// Phase of the sender's loss recovery after the ACK.
    pub phase: Phase,
    /// Whether the ACK delivers data beyond a gap on a path with a high degree of reordering, where
    /// the window grows on any delivery (Linux: `tcp_may_raise_cwnd`).
    pub reordered: bool,
    /// Whether the congestion window or the pacer, and not a lack of data or the receiver's window, limited
    /// the sender. In slow start also true if more than half of the window was in use.
    pub window_limited: bool,
    /// Time at which the pacer allows the next segment (Linux: `tcp_wstamp_ns`).
    pub departure: Time,
}

impl AckEvent {
    /// Returns true if a loss-based control may open its window, whether or not the window is in
    /// use (`tcp_may_raise_cwnd`). Neither fast recovery nor a reduction after an ECN mark may be
    /// in progress. The ACK must acknowledge data or, if the degree of reordering is high, deliver
    /// data beyond a gap.
    pub fn may_raise(&self) -> bool {
        self.phase != Phase::Recovery && (self.acked > 0 || self.reordered)
    }

    /// Returns true if a loss-based control may open its window on this ACK. [`Self::may_raise`]
    /// must be true, and the window must have limited the sender (`tcp_is_cwnd_limited`).
    pub fn may_grow(&self) -> bool {
        self.may_raise() && self.window_limited
    }
}

/// Segment that was marked lost, as reported to the congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Time at which the segment was marked lost.
    pub now: Time,
    /// Bytes of the segment, as (first byte, last byte + 1).
    pub range: (u64, u64),
    /// State of the connection at the time at which the segment was sent; all zeros if the congestion control
    /// does not pace itself.
    pub snapshot: Snapshot,
    /// Number of bytes marked lost since the segment was sent, including the bytes of the segment. If the
    /// congestion control does not pace itself, the number since the start of the connection.
    pub lost: u64,
    /// Number of bytes delivered from the start of the connection until the loss was marked.
    pub delivered: u64,
}

/// Congestion control of one connection. All sizes are in bytes.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// Handles the establishment of the connection. `rtt` is the round-trip time of the SYN, `None`
    /// if it is unknown because the SYN was retransmitted without timestamps.
    fn on_established(&mut self, _now: Time, _rtt: Option<Duration>) {}
    /// Processes an ACK, on which the window and the pacing rate may change.
    fn on_ack(&mut self, ack: &AckEvent);
    /// Records a lost segment. The sender reports the resulting reduction by
    /// [`Self::on_congestion`] or [`Self::on_timeout`].
    fn on_loss(&mut self, _loss: &Loss) {}
    /// Handles the start of a recovery after a loss or an ECN echo. Also handles a loss that a tail
    /// loss probe has repaired. `in_flight` bytes are outstanding.
    fn on_congestion(&mut self, now: Time, in_flight: u64);
    /// Handles a retransmission timeout with `in_flight` bytes still in flight. `again` is true if
    /// the window has already been reduced for the outstanding data.
    fn on_timeout(&mut self, now: Time, in_flight: u64, again: bool);
    /// Handles the end of a recovery. By default nothing happens.
    fn on_recovered(&mut self, _now: Time) {}
    /// Handles a pause that was longer than `timeouts` retransmission timeouts. After it the window
    /// is no longer a valid estimate (RFC 5681, 4.1).
    fn on_idle(&mut self, _timeouts: u64) {}
    /// Handles an under-used window: for the length of a retransmission timeout, at most `used` bytes
    /// were in flight (RFC 2861; Linux: `tcp_cwnd_application_limited`).
    fn on_unused(&mut self, _used: u64) {}
    /// Handles the start of a transmission with nothing in flight, `pause` after the last data was
    /// sent. If the pause reduces the window, [`Self::on_idle`] is called before.
    fn on_start(&mut self, _now: Time, _pause: Duration) {}
    /// Handles the start of a transmission with nothing in flight after a time in which the sender
    /// was application-limited. The sender also counts as application-limited while [`Self::holds_back`]
    /// returns true.
    fn on_restart(&mut self, _now: Time) {}
    /// Undoes the last window reduction, which turned out to be spurious (RFC 4015). `window` is
    /// the present window in bytes.
    fn undo(&mut self, window: u64);
    /// Returns the congestion window in bytes.
    fn cwnd(&self) -> u64;
    /// Returns the slow-start threshold in bytes, `u64::MAX` if there is none.
    fn ssthresh(&self) -> u64;
    /// Returns the pacing rate in bytes per second. `None` means that the sender derives the rate
    /// from the window and the round-trip time if the key `pacing` is on, and otherwise does not
    /// pace.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// Returns the minimum number of segments that leave together at a pacing rate of `rate` bytes
    /// per second.
    fn min_quantum(&self, _rate: f64) -> u64 {
        2
    }
    /// Returns true if the sender should spread a window reduction over a round trip (Proportional
    /// Rate Reduction, RFC 9937).
    fn reduces_proportionally(&self) -> bool {
        true
    }
    /// Returns the size of the send buffer in congestion windows (Linux: `sndbuf_expand`).
    fn buffered_windows(&self) -> u64 {
        2
    }
    /// Returns true if the congestion control deliberately sends less than the path allows at
    /// present, so that rate samples do not show the bandwidth of the path.
    fn holds_back(&self) -> bool {
        false
    }
    /// Returns true while the window grows in search of the path's capacity, by default while it is
    /// below the slow-start threshold.
    fn is_slow_start(&self) -> bool {
        self.cwnd() < self.ssthresh()
    }
    /// Returns the present decisions of the congestion control: window, threshold, pacing.
    fn plan(&self) -> Plan {
        let pacing_rate = self.pacing_rate();
        Plan {
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            pacing_rate,
            min_quantum: self.min_quantum(pacing_rate.unwrap_or(0.0)),
            holds_back: self.holds_back(),
            is_slow_start: self.is_slow_start(),
        }
    }
}

/// Decisions of a congestion control. Each field is the result of the method of
/// [`CongestionControl`] with the same name.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes, `u64::MAX` if there is none.
    pub ssthresh: u64,
    /// Pacing rate in bytes per second. `None` means that the sender derives the rate from the
    /// window and the round-trip time if the key `pacing` is on, and otherwise does not pace.
    pub pacing_rate: Option<f64>,
    /// Minimum number of segments that leave together at the present pacing rate.
    pub min_quantum: u64,
    /// Whether the congestion control deliberately sends less than the path allows at present.
    pub holds_back: bool,
    /// Whether the window grows in search of the path's capacity, as in slow start.
    pub is_slow_start: bool,
}

/// Congestion control of a connection with its current [`Plan`]. The sender reads the plan many
/// times per ACK. The plan is stored because it changes only when an event is reported to the
/// congestion control.
#[derive(Debug)]
pub struct Control {
    algorithm: Box<dyn CongestionControl>,
    plan: Plan,
}

impl Control {
    /// Creates the control of a new connection with the initial plan of `algorithm`.
    pub fn new(algorithm: Box<dyn CongestionControl>) -> Self {
        Self { plan: algorithm.plan(), algorithm }
    }

    /// Reports an event to the algorithm by calling `event`, and updates the plan.
    pub fn report(&mut self, event: impl FnOnce(&mut dyn CongestionControl)) {
        event(&mut *self.algorithm);
        self.plan = self.algorithm.plan();
    }

    /// Returns the congestion control algorithm, whose constant properties the caller may read.
    pub fn algorithm(&self) -> &dyn CongestionControl {
        &*self.algorithm
    }
}

impl std::ops::Deref for Control {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

/// Parameters of a congestion control, which can build its state for a connection.
pub trait CongestionParams: Parameters {
    /// Creates the congestion control of a connection with the TCP parameters `tcp`, segments of
    /// `mss` bytes, and an initial window of `initial_window` bytes.
    fn build(&self, mss: u64, initial_window: u64, tcp: &Linux) -> Box<dyn CongestionControl>;
    /// Returns true if the congestion control has a pacing rate of its own, so that it is paced
    /// even if the key `pacing` is off.
    fn paces_itself(&self) -> bool {
        false
    }
}

registry! {
    /// Congestion control, as a scenario names it.
    "congestion control" CongestionSpec = Cubic as CongestionParams + Plugin {
        /// Reno (RFC 5681) with byte counting (RFC 3465): one segment more per round trip.
        "reno" => Reno(reno::Reno),
        /// CUBIC with HyStart as in Linux: the window grows with the time since the last reduction.
        "cubic" => Cubic(cubic::Cubic),
        /// CUBIC by RFC 9438, with HyStart++ (RFC 9406).
        "cubic_rfc9438" => CubicRfc9438(cubic_rfc9438::CubicRfc9438),
        /// BBR version 1: paced at the measured bandwidth, with a short queue.
        "bbr" => Bbr(bbr::v1::Bbr),
        /// BBR version 3: also bounds the data in flight by the losses that it causes.
        "bbr3" => Bbr3(bbr::v3::Bbr3),
        /// Westwood+: a loss reduces the window to the measured rate times the shortest round trip.
        "westwood" => Westwood(westwood::Westwood),
        /// Vegas: keeps two to four segments in the queue and so avoids loss.
        "vegas" => Vegas(vegas::Vegas),
        /// Scalable TCP: the window grows and shrinks in proportion to its size; for long fat paths.
        "scalable" => Scalable(scalable::Scalable),
        /// Veno: Reno that attributes a loss with a short queue to the radio link.
        "veno" => Veno(veno::Veno),
    }
}

#[cfg(test)]
impl Default for AckEvent {
    /// Returns an ACK for tests: the sender uses its whole window, and no recovery is in progress.
    fn default() -> Self {
        Self {
            now: Time::ZERO,
            acked: 0,
            delivered: 0,
            segments: 0,
            lost: 0,
            marked: false,
            prior_in_flight: 0,
            in_flight: 0,
            rtt: None,
            srtt: Duration::ZERO,
            sample: None,
            total_delivered: 0,
            una: 0,
            next: 0,
            phase: Phase::Open,
            reordered: false,
            window_limited: true,
            departure: Time::ZERO,
        }
    }
}
