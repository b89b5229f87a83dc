use nodeb_base::units::NANOS_PER_S;

use super::{Limits, Offer};
use nodeb_air::numerology::Numerology;
use nodeb_air::rlc::umts::payload::Payload;

#[derive(Debug)]
pub struct RecordedRate {
    payload: Payload,
    numerology: Numerology,
    bits: u32,
}

impl RecordedRate {
    pub fn new(payload: Payload, numerology: Numerology) -> Self {
        Self { payload, numerology, bits: 0 }
    }

    /// 10 log10 of the bits of a TTI, minus infinity for 0.
    pub fn look(&mut self, rate_bps: u64) -> f32 {
        let bits = u128::from(rate_bps) * u128::from(self.numerology.tti.0) / u128::from(NANOS_PER_S);
        self.bits = u32::try_from(bits).unwrap_or(u32::MAX);
        10.0 * libm::log10f(self.bits as f32)
    }

    /// Users served in the same TTI share the rate equally.
    pub fn offer(&self, limits: Limits) -> Option<Offer> {
        let sharers = limits.sharers.max(1);
        let units = self.payload.units_in(self.bits / sharers);
        (units > 0).then_some(Offer { units, codes: limits.codes.div_ceil(sharers), curve: None })
    }
}
