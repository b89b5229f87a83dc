use nodeb_base::check::Check;
use nodeb_base::units::{Duration, NANOS_PER_S, Probability, Rate, Size};

use crate::error::ErrorModel;
use crate::error::blocks::BlockShape;
use crate::mac::harq::CombiningSpec;
use crate::rlc::Delivered;

#[derive(Clone, Debug)]
pub struct Air {
    /// Each sends at most one block per TTI.
    pub channels: u32,
    pub tti: Duration,
    /// With the header in RLC modes that have headers.
    pub pdu_bytes: u32,
    /// Without a C/I process.
    pub pdus_per_block: u32,
    /// Of a first transmission.
    pub bler: Probability,
    /// From the start of the TTI in which a block fails.
    pub retransmission_delay: Duration,
    /// `None` if unlimited.
    pub max_transmissions: Option<u32>,
    pub delivered: Delivered,
    /// Of each user, in packets.
    pub buffer: usize,
    pub combining: CombiningSpec,
}

/// A larger value must be a typing error.
const MAX_CHANNELS: u32 = 1_000;
const MAX_PDUS: u32 = 1_000;
const LONGEST_TTI: Duration = Duration::from_secs(10);

impl Air {
    /// `errors` replaces the BLER.
    pub fn check_with(&self, errors: Option<&ErrorModel>, check: &mut Check) {
        check.range("tti", self.tti, Duration(1_000)..=LONGEST_TTI);
        check.range("pdu_size", Size(self.pdu_bytes.into()), Size(1)..=Size(65_535));
        check.at_most("channels", self.channels, MAX_CHANNELS);
        check.at_most("pdus_per_tti", self.pdus_per_block, MAX_PDUS);
        if let Some(errors) = errors {
            errors.check_for(self.pdus_per_block, self.max_transmissions, check);
        } else {
            check.require(self.bler.0 < 1.0 || self.max_transmissions.is_some(), "bler", || {
                "with a BLER of 1 and unlimited retransmissions no block ever arrives; expected a BLER below \
                 1, or set `max_transmissions`"
                    .to_owned()
            });
        }
        check.within("combining", |check| self.combining.check(check));
    }

    /// Of first transmissions.
    pub fn block_error_rate(&self, errors: Option<&ErrorModel>) -> Probability {
        errors.map_or(self.bler, |errors| errors.block_error_rate(self.pdus_per_block))
    }

    pub fn blocks(&self) -> BlockShape<'_> {
        let Self { bler, channels, pdus_per_block, pdu_bytes, ref combining, .. } = *self;
        BlockShape { bler, channels, pdus: pdus_per_block, pdu_bytes, combining }
    }

    /// All channels in every TTI, no failures; at the highest C/I value a block has `best_ci` PDUs.
    pub fn rate(&self, best_ci: Option<u32>) -> Rate {
        let pdus = u128::from(self.channels) * u128::from(best_ci.unwrap_or(self.pdus_per_block));
        let bits_per_tti = pdus * u128::from(self.pdu_bytes) * 8;
        Rate((bits_per_tti * u128::from(NANOS_PER_S) / u128::from(self.tti.0)) as u64)
    }

    /// At least 1, from the TTI in which a block fails.
    pub fn retransmission_ttis(&self) -> u64 {
        self.retransmission_delay.0.div_ceil(self.tti.0).max(1)
    }

    pub fn may_retransmit(&self, transmissions: u32) -> bool {
        self.max_transmissions.is_none_or(|most| transmissions < most)
    }
}
