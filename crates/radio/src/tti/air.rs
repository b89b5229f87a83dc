//! Transmission parameters of radios whose blocks consist of PDUs.

use nodeb_base::check::Check;
use nodeb_base::units::{Duration, NANOS_PER_S, Probability, Rate, Size};

use crate::error::ErrorModel;
use crate::error::blocks::BlockShape;
use crate::mac::harq::CombiningSpec;
use crate::rlc::Delivered;

/// Transmission parameters of a TTI-driven bearer with blocks of PDUs.
#[derive(Clone, Debug)]
pub struct Air {
    /// Number of parallel channels. Each sends at most one block per TTI.
    pub channels: u32,
    /// Length of a transmission time interval.
    pub tti: Duration,
    /// Size of a PDU in bytes, which includes the header in RLC modes that have headers.
    pub pdu_bytes: u32,
    /// Number of PDUs in a block of a user without a C/I process.
    pub pdus_per_block: u32,
    /// Block error rate of a first transmission.
    pub bler: Probability,
    /// Time from the start of a TTI in which a block fails to the earliest retransmission of the
    /// block.
    pub retransmission_delay: Duration,
    /// Largest number of transmissions of a block; `None` if unlimited.
    pub max_transmissions: Option<u32>,
    /// Order in which packets leave the bearer.
    pub delivered: Delivered,
    /// Capacity of each user's buffer, in packets.
    pub buffer: usize,
    /// Method of soft combining of the transmissions of a block.
    pub combining: CombiningSpec,
}

/// Largest number of channels. A larger value is rejected, as it must be a typing error.
const MAX_CHANNELS: u32 = 1_000;
const MAX_PDUS: u32 = 1_000;
const LONGEST_TTI: Duration = Duration::from_secs(10);

impl Air {
    /// Reports invalid values. `errors` is the error model that replaces the BLER, or `None` if the
    /// BLER is used.
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

    /// Returns the share of first transmissions that fail: that of the error model `errors` if it
    /// is given, else the BLER.
    pub fn block_error_rate(&self, errors: Option<&ErrorModel>) -> Probability {
        errors.map_or(self.bler, |errors| errors.block_error_rate(self.pdus_per_block))
    }

    /// Returns the number and size of the bearer's blocks, their BLER, and their combining.
    pub fn blocks(&self) -> BlockShape<'_> {
        let Self { bler, channels, pdus_per_block, pdu_bytes, ref combining, .. } = *self;
        BlockShape { bler, channels, pdus: pdus_per_block, pdu_bytes, combining }
    }

    /// Returns the bit rate if all channels are used in every TTI and no block fails. `best_ci` is
    /// the highest C/I value of users with a C/I process, at which a block has `best_ci` PDUs. It is
    /// `None` for users without a C/I process.
    pub fn rate(&self, best_ci: Option<u32>) -> Rate {
        let pdus = u128::from(self.channels) * u128::from(best_ci.unwrap_or(self.pdus_per_block));
        let bits_per_tti = pdus * u128::from(self.pdu_bytes) * 8;
        Rate((bits_per_tti * u128::from(NANOS_PER_S) / u128::from(self.tti.0)) as u64)
    }

    /// Returns the number of TTIs, at least 1, from a TTI in which a block fails to the earliest
    /// retransmission of the block.
    pub fn retransmission_ttis(&self) -> u64 {
        self.retransmission_delay.0.div_ceil(self.tti.0).max(1)
    }

    /// Returns true if the limit of transmissions allows another transmission of a block after
    /// `transmissions` transmissions.
    pub fn may_retransmit(&self, transmissions: u32) -> bool {
        self.max_transmissions.is_none_or(|most| transmissions < most)
    }
}
