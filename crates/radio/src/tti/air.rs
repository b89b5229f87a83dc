//! What a radio with blocks of PDUs does on the air: its channels, its blocks, and when a failed one goes
//! again.

use nodeb_base::check::Check;
use nodeb_base::units::{Duration, NANOS_PER_S, Probability, Rate, Size};

use crate::error::ErrorModel;
use crate::error::blocks::BlockShape;
use crate::mac::harq::CombiningSpec;
use crate::rlc::Delivered;

/// What a TTI-driven bearer does on the air.
#[derive(Clone, Debug)]
pub struct Air {
    /// Blocks that can be sent side by side in a TTI.
    pub channels: u32,
    /// Transmission time interval.
    pub tti: Duration,
    /// Payload of a PDU in bytes.
    pub pdu_bytes: u32,
    /// PDUs in a block at constant rate.
    pub pdus_per_block: u32,
    /// Block error rate of a first transmission.
    pub bler: Probability,
    /// From the beginning of a failed TTI until the block may be sent again.
    pub retransmission_delay: Duration,
    /// Transmissions before a block is given up.
    pub max_transmissions: Option<u32>,
    /// Order in which packets leave.
    pub delivered: Delivered,
    /// Packets that each user's buffer holds.
    pub buffer: usize,
    /// Soft combining.
    pub combining: CombiningSpec,
}

/// More than any system has; larger numbers are typing errors.
const MAX_CHANNELS: u32 = 1_000;
const MAX_PDUS: u32 = 1_000;
const LONGEST_TTI: Duration = Duration::from_secs(10);

impl Air {
    /// Reports impossible values; `errors` stands in the place of the BLER where it is given.
    pub fn check_with(&self, errors: Option<&ErrorModel>, check: &mut Check) {
        check.range("tti", self.tti, Duration(1_000)..=LONGEST_TTI);
        check.range("pdu_size", Size(self.pdu_bytes.into()), Size(1)..=Size(65_535));
        check.at_most("channels", self.channels, MAX_CHANNELS);
        check.at_most("pdus_per_tti", self.pdus_per_block, MAX_PDUS);
        if let Some(errors) = errors {
            errors.check_for(self.pdus_per_block, self.max_transmissions, check);
        } else {
            check.require(self.bler.0 < 1.0 || self.max_transmissions.is_some(), "bler", || {
                "with a BLER of 1 and unlimited retransmissions no block would ever arrive; expected a BLER below \
                 1, or set `max_transmissions`"
                    .to_owned()
            });
        }
        check.within("combining", |check| self.combining.check(check));
    }

    /// Share of first transmissions that fail, by `errors` if they are given.
    pub fn block_error_rate(&self, errors: Option<&ErrorModel>) -> Probability {
        errors.map_or(self.bler, |errors| errors.block_error_rate(self.pdus_per_block))
    }

    /// What its blocks are like.
    pub fn blocks(&self) -> BlockShape<'_> {
        let Self { bler, channels, pdus_per_block, pdu_bytes, ref combining, .. } = *self;
        BlockShape { bler, channels, pdus: pdus_per_block, pdu_bytes, combining }
    }

    /// Bit rate when every TTI is full and nothing fails; with a C/I process, at its `best_ci`.
    pub fn rate(&self, best_ci: Option<u32>) -> Rate {
        let pdus = u128::from(self.channels) * u128::from(best_ci.unwrap_or(self.pdus_per_block));
        let bits_per_tti = pdus * u128::from(self.pdu_bytes) * 8;
        Rate((bits_per_tti * u128::from(NANOS_PER_S) / u128::from(self.tti.0)) as u64)
    }

    /// TTIs from one in which a block failed to the first in which it may be sent again.
    pub fn retransmission_ttis(&self) -> u64 {
        self.retransmission_delay.0.div_ceil(self.tti.0).max(1)
    }

    /// Whether a block that has failed so often may be sent again.
    pub fn may_send_again(&self, transmissions: u32) -> bool {
        self.max_transmissions.is_none_or(|most| transmissions < most)
    }
}
