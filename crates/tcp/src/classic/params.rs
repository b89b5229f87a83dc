//! Classic TCP's parameters, as a scenario sets them.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::recovery::ControlSpec;
use super::rtt::EstimatorSpec;
use crate::Opener;
use crate::check::{Check, Checked};
use crate::segment::HEADER_BYTES;
use crate::units::{Duration, Size};

/// A classic TCP connection's parameters. The defaults are Table 9 of `wang` with what ns-2 did then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Classic {
    /// What the sender does about loss.
    pub control: ControlSpec,
    /// The ns-2 whose defaults hold for `min_rto`, `limited_transmit` and `delayed_syn_ack`.
    pub era: Era,
    /// A full-sized segment on the wire, with 40 B of IP and TCP headers.
    pub packet_size: Size,
    /// Congestion window once the connection is set up, in packets.
    pub initial_window: NonZeroU32,
    /// Largest window the receiver allows, in packets.
    pub max_window: NonZeroU32,
    /// Slow-start threshold at the start, in packets.
    pub initial_ssthresh: NonZeroU32,
    /// Smallest retransmission timeout, before backoff; absent: the era's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
    /// Largest retransmission timeout, backoff included.
    pub max_rto: Duration,
    /// Retransmission timeout until the first round trip is measured (RFC 2988, 2.1).
    pub initial_rto: Duration,
    /// How round trips are estimated, and which segments are timed.
    pub estimator: EstimatorSpec,
    /// Whether the window falls to one segment when nothing was sent for a retransmission timeout
    /// (ns-2's `slow_start_restart_`; RFC 2581, 4.1, goes back to the initial window instead).
    pub slow_start_restart: bool,
    /// Granularity of the clock that measures round trips (ns-2's `tcpTick_`).
    pub clock: Duration,
    /// Phase of that clock when the simulation begins; less than one tick.
    pub clock_phase: Duration,
    /// Send a new segment on each of the first two duplicate ACKs (RFC 3042); absent: the era's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Recognize retransmissions that were not needed by the mark that their ACKs lack (Eifel, RFC 3522), and
    /// take their consequences back (RFC 4015).
    pub eifel: bool,
    /// How long the receiver holds back the ACK of a single segment; 0 acknowledges each at once.
    pub delayed_ack: Duration,
    /// Whether the ACK of a SYN that the server sent unasked is held back as well; absent: the era's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_syn_ack: Option<bool>,
    /// Who opens the connection.
    pub opened_by: Opener,
}

/// The versions of ns-2 whose TCP defaults differ in what matters to the studies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Era {
    /// ns-2.26 and 2.27, as used in 2003: minimum RTO 1 s, no Limited Transmit, the SYN's ACK held
    /// back like any other.
    #[default]
    #[serde(rename = "2003")]
    Ns2003,
    /// ns-2.35 of 2011: minimum RTO 200 ms, Limited Transmit, the SYN acknowledged at once.
    #[serde(rename = "2011")]
    Ns2011,
}

impl Classic {
    /// Smallest retransmission timeout, before backoff.
    pub fn min_rto(&self) -> Duration {
        self.min_rto.unwrap_or(match self.era {
            Era::Ns2003 => Duration::from_secs(1),
            Era::Ns2011 => Duration::from_millis(200),
        })
    }

    /// Whether the first two duplicate ACKs send a new segment each.
    pub fn limited_transmit(&self) -> bool {
        self.limited_transmit.unwrap_or(self.era == Era::Ns2011)
    }

    /// Whether the ACK of the SYN is held back. A phone that opened the connection answers at
    /// once, since its request rides on that ACK.
    pub fn delayed_syn_ack(&self) -> bool {
        self.opened_by == Opener::Server && self.delayed_syn_ack.unwrap_or(self.era == Era::Ns2003)
    }
}

impl Default for Classic {
    fn default() -> Self {
        let count = |n| NonZeroU32::new(n).expect("a positive constant");
        Self {
            control: ControlSpec::default(),
            era: Era::default(),
            packet_size: Size(1500),
            initial_window: count(2),
            max_window: count(42),
            initial_ssthresh: count(40),
            min_rto: None,
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(3),
            estimator: EstimatorSpec::default(),
            slow_start_restart: true,
            clock: Duration::from_millis(10),
            clock_phase: Duration::ZERO,
            limited_transmit: None,
            eifel: false,
            delayed_ack: Duration::from_millis(100),
            delayed_syn_ack: None,
            opened_by: Opener::Phone,
        }
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
        check.require(self.clock.0 > 0, "clock", || {
            "a clock cannot have ticks of 0 s; expected more".to_owned()
        });
        check.require(self.clock_phase < self.clock || self.clock.0 == 0, "clock_phase", || {
            format!("a phase of {} is not within one tick of {}", self.clock_phase, self.clock)
        });
        check.require(self.min_rto() <= self.max_rto, "min_rto", || {
            format!("the smallest timeout, {}, is above max_rto, {}", self.min_rto(), self.max_rto)
        });
        check.require(self.max_rto.0 > 0, "max_rto", || {
            "a timeout of 0 s never waits; expected more".to_owned()
        });
        check.require(self.initial_rto.0 > 0, "initial_rto", || {
            "a timeout of 0 s never waits; expected more".to_owned()
        });
    }
}
