//! Services: transport channels, and the physical channel that carries them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coding::{Coding, Crc, TransportCoder};
use crate::error::{Error, Result};
use crate::multiplexing;
use crate::spreading::FRAME_CHIPS;

/// Transport channel: its PDUs in each TTI, their CRC, and the channel code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransportChannel {
    /// Length of the transmission time interval in ms: 10, 20, 40 or 80.
    pub tti_ms: u32,
    /// Number of PDUs per TTI. Each PDU is a transport block.
    pub pdus: u32,
    /// Number of bits in a PDU, without its CRC.
    pub pdu_bits: u32,
    /// CRC that is attached to each PDU.
    pub crc: Crc,
    /// Channel code: convolutional or turbo.
    pub coding: Coding,
    /// Rate-matching attribute, 1 to 256 (TS 25.331, 10.3.5.11).
    #[serde(default = "attribute")]
    pub rate_matching: u32,
}

/// Of all reference measurement channels (TS 25.101, annex A.2).
fn attribute() -> u32 {
    256
}

impl TransportChannel {
    /// Of all reference measurement channels (TS 25.101, annex A.2): 100 bits in 40 ms.
    pub fn signalling() -> Self {
        Self {
            tti_ms: 40,
            pdus: 1,
            pdu_bits: 100,
            crc: Crc::Crc12,
            coding: Coding::ConvolutionalThird,
            rate_matching: attribute(),
        }
    }

    pub fn frames(&self) -> usize {
        self.tti_ms as usize / 10
    }

    /// Without CRCs.
    pub fn bits(&self) -> usize {
        (self.pdus * self.pdu_bits) as usize
    }

    /// Creates the coder of this transport channel.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter is out of its range.
    pub fn coder(&self) -> Result<TransportCoder> {
        if ![10, 20, 40, 80].contains(&self.tti_ms) {
            return Err(Error::config("tti_ms", format!("10, 20, 40 or 80 ms, not {}", self.tti_ms)));
        }
        if !(1..=256).contains(&self.rate_matching) {
            return Err(Error::config("rate_matching", format!("1 to 256, not {}", self.rate_matching)));
        }
        if u64::from(self.pdus) * u64::from(self.pdu_bits) > 200_000 {
            let message = format!("at most 200000 bits in a TTI, not {} of {}", self.pdus, self.pdu_bits);
            return Err(Error::config("pdus", message));
        }
        TransportCoder::new(self.pdus as usize, self.pdu_bits as usize, self.crc, self.coding)
    }

    /// `coder` must be the channel's own coder.
    pub(super) fn multiplexed(&self, coder: &TransportCoder) -> multiplexing::Channel {
        multiplexing::Channel {
            frames: self.frames(),
            coded: coder.coded(),
            attribute: self.rate_matching,
            turbo: self.coding == Coding::Turbo,
        }
    }
}

/// Bearer service: a data channel, a signalling channel, and the physical channel that carries both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Data channel, whose errors are counted and whose bits determine Eb/N0.
    pub dtch: TransportChannel,
    /// Signalling channel, which must have a convolutional code. Default: no signalling channel.
    #[serde(default)]
    pub dcch: Option<TransportChannel>,
    /// Spreading factor of the DPDCH: 4, 8, 16, 32, 64, 128 or 256.
    pub spreading_factor: u32,
    /// Gain factor of the DPCCH in fifteenths of the DPDCH's gain factor, 1 to 15 (TS 25.213,
    /// 4.2.1).
    pub beta_c: u32,
}

