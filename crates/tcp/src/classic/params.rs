use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::cause::Cause;
use nodeb_base::check::{Check, Checked};
use nodeb_base::remedy::{Change, LARGE, Remedy, Target};
use nodeb_base::units::{Duration, Size};

use super::era::{self, Era};
use super::recovery::ControlSpec;
use super::rtt::EstimatorSpec;
use crate::Opener;
use crate::segment::HEADER_BYTES;

params! {
    /// Parameters of a `classic` TCP connection. The defaults are those of Table 9 of `wang`, and of ns-2.1b8
    /// for values that the table does not contain.
    pub struct Classic {
        /// Loss recovery of the sender: Tahoe, Reno, NewReno or SACK.
        pub control: ControlSpec,
        /// Version of ns-2 whose defaults apply to absent keys: a release (`"ns-2.26"`) or a date.
        pub era: Era,
        /// Size of a full-sized segment on the wire, with 40 B of IP and TCP headers.
        pub packet_size: Size = Size(1500),
        /// Initial congestion window in packets. Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial_window: Option<NonZeroU32>,
        /// Advertised window of the receiver in packets.
        pub max_window: NonZeroU32 = positive(42),
        /// Initial slow-start threshold in packets.
        pub initial_ssthresh: NonZeroU32 = positive(40),
        /// Smallest retransmission timeout, before backoff if `backoff_from_minimum`, else after it. Absent:
        /// the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min_rto: Option<Duration>,
        /// Largest retransmission timeout, backoff included. Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_rto: Option<Duration>,
        /// Retransmission timeout until the first round-trip time is measured (RFC 2988, 2.1,
        /// requires 3 s). Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial_rto: Option<Duration>,
        /// Whether backoff also multiplies the smallest timeout (RFC 2988, 2.4 and 5.5; ns-2's
        /// `rfc2988_`), or only the estimate. Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub backoff_from_minimum: Option<bool>,
        /// Round-trip estimator, which also determines the segments that are timed.
        pub estimator: EstimatorSpec,
        /// Whether the window is reset to one segment if nothing was outstanding for a retransmission timeout
        /// (ns-2's `slow_start_restart_`; RFC 2581, 4.1, uses the initial window instead).
        pub slow_start_restart: bool = true,
        /// Whether a timeout sets the slow-start threshold to half of the data outstanding (RFC 2581, 3.1),
        /// so that a second timeout leaves it unchanged. Otherwise it is half of the window as in ns-2, and
        /// two packets after a second timeout.
        pub half_of_flight: bool = false,
        /// Tick of the clock that measures round-trip times (ns-2's `tcpTick_`). Absent: the
        /// default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub clock: Option<Duration>,
        /// Phase of the clock that measures round-trip times, at the start of the simulation; less
        /// than one tick.
        pub clock_phase: Duration = Duration::ZERO,
        /// Whether the sender sends a new segment on each of the first two duplicate ACKs (RFC
        /// 3042). Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub limited_transmit: Option<bool>,
        /// Whether half of a window, after a loss, may be a fraction of packets (ns-2's
        /// `precisionReduce_`) or is rounded down. Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub fractional_halves: Option<bool>,
        /// Whether the sender detects spurious retransmissions (Eifel, RFC 3522) by a bit in ACKs
        /// that shows if a retransmission triggered them, and undoes their effects (RFC 4015).
        pub eifel: bool = false,
        /// Delay of the ACK of a single segment; 0 acknowledges each segment at once.
        pub delayed_ack: Duration = Duration::from_millis(100),
        /// Whether the ACK of the server's SYN is delayed as well, if the server opens the
        /// connection. Absent: the default of ns-2 at `era`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delayed_syn_ack: Option<bool>,
        /// End that opens the connection: the phone or the server.
        pub opened_by: Opener = Opener::Phone,
    }
}

