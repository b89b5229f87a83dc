//! How slow start finds its end before a loss does.

use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AckEvent;
use super::hystart::HyStart;
use super::hystart_plus_plus::HyStartPlusPlus;
use super::loss_based::LossWindow;

/// What ends slow start besides a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SlowStart {
    /// Nothing (RFC 5681).
    #[serde(rename = "standard")]
    Standard,
    /// Long trains of ACKs, and round trips that grow (Linux).
    #[serde(rename = "hystart")]
    HyStart,
    /// Round trips that grow; a slower start makes sure (RFC 9406).
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
}

/// The search for the end of slow start.
#[derive(Clone, Debug)]
pub enum Search {
    /// There is none, or it is over.
    Idle,
    /// Linux's.
    HyStart(HyStart),
    /// That of RFC 9406.
    HyStartPlusPlus(HyStartPlusPlus),
}

impl Search {
    /// At the start of a connection whose segments are `paced`.
    pub fn new(slow_start: SlowStart, paced: bool) -> Self {
        match slow_start {
            SlowStart::Standard => Self::Idle,
            SlowStart::HyStart => Self::HyStart(HyStart::new(paced)),
            SlowStart::HyStartPlusPlus => Self::HyStartPlusPlus(HyStartPlusPlus::new(paced)),
        }
    }

    /// Takes an ACK in slow start on a path whose smallest round trip is `least`, if that may be judged. If
    /// slow start is over, the threshold is the window.
    #[cold]
    pub fn judge(&mut self, ack: &AckEvent, window: &mut LossWindow, least: Option<Duration>) {
        let is_over = match self {
            Self::Idle => false,
            Self::HyStart(hystart) => match (ack.rtt, least) {
                (Some(rtt), Some(least)) => hystart.on_ack(ack, window.segments(), rtt, least),
                _ => false,
            },
            Self::HyStartPlusPlus(hystart) => hystart.on_ack(ack.una, ack.next, ack.rtt),
        };
        if is_over {
            window.ssthresh = window.cwnd;
            *self = Self::Idle;
        }
    }

    /// Segments by which those delivered may open the window.
    pub fn growth(&mut self, segments: u64) -> u64 {
        match self {
            Self::HyStartPlusPlus(hystart) => hystart.growth(segments),
            Self::Idle | Self::HyStart(_) => segments,
        }
    }
}
