//! The first transmission fails with the bearer's BLER, which gives its SNR on the curve of [`link_curve`];
//! combining gives the SNR of several transmissions, and the curve their BLER.

pub mod block;
pub mod chase;
pub mod incremental_redundancy;
pub mod link_curve;
pub mod processes;
pub mod retransmissions;
pub mod type1;

use nodeb_base::registry;
use nodeb_base::rng::{Stream, uniform};
use nodeb_base::units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Method that determines whether a block is decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decoding {
    /// Each transmission fails independently with the BLER at the SNR combined so far.
    #[default]
    Independent,
    /// One random number per block, as in EURANE: the block is decoded once the BLER at the SNR combined so
    /// far is at most this number.
    OneNumber,
    /// Every block is decoded at its first transmission, although blocks are selected as if they could fail.
    ErrorFree,
}

impl Decoding {
    /// The block is decoded if this number is at least the BLER; `n` counts from 1, `first` was drawn for the
    /// first transmission.
    #[inline]
    pub fn draw(self, n: u32, first: f64, stream: &mut Stream) -> f64 {
        match self {
            Self::Independent if n > 1 => uniform(stream),
            Self::Independent | Self::OneNumber => first,
            Self::ErrorFree => 1.0,
        }
    }
}

registry! {
    /// Method of soft combining with its parameters, as given in a scenario.
    "combining" CombiningSpec = None {
        /// H-ARQ type I: failed blocks are discarded, each transmission is decoded on its own.
        "none" => None(type1::NoCombining),
        /// Chase combining: retransmissions add up their energy.
        "chase" => Chase(chase::Chase),
        /// Incremental redundancy: each retransmission adds new parity bits.
        "incremental_redundancy" => IncrementalRedundancy(incremental_redundancy::IncrementalRedundancy),
    }
}

/// Transmissions, counted from 1, after which the failure probability no longer changes.
pub const LAST_DISTINCT: u32 = 8;

impl CombiningSpec {
    /// Given that all earlier transmissions failed, and the first fails with `bler`; counted from 1.
    pub fn failure(&self, bler: Probability, transmission: u32, bits: u64) -> Probability {
        let n = transmission.min(LAST_DISTINCT);
        if n <= 1 || bler.0 <= 0.0 || bler.0 >= 1.0 {
            return bler;
        }
        let after = |n: u32| match self {
            Self::None(_) => bler.0,
            Self::Chase(params) => link_curve::bler_after(bler, bits, |snr| params.combined_snr(snr, n)),
            Self::IncrementalRedundancy(params) => {
                link_curve::bler_after(bler, bits, |snr| params.combined_snr(snr, n))
            }
        };
        Probability(after(n).clamp(0.0, 1.0))
    }

    /// Linear, per symbol; `before` after the earlier transmissions.
    pub fn add(&self, before: f64, snr: f64, n: u32) -> f64 {
        match self {
            Self::Chase(params) if n > 1 => params.add(before, snr, n),
            Self::IncrementalRedundancy(params) if n > 1 => params.add(before, snr),
            _ => snr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants() -> [CombiningSpec; 3] {
        [
            CombiningSpec::default(),
            CombiningSpec::Chase(chase::Chase::default()),
            CombiningSpec::IncrementalRedundancy(incremental_redundancy::IncrementalRedundancy::default()),
        ]
    }

    #[test]
    fn combining_never_hurts_and_parity_beats_retransmission() {
        for bits in [240, 256, 1_200, 7_168] {
            for bler in [0.01, 0.1, 0.5, 0.9].map(Probability) {
                for n in 2..=LAST_DISTINCT {
                    let [none, chase, ir] = variants().map(|variant| variant.failure(bler, n, bits).0);
                    assert!((none - bler.0).abs() < 1e-12);
                    assert!(chase < bler.0 && ir <= chase, "{bits} bits, bler {bler:?}, n {n}: {chase} {ir}");
                }
            }
        }
    }

    // Tests the feature: soft combining (closed form)
    #[test]
    fn adding_equal_transmissions_equals_combining_them_at_once() {
        let [none, chase, ir] = variants();
        let chained = |variant: &CombiningSpec| (1..=4).fold(0.0, |sum, n| variant.add(sum, 0.7, n));
        assert!((chained(&none) - 0.7).abs() < 1e-12);
        let long = (1..=200).fold(0.0, |sum, n| chase.add(sum, 0.1, n));
        assert!(long > 10.0, "many transmissions are no worse than few: {long}");
        let [at_once, parity] = [chase::Chase::default().combined_snr(0.7, 4), 1.7f64.powi(4) - 1.0];
        assert!((chained(&chase) - at_once).abs() < 1e-12 && (chained(&ir) - parity).abs() < 1e-12);
    }

    #[test]
    fn error_rates_of_0_and_1_are_unchanged() {
        for variant in variants() {
            assert_eq!(variant.failure(Probability(0.0), 3, 256), Probability(0.0));
            assert_eq!(variant.failure(Probability(1.0), 3, 256), Probability(1.0));
        }
    }
}