impl Service {
    /// Returns a service of Table 1 of Costamagna, Favalli, Lanati and Tarantola, "An end to end
    /// simulator for performance comparison of different TCP schemes over UTRA channels". PDUs have
    /// 40 bytes; TTIs have 20 ms at 64 and 144 kbit/s, and 10 ms at 384 kbit/s.
    ///
    /// Each PDU is a transport block with a CRC of 16 bits. Parameters that the table does not
    /// state are those of the uplink measurement channels of TS 25.101, annex A.2: signalling, and
    /// a DPCCH 9.54 dB below the DPDCH (11.48 dB at 384 kbit/s).
    ///
    /// # Errors
    ///
    /// Returns an error if `kbps` is none of 64, 144 and 384.
    pub fn costamagna(kbps: u32) -> Result<Self> {
        let (tti_ms, pdus, spreading_factor, beta_c) = match kbps {
            64 => (20, 4, 16, 5),
            144 => (20, 9, 8, 5),
            384 => (10, 12, 4, 4),
            _ => return Err(Error::config("service", format!("64, 144 or 384 kbit/s, not {kbps}"))),
        };
        let dtch = TransportChannel {
            tti_ms,
            pdus,
            pdu_bits: 320,
            crc: Crc::Crc16,
            coding: Coding::Turbo,
            rate_matching: attribute(),
        };
        Ok(Self { dtch, dcch: Some(TransportChannel::signalling()), spreading_factor, beta_c })
    }

    /// Without CRCs and coding.
    pub fn bit_rate(&self) -> f64 {
        self.dtch.bits() as f64 * 1000.0 / f64::from(self.dtch.tti_ms)
    }

    pub fn capacity(&self) -> usize {
        FRAME_CHIPS / self.spreading_factor as usize
    }

    /// Checks that all parameters are in their ranges and that the transport channels fit into a
    /// radio frame.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter is out of its range or the channels do not fit into a radio
    /// frame.
    pub fn check(&self) -> Result<()> {
        if !(4..=256).contains(&self.spreading_factor) || !self.spreading_factor.is_power_of_two() {
            let message = format!("4, 8, 16, 32, 64, 128 or 256, not {}", self.spreading_factor);
            return Err(Error::config("spreading_factor", message));
        }
        if !(1..=15).contains(&self.beta_c) {
            return Err(Error::config(
                "beta_c",
                format!("1 to 15 (the DPCCH carries the pilots), not {}", self.beta_c),
            ));
        }
        self.map().map(|_| ())
    }

    pub(super) fn coders(&self) -> Result<Vec<(TransportChannel, TransportCoder)>> {
        let mut coders = vec![(self.dtch.clone(), self.dtch.coder().map_err(|e| e.under("dtch"))?)];
        if let Some(dcch) = &self.dcch {
            if dcch.coding == Coding::Turbo {
                return Err(Error::config("dcch.coding", "the signalling channel has a convolutional code"));
            }
            coders.push((dcch.clone(), dcch.coder().map_err(|e| e.under("dcch"))?));
        }
        Ok(coders)
    }

    pub(super) fn map(&self) -> Result<multiplexing::Map> {
        let channels: Vec<_> =
            self.coders()?.iter().map(|(channel, coder)| channel.multiplexed(coder)).collect();
        multiplexing::Map::new(&channels, self.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_have_their_rates_and_fit() {
        for (kbps, k) in [(64, 1344), (144, 3024), (384, 4032)] {
            let service = Service::costamagna(kbps).unwrap();
            assert_eq!(service.bit_rate(), f64::from(kbps) * 1000.0);
            service.check().unwrap();
            assert_eq!(service.dtch.coder().unwrap().segmentation().k, k);
        }
    }

    #[test]
    fn invalid_values_are_rejected_with_their_key() {
        let good = Service::costamagna(384).unwrap();
        let explain = |change: &dyn Fn(&mut Service)| {
            let mut service = good.clone();
            change(&mut service);
            service.check().unwrap_err().to_string()
        };
        assert!(explain(&|s| s.spreading_factor = 5).starts_with("spreading_factor: 4, 8"));
        assert!(explain(&|s| s.spreading_factor = 16).contains("smaller spreading factor"));
        assert!(explain(&|s| s.dtch.tti_ms = 15).starts_with("dtch.tti_ms: 10, 20"));
        assert!(explain(&|s| s.dtch.pdus = 0).starts_with("dtch.pdus: at least one"));
        assert!(explain(&|s| s.dcch.as_mut().unwrap().coding = Coding::Turbo).starts_with("dcch.coding"));
        assert!(explain(&|s| s.beta_c = 0).starts_with("beta_c"));
        assert!(explain(&|s| s.dcch.as_mut().unwrap().rate_matching = 0).starts_with("dcch.rate_matching"));
    }
}