impl Classic {
    /// `room` is the largest initial window that the queues hold.
    pub fn remedies(&self, room: Option<NonZeroU32>) -> Vec<Remedy<Self>> {
        let sooner = Self { delayed_ack: self.delayed_ack.half(), ..self.clone() };
        let window = room.map(|room| room.max(self.initial_window.unwrap_or(NonZeroU32::MIN)));
        let open = Self { initial_window: window.or(self.initial_window), ..self.clone() };
        let receiver = Target::Rounds(Cause::ReceiverWindow);
        vec![
            Remedy::of_causes(Change::AcksAtOnce, 1.0, Self { delayed_ack: Duration::ZERO, ..self.clone() }),
            Remedy::of_causes(Change::AcksSooner, 0.5, sooner),
            Remedy::new(Change::OpenWindow, Target::Opening, 1.0, open),
            Remedy::new(
                Change::LargeReceiveWindow,
                receiver,
                1.0,
                Self { max_window: LARGE, ..self.clone() },
            ),
        ]
    }

    pub fn initial_window(&self) -> u32 {
        era::INITIAL_WINDOW.of(self.initial_window, self.era).get()
    }

    /// Before backoff if [`Self::backoff_from_minimum`], otherwise after it.
    pub fn min_rto(&self) -> Duration {
        let newest = era::MIN_RTO.of(None, self.era);
        self.min_rto.unwrap_or_else(|| era::FIRST_MIN_RTO.of(None, self.era).min(newest))
    }

    /// Backoff included.
    pub fn max_rto(&self) -> Duration {
        era::MAX_RTO.of(self.max_rto, self.era)
    }

    /// Before the first measurement.
    pub fn initial_rto(&self) -> Duration {
        era::INITIAL_RTO.of(self.initial_rto, self.era)
    }

    /// Backoff also multiplies the smallest timeout.
    pub fn backoff_from_minimum(&self) -> bool {
        era::BACKOFF_FROM_MINIMUM.of(self.backoff_from_minimum, self.era)
    }

    /// A tick of the clock that measures round-trip times.
    pub fn clock(&self) -> Duration {
        era::CLOCK.of(self.clock, self.era)
    }

    /// Each of the first two duplicate ACKs releases a new segment.
    pub fn limited_transmit(&self) -> bool {
        era::LIMITED_TRANSMIT.of(self.limited_transmit, self.era)
    }

    /// Half of a window after a loss is not rounded down.
    pub fn fractional_halves(&self) -> bool {
        era::FRACTIONAL_HALVES.of(self.fractional_halves, self.era)
    }

    /// A phone that has opened the connection never does, since that ACK carries its request.
    pub fn delayed_syn_ack(&self) -> bool {
        self.opened_by == Opener::Server && era::DELAYED_SYN_ACK.of(self.delayed_syn_ack, self.era)
    }
}

impl Checked for Classic {
    fn check(&self, check: &mut Check) {
        check.within("control", |check| self.control.check(check));
        check.within("estimator", |check| self.estimator.check(check));
        check.require(
            (u64::from(HEADER_BYTES) + 1..=65_535).contains(&self.packet_size.0),
            "packet_size",
            || {
                format!(
                    "a packet of {} is not an IP packet with data; expected 41 B to 65.535 kB",
                    self.packet_size
                )
            },
        );
        check.require(self.clock().0 > 0, "clock", || {
            "a clock cannot have ticks of 0 s; expected more".to_owned()
        });
        check.require(self.clock_phase < self.clock() || self.clock().0 == 0, "clock_phase", || {
            format!("a phase of {} is not within one tick of {}", self.clock_phase, self.clock())
        });
        check.require(self.min_rto() <= self.max_rto(), "min_rto", || {
            format!("the smallest timeout, {}, is above max_rto, {}", self.min_rto(), self.max_rto())
        });
        check.require(self.max_rto().0 > 0, "max_rto", || {
            "a timeout of 0 s never waits; expected more".to_owned()
        });
        check.require(self.initial_rto().0 > 0, "initial_rto", || {
            "a timeout of 0 s never waits; expected more".to_owned()
        });
    }
}
