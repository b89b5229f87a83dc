//! Sets a window and, optionally, a pacing rate; loss detection and spreading a reduction are the sender's.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Neither repair nor window reduction.
    Open,
    /// Without a timeout, or a reduction after an ECN echo.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    pub now: Time,
    /// Cumulatively.
    pub acked: u64,
    /// Cumulatively, by SACK beyond a gap, or as duplicates (D-SACK).
    pub delivered: u64,
    /// Delivered (Linux: `acked_sacked`); many more may be acknowledged that SACKs have reported before.
    pub segments: u64,
    /// Newly marked on the ACK.
    pub lost: u64,
    /// The window is reduced for it (RFC 3168).
    pub marked: bool,
    /// Before the ACK.
    pub prior_in_flight: u64,
    /// After the ACK.
    pub in_flight: u64,
    /// Of the newest segment measured, else of the echoed timestamp.
    pub rtt: Option<Duration>,
    /// 0 before the first measurement.
    pub srtt: Duration,
    /// `None` if nothing is delivered or the congestion control does not pace itself.
    pub sample: Option<RateSample>,
    /// Since the start of the connection.
    pub total_delivered: u64,
    /// After the ACK.
    pub una: u64,
    /// To be sent for the first time.
    pub next: u64,
    /// After the ACK.
    pub phase: Phase,
    /// Data beyond a gap with a high degree of reordering, where any delivery grows the window (Linux:
    /// `tcp_may_raise_cwnd`).
    pub reordered: bool,
    /// Window or pacer limited the sender, in slow start also if more than half of the window was in use.
    pub window_limited: bool,
    /// `tcp_wstamp_ns`.
    pub departure: Time,
}

impl AckEvent {
    /// `tcp_may_raise_cwnd`: outside fast recovery and ECN reductions, on data acknowledged or, with much
    /// reordering, delivered beyond a gap.
    pub fn may_raise(&self) -> bool {
        self.phase != Phase::Recovery && (self.acked > 0 || self.reordered)
    }

    /// [`Self::may_raise`] and `tcp_is_cwnd_limited`.
    pub fn may_grow(&self) -> bool {
        self.may_raise() && self.window_limited
    }
}

/// Marked lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    pub now: Time,
    /// (first byte, last byte + 1).
    pub range: (u64, u64),
    /// At transmission; zeros if the congestion control does not pace itself.
    pub snapshot: Snapshot,
    /// Since the transmission, with the segment; else since the start.
    pub lost: u64,
    /// From the start until the loss was marked.
    pub delivered: u64,
}

/// Sizes are in bytes.
pub trait CongestionControl: std::fmt::Debug {
    /// Of the SYN; `None` if it was retransmitted without timestamps.
    fn on_established(&mut self, _now: Time, _rtt: Option<Duration>) {}
    fn on_ack(&mut self, ack: &AckEvent);
    /// [`Self::on_congestion`] or [`Self::on_timeout`] reports the reduction.
    fn on_loss(&mut self, _loss: &Loss) {}
    /// Start of a recovery after a loss or an ECN echo, or a loss that a tail loss probe has repaired.
    fn on_congestion(&mut self, now: Time, in_flight: u64);
    /// `again` if the window is already reduced for the outstanding data.
    fn on_timeout(&mut self, now: Time, in_flight: u64, again: bool);
    /// End of a recovery.
    fn on_recovered(&mut self, _now: Time) {}
    /// A pause longer than `timeouts` timeouts makes the window invalid (RFC 5681, 4.1).
    fn on_idle(&mut self, _timeouts: u64) {}
    /// At most `used` bytes in flight for a retransmission timeout (RFC 2861; Linux:
    /// `tcp_cwnd_application_limited`).
    fn on_unused(&mut self, _used: u64) {}
    /// With nothing in flight, `pause` after the last data; [`Self::on_idle`] comes before.
    fn on_start(&mut self, _now: Time, _pause: Duration) {}
    /// With nothing in flight after an application-limited time, as which [`Self::holds_back`] counts.
    fn on_restart(&mut self, _now: Time) {}
    /// RFC 4015, spurious reduction; `window` is the present one.
    fn undo(&mut self, window: u64);
    fn cwnd(&self) -> u64;
    /// `u64::MAX` if there is none.
    fn ssthresh(&self) -> u64;
    /// In bytes per second; `None` derives it from window and round-trip time with `pacing`, else does not
    /// pace.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// Segments that leave together.
    fn min_quantum(&self, _rate: f64) -> u64 {
        2
    }
    /// Proportional Rate Reduction, RFC 9937.
    fn reduces_proportionally(&self) -> bool {
        true
    }
    /// `sndbuf_expand`: send buffer in congestion windows.
    fn buffered_windows(&self) -> u64 {
        2
    }
    /// Deliberately below the path, so that rate samples do not show its bandwidth.
    fn holds_back(&self) -> bool {
        false
    }
    /// The window grows in search of the path's capacity.
    fn is_slow_start(&self) -> bool {
        self.cwnd() < self.ssthresh()
    }
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

/// By the methods of [`CongestionControl`] of these names.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub pacing_rate: Option<f64>,
    pub min_quantum: u64,
    pub holds_back: bool,
    pub is_slow_start: bool,
}

/// The plan is read many times per ACK, and changes only when an event is reported.
#[derive(Debug)]
pub struct Control {
    algorithm: Box<dyn CongestionControl>,
    plan: Plan,
}

impl Control {
    pub fn new(algorithm: Box<dyn CongestionControl>) -> Self {
        Self { plan: algorithm.plan(), algorithm }
    }

    pub fn report(&mut self, event: impl FnOnce(&mut dyn CongestionControl)) {
        event(&mut *self.algorithm);
        self.plan = self.algorithm.plan();
    }

    /// For its constant properties.
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

pub trait CongestionParams: Parameters {
    /// Sizes in bytes.
    fn build(&self, mss: u64, initial_window: u64, tcp: &Linux) -> Box<dyn CongestionControl>;
    /// Even if the key `pacing` is off.
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
    /// The sender uses its whole window, without a recovery.
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
