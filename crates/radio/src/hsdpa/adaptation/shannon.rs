//! Capacity of the channel, `B log2(1 + SNR)` bits per second (Shannon 1948), for the SNR of the TTI and
//! without errors.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Rate;

use super::{Limits, LinkAdaptationParams, Offer};
use nodeb_air::numerology::Numerology;
use nodeb_air::rlc::umts::payload::Payload;

params! {
    /// Parameters of link adaptation at the capacity of the channel, without errors.
    pub struct Shannon {
        /// Bandwidth in Hz that determines the capacity. Default: the chip rate.
        pub bandwidth_hz: f64 = 3.84e6,
        /// Upper limit of the bit rate.
        pub rate: Rate = Rate(50_000_000),
    }
}

impl Checked for Shannon {
    fn check(&self, check: &mut Check) {
        check.require(self.bandwidth_hz > 0.0 && self.bandwidth_hz <= 1e12, "bandwidth_hz", || {
            format!("{} is out of range; expected more than 0 and at most 1e12", self.bandwidth_hz)
        });
        check.range("rate", self.rate, Rate(10_000)..=Rate(1_000_000_000_000));
    }
}

impl LinkAdaptationParams for Shannon {
    fn is_certain(&self) -> bool {
        true
    }
}

impl Shannon {
    pub fn largest_block(&self, numerology: Numerology) -> u32 {
        (self.rate.0 as f64 * numerology.tti_s()).min(f64::from(u32::MAX)) as u32
    }

    pub fn build(&self, payload: Payload, numerology: Numerology) -> Genie {
        let symbols = self.bandwidth_hz * numerology.tti_s();
        Genie { symbols, largest: self.largest_block(numerology), payload, snr: 0.0 }
    }
}

#[derive(Debug)]
pub struct Genie {
    /// Complex symbols in a TTI.
    symbols: f64,
    /// In bits.
    largest: u32,
    payload: Payload,
    snr: f32,
}

impl Genie {
    /// The SNR in dB.
    pub fn look(&mut self, snr: f32) -> f32 {
        self.snr = snr;
        10.0 * libm::log10f(snr)
    }

    /// Users served in the same TTI share the power equally.
    pub fn offer(&self, limits: Limits) -> Option<Offer> {
        let sharers = limits.sharers.max(1);
        let snr = f64::from(self.snr) / f64::from(sharers);
        let bits = self.symbols * libm::log1p(snr) / std::f64::consts::LN_2;
        let units = self.payload.units_in((bits as u32).min(self.largest));
        let codes = limits.codes.div_ceil(sharers);
        (units > 0).then_some(Offer { units, codes, curve: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_linear_at_low_and_logarithmic_at_high_snr() {
        let payload = Payload { pdu_bytes: 40, segmented: true, block_header_bits: 24 };
        let mut genie = Shannon::default().build(payload, Numerology::HSDPA);
        let all = Limits { codes: 15, sharers: 1, units: u64::MAX };
        let mut bits = |snr| {
            genie.look(snr);
            genie.offer(all).map_or(0, |offer| offer.units * 8 + 24)
        };
        // The capacity at 0 dB is one bit per symbol, and a TTI has 7680 symbols. A block carries
        // whole octets, and a header of 24 bits.
        let near = |found: u32, expected: f64| assert!((f64::from(found) - expected).abs() < 8.0, "{found}");
        near(bits(1.0), 7_680.0);
        near(bits(3.0), 15_360.0);
        near(bits(0.02), 7_680.0 * 1.02f64.log2());
        assert_eq!(bits(1e30), 100_000);
        assert_eq!(bits(0.0), 0);
    }
}
