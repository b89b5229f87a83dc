//! A CQI stands for the middle, in dB, of the SNRs at which phones report it. A bit rate stands for the SNR
//! at which the cell gives this rate on one layer to a phone that has all resource blocks; between the rates
//! of two CQIs, the SNR in dB is interpolated linearly. In the downlink, a bit rate also determines the sizes
//! of blocks, which cannot fail.

use nodeb_air::UserRadio;
use nodeb_air::cell::channel::trace::{Player, Trace};
use nodeb_air::mac::band::MAX_GROUPS;
use nodeb_base::units::{Duration, NANOS_PER_S};

use super::standard::{CQIS, Standard};

/// From CQI to CQI, of a phone that has all resource blocks on one layer.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Smallest linear SNR of each CQI, continued downwards to CQI 0 by an equal step in dB.
    snrs: [f32; CQIS as usize],
    /// Of a TTI at each CQI.
    bits: [f32; CQIS as usize],
}

impl Steps {
    /// By the formats in the downlink, computed if needed; `None` without recorded CQIs and bit rates.
    pub fn of_user<'a, S: Standard>(user: &UserRadio, formats: impl FnOnce() -> &'a S) -> Option<Self> {
        let facts = user.ue.channel.facts();
        (facts.has_rates || facts.has_cqis).then(|| Self::of(formats()))
    }

    fn of<S: Standard>(formats: &S) -> Self {
        let mut snrs = *formats.thresholds();
        snrs[0] = snrs[1] * snrs[1] / snrs[2];
        Self { snrs, bits: std::array::from_fn(|cqi| 8.0 * formats.bytes(&[cqi as u8; MAX_GROUPS])) }
    }

    /// Linear; the step above CQI 15 is that below it.
    fn snr_of_cqi(&self, cqi: u8) -> f32 {
        let cqi = usize::from(cqi % CQIS);
        let below = cqi.min(usize::from(CQIS) - 2);
        self.snrs[cqi] * libm::sqrtf(self.snrs[below + 1] / self.snrs[below])
    }

    /// Linear; 0 for no bits, at most that of the highest CQI.
    fn snr_of_bits(&self, bits: u32) -> f32 {
        if bits == 0 {
            return 0.0;
        }
        let bits = bits as f32;
        let above = self.bits.partition_point(|least| *least <= bits).max(1);
        let [low, high] = [self.snrs[above - 1], self.snrs[above.min(usize::from(CQIS) - 1)]];
        let share = self
            .bits
            .get(above)
            .map_or(0.0, |most| (bits - self.bits[above - 1]) / (most - self.bits[above - 1]));
        low * libm::powf(high / low, share)
    }
}

#[derive(Debug)]
pub struct Recorded {
    player: Player,
    /// `None` if SNRs were recorded.
    steps: Option<Steps>,
    tti: Duration,
}

impl Recorded {
    pub fn new(trace: &Trace, steps: Option<Steps>, tti: Duration) -> Self {
        Self { player: Player::new(trace), steps, tti }
    }

    pub fn ends(&self) -> u64 {
        self.player.ends()
    }

    /// Linear; 0 after the end of a recording that does not loop.
    pub fn snr(&self, tti: u64) -> f32 {
        let Some(steps) = self.steps.as_ref().filter(|_| tti < self.player.ends()) else {
            return self.player.snr(tti);
        };
        match self.player.cqi(tti) {
            Some(cqi) => steps.snr_of_cqi(cqi),
            None => steps.snr_of_bits(self.bits(tti)),
        }
    }

    /// Of all resource blocks; 0 without bit rates, and after the end of a recording that does not loop.
    pub fn bits(&self, tti: u64) -> u32 {
        let bits = u128::from(self.player.rate(tti)) * u128::from(self.tti.0) / u128::from(NANOS_PER_S);
        u32::try_from(bits).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::lte::Lte;
    use crate::lte::formats::Formats;

    fn steps(keys: serde_json::Value) -> (Formats, Steps) {
        let lte: Lte = serde_json::from_value(keys).unwrap();
        let formats = lte.formats().pop().unwrap();
        let steps = Steps::of(&formats);
        (formats, steps)
    }

    fn cells() -> Vec<serde_json::Value> {
        vec![
            json!({}),
            json!({ "bandwidth": "1.4 MHz", "control_symbols": 2 }),
            json!({ "qam256": true, "implementation_loss_db": 2.0 }),
        ]
    }

    #[test]
    fn phones_report_recorded_cqis() {
        for cell in cells() {
            let (formats, steps) = steps(cell);
            for cqi in 0..CQIS {
                assert_eq!(formats.cqi(steps.snr_of_cqi(cqi)), cqi);
            }
        }
    }

    /// In dB, by the thresholds of the CQI before and after.
    #[test]
    fn recorded_cqis_are_in_the_middle_of_their_step() {
        let (formats, steps) = steps(json!({}));
        let db = |snr: f32| 10.0 * libm::log10f(snr);
        for cqi in 1..15 {
            let [low, high] = [0, 1].map(|above| db(formats.thresholds()[usize::from(cqi + above)]));
            assert!((db(steps.snr_of_cqi(cqi)) - low.midpoint(high)).abs() < 1e-4, "{cqi}");
        }
    }

    /// The highest CQI whose rate is at most this rate.
    #[test]
    fn phones_report_the_cqi_of_recorded_rates() {
        for cell in cells() {
            let (formats, steps) = steps(cell);
            let rate = |cqi: u8| formats.bytes(&[cqi; MAX_GROUPS]) * 8.0;
            assert_eq!(
                [0, u32::MAX].map(|bits| steps.snr_of_bits(bits).to_bits()),
                [0.0, steps.snrs[15]].map(f32::to_bits)
            );
            let mut before = 0.0;
            for bits in (1..=rate(15) as u32 + 1_000).step_by(97) {
                let snr = steps.snr_of_bits(bits);
                let cqi = formats.cqi(snr);
                assert!(
                    rate(cqi) <= bits as f32 && (cqi == 15 || bits as f32 <= rate(cqi + 1)),
                    "{bits}: {cqi}"
                );
                assert!(snr >= before, "{bits}");
                before = snr;
            }
        }
    }
}
