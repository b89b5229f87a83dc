//! Congestion control: how large the window is, and how fast it may be sent.
//!
//! A control hears of ACKs, of congestion (once per recovery) and of timeouts, and answers with a
//! window and, if it wants, a rate. Everything else, from finding losses to spreading a reduction
//! over a round trip, belongs to the sender.

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
    /// Segments that it delivers: what windows grow by (Linux: `acked_sacked`). An ACK may acknowledge much
    /// more, of which SACKs have told before.
    pub segments: u64,
    /// Bytes that were found lost on it.
    pub lost: u64,
    /// Whether it echoes a mark for which the window is reduced (RFC 3168).
    pub marked: bool,
    /// Bytes in flight before it.
    pub prior_in_flight: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// The round trip of the newest segment that it delivers.
    pub rtt: Option<Duration>,
    /// Smoothed round trip.
    pub srtt: Duration,
    /// What it shows of the path, if it delivers anything; only for controls that pace themselves.
    pub sample: Option<RateSample>,
    /// Bytes delivered so far.
    pub total_delivered: u64,
    /// First byte not yet acknowledged.
    pub una: u64,
    /// The next byte to be sent for the first time.
    pub next: u64,
    /// What the sender is doing.
    pub phase: Phase,
    /// Whether it delivers something beyond a gap on a path that reorders much, where the window grows
    /// whatever is delivered (Linux: `tcp_may_raise_cwnd`).
    pub reordered: bool,
    /// Whether the window, rather than the data or the receiver, has limited the sender.
    pub window_limited: bool,
    /// When the pacer lets the next segment go, if the window does (Linux: `tcp_wstamp_ns`).
    pub departure: Time,
}

impl AckEvent {
    /// Returns true if a control that reacts to loss may open its window, were the window in use
    /// (`tcp_may_raise_cwnd`): data are acknowledged outside a recovery, in order unless the path reorders much.
    pub fn may_raise(&self) -> bool {
        self.phase != Phase::Recovery && (self.acked > 0 || self.reordered)
    }

    /// Returns true if it may, and the window is in use (`tcp_is_cwnd_limited`).
    pub fn may_grow(&self) -> bool {
        self.may_raise() && self.window_limited
    }
}

/// A segment that has been given up.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was given up.
    pub now: Time,
    /// First byte, and one past the last.
    pub range: (u64, u64),
    /// What it remembers of the moment when it was sent.
    pub snapshot: Snapshot,
    /// Bytes lost since then, its own included.
    pub lost: u64,
    /// Bytes delivered so far.
    pub delivered: u64,
}

/// A congestion control. All sizes are in bytes.
pub trait CongestionControl: Send + std::fmt::Debug {
    /// The connection is set up; `rtt` is the round trip of its SYN, if that was sent once.
    fn on_established(&mut self, _now: Time, _rtt: Option<Duration>) {}
    /// Takes an ACK.
    fn on_ack(&mut self, ack: &AckEvent);
    /// A segment has been given up; what follows from it begins with the other calls.
    fn on_loss(&mut self, _loss: &Loss) {}
    /// A loss or an ECN echo begins a recovery with `in_flight` bytes outstanding.
    fn on_congestion(&mut self, now: Time, in_flight: u64);
    /// The retransmission timer has expired with `in_flight` bytes not given up; `again` says that the
    /// window has been reduced for what was outstanding before.
    fn on_timeout(&mut self, now: Time, in_flight: u64, again: bool);
    /// The recovery has ended.
    fn on_recovered(&mut self, _now: Time) {}
    /// Nothing has been sent for longer than so many timeouts: the window says little about the path any
    /// more (RFC 5681, 4.1).
    fn on_idle(&mut self, _timeouts: u64) {}
    /// For a timeout no more than `used` bytes of the window were needed (RFC 7661).
    fn on_unused(&mut self, _used: u64) {}
    /// Data are about to be sent while nothing is in flight; the last were sent `pause` ago.
    fn on_start(&mut self, _now: Time, _pause: Duration) {}
    /// Data are about to be sent after everything had been sent and delivered.
    fn on_restart(&mut self, _now: Time) {}
    /// The last reduction was a mistake (RFC 4015). `window` is what it has come to.
    fn undo(&mut self, window: u64);
    /// The congestion window.
    fn cwnd(&self) -> u64;
    /// The slow-start threshold; `u64::MAX` while there is none.
    fn ssthresh(&self) -> u64;
    /// Bytes per second at which to pace; `None` leaves it to the window and the round trip.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// Segments that may leave together at `rate` bytes per second, at least.
    fn least_quantum(&self, _rate: f64) -> u64 {
        2
    }
    /// Whether the sender should spread a reduction over a round trip (PRR).
    fn reduces_proportionally(&self) -> bool {
        true
    }
    /// Windows for which the send buffer has room (Linux: `sndbuf_expand`).
    fn buffered_windows(&self) -> u64 {
        2
    }
    /// Whether the control sends less than the path allows, on purpose.
    fn holds_back(&self) -> bool {
        false
    }
    /// Whether the window still grows in search of the path's capacity.
    fn is_slow_start(&self) -> bool {
        self.cwnd() < self.ssthresh()
    }
    /// Returns what it has decided.
    fn plan(&self) -> Plan {
        let pacing_rate = self.pacing_rate();
        Plan {
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            pacing_rate,
            least_quantum: self.least_quantum(pacing_rate.unwrap_or(0.0)),
            holds_back: self.holds_back(),
            is_slow_start: self.is_slow_start(),
        }
    }
}

