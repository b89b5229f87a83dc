//! PDCP (TS 36.323). A packet gets its number when RLC takes it to send its first part, so that dropped and
//! expired packets leave no gap. Numbers never wrap; on the air they are modulo the range of the field, which
//! is equivalent while at most half of them are in flight ([`SnLength::window`]). Not modelled: header
//! compression, ciphering, status reports, and the re-establishment after a handover.

mod receive;
mod transmit;

#[cfg(test)]
mod tests;

pub use receive::Receive;
pub use transmit::{Begun, Transmit};

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rlc::am::params::require_timer;

// Clause: TS 36.323, 6.2: PDCP headers
/// Length of the sequence number of a data PDU (TS 36.323, 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SnLength {
    /// Sequence numbers of 12 bits.
    #[default]
    #[serde(rename = "12 bit")]
    Bits12,
    /// Sequence numbers of 18 bits.
    #[serde(rename = "18 bit")]
    Bits18,
}

impl SnLength {
    /// In octets (TS 36.323, 6.2).
    pub const fn header(self) -> u32 {
        match self {
            Self::Bits12 => 2,
            Self::Bits18 => 3,
        }
    }

    /// Half of the sequence numbers.
    pub const fn window(self) -> usize {
        match self {
            Self::Bits12 => 1 << 11,
            Self::Bits18 => 1 << 17,
        }
    }
}

params! {
    /// Parameters of PDCP, which numbers packets, discards old ones and delivers them in order.
    pub struct Pdcp {
        /// Length of the sequence number of a data PDU.
        pub sn_length: SnLength,
        /// Age at which a packet is discarded if RLC has not begun to send it (discardTimer: TS 36.323, 5.4).
        /// Default: never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub discard_timer: Option<Duration>,
        /// Time for which packets after a gap wait for the missing packets (t-Reordering: TS
        /// 36.323, 5.1.2.1.4). Default: none, as RLC delivers in order.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub t_reordering: Option<Duration>,
    }
}

impl Checked for Pdcp {
    fn check(&self, check: &mut Check) {
        require_timer(check, "discard_timer", self.discard_timer);
        require_timer(check, "t_reordering", self.t_reordering);
    }
}
