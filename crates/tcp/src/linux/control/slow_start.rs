//! Methods to end slow start before a loss occurs.

use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AckEvent;
use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::loss_based::LossWindow;

/// Method that ends slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SlowStart {
    /// No early end: slow start lasts up to the threshold or to a loss (RFC 5681).
    #[serde(rename = "standard")]
    Standard,
    /// Ends slow start at long trains of ACKs, or at growing round-trip times (Linux).
    #[serde(rename = "hystart")]
    HyStart,
    /// Ends slow start at growing round-trip times, if a phase of slower growth confirms them (RFC
    /// 9406).
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
}

/// No method, or slow start has ended.
#[derive(Clone, Debug)]
pub enum Search {
    Idle,
    HyStart(HyStart),
    /// State of HyStart++ (RFC 9406).
    HyStartPlusPlus(HyStartPlusPlus),
}

impl Search {
    /// `paced` spreads segments over the round trip.
    pub fn new(slow_start: SlowStart, paced: bool) -> Self {
        match slow_start {
            SlowStart::Standard => Self::Idle,
            SlowStart::HyStart => Self::HyStart(HyStart::new(paced)),
            SlowStart::HyStartPlusPlus => Self::HyStartPlusPlus(HyStartPlusPlus::new(paced)),
        }
    }

    /// At the end the threshold becomes the present window.
    #[cold]
    pub fn on_ack_in_slow_start(
        &mut self,
        ack: &AckEvent,
        window: &mut LossWindow,
        min_rtt: Option<Duration>,
    ) {
        let is_over = match self {
            Self::Idle => false,
            Self::HyStart(hystart) => match (ack.rtt, min_rtt) {
                (Some(rtt), Some(min_rtt)) => hystart.on_ack(ack, window.segments(), rtt, min_rtt),
                _ => false,
            },
            Self::HyStartPlusPlus(hystart) => hystart.on_ack(ack.una, ack.next, ack.rtt),
        };
        if is_over {
            window.ssthresh = window.cwnd;
            *self = Self::Idle;
        }
    }

    pub fn growth(&mut self, segments: u64) -> u64 {
        match self {
            Self::HyStartPlusPlus(hystart) => hystart.growth(segments),
            Self::Idle | Self::HyStart(_) => segments,
        }
    }
}