/// Decisions of a control, which [`CongestionControl`] describes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The congestion window.
    pub cwnd: u64,
    /// The slow-start threshold.
    pub ssthresh: u64,
    /// Bytes per second at which to pace.
    pub pacing_rate: Option<f64>,
    /// Segments that may leave together, at least.
    pub least_quantum: u64,
    /// Whether the control sends less than the path allows.
    pub holds_back: bool,
    /// Whether the window grows in search of the path's capacity.
    pub is_slow_start: bool,
}

/// A connection's control with its plan, which the sender reads many times for each ACK and which changes only
/// when something is reported to the control.
#[derive(Debug)]
pub struct Control {
    algorithm: Box<dyn CongestionControl>,
    plan: Plan,
}

impl Control {
    /// A control at the start of a connection.
    pub fn new(algorithm: Box<dyn CongestionControl>) -> Self {
        Self { plan: algorithm.plan(), algorithm }
    }

    /// Reports something to the control.
    pub fn report(&mut self, event: impl FnOnce(&mut dyn CongestionControl)) {
        event(&mut *self.algorithm);
        self.plan = self.algorithm.plan();
    }

    /// Returns the control itself, for what never changes.
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

/// The parameters of a congestion control.
pub trait CongestionParams: Parameters {
    /// The control of a connection with these parameters of TCP, for segments of `mss` bytes and an initial
    /// window in bytes.
    fn build(&self, mss: u64, initial_window: u64, tcp: &Linux) -> Box<dyn CongestionControl>;
    /// Whether the control sends at a rate of its own, with `fq` or without.
    fn paces_itself(&self) -> bool {
        false
    }
}

registry! {
    /// The congestion control, as a scenario names it.
    "congestion control" CongestionSpec = Cubic as CongestionParams + Plugin {
        /// Reno (RFC 5681) that counts what is delivered (RFC 3465): one segment more per round trip.
        "reno" => Reno(reno::Reno),
        /// CUBIC with HyStart as Linux has them: grows with time since the last reduction.
        "cubic" => Cubic(cubic::Cubic),
        /// CUBIC by RFC 9438, with HyStart++ (RFC 9406).
        "cubic_rfc9438" => CubicRfc9438(cubic_rfc9438::CubicRfc9438),
        /// BBR version 1: paced at the bandwidth that it measures, with a short queue.
        "bbr" => Bbr(bbr::v1::Bbr),
        /// BBR version 3: also bounds what is in flight by the loss that it meets.
        "bbr3" => Bbr3(bbr::v3::Bbr3),
        /// Westwood+: after a loss falls to the bandwidth that it has measured, for radio links.
        "westwood" => Westwood(westwood::Westwood),
        /// Vegas: keeps two to four segments in the queue and so avoids loss.
        "vegas" => Vegas(vegas::Vegas),
        /// Scalable TCP: grows and shrinks in proportion to the window, for long fat paths.
        "scalable" => Scalable(scalable::Scalable),
        /// Veno: Reno that takes a loss with a short queue for one of the radio.
        "veno" => Veno(veno::Veno),
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
