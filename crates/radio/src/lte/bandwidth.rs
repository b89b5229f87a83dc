//! Channel bandwidths, and the resource blocks, groups and subbands into which they are divided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use nodeb_air::mac::band::Band;

/// Of a resource block (TS 36.211, table 6.2.3-1).
pub const SUBCARRIERS: u32 = 12;

/// TS 36.211, table 6.2.3-1.
pub const SUBCARRIER_HZ: f64 = 15e3;

/// Bandwidth of a resource block in Hz: 12 subcarriers of 15 kHz.
pub const BLOCK_HZ: f64 = 180e3;

// Clause: TS 36.101, 5.6: channel bandwidths
/// Channel bandwidth, with the number of resource blocks N_RB (TS 36.101, table 5.6-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Bandwidth {
    /// 1.4 MHz, with 6 resource blocks.
    #[serde(rename = "1.4 MHz")]
    Mhz1_4,
    /// 3 MHz, with 15 resource blocks.
    #[serde(rename = "3 MHz")]
    Mhz3,
    /// 5 MHz, with 25 resource blocks.
    #[serde(rename = "5 MHz")]
    Mhz5,
    /// 10 MHz, with 50 resource blocks.
    #[serde(rename = "10 MHz")]
    Mhz10,
    /// 15 MHz, with 75 resource blocks.
    #[serde(rename = "15 MHz")]
    Mhz15,
    /// 20 MHz, with 100 resource blocks.
    #[serde(rename = "20 MHz")]
    Mhz20,
}

impl Bandwidth {
    /// In ascending order.
    pub const ALL: [Self; 6] = [Self::Mhz1_4, Self::Mhz3, Self::Mhz5, Self::Mhz10, Self::Mhz15, Self::Mhz20];

    pub const fn hz(self) -> f64 {
        match self {
            Self::Mhz1_4 => 1.4e6,
            Self::Mhz3 => 3e6,
            Self::Mhz5 => 5e6,
            Self::Mhz10 => 10e6,
            Self::Mhz15 => 15e6,
            Self::Mhz20 => 20e6,
        }
    }

    /// Nearly twice as wide; `None` if there is no wider one.
    pub const fn wider(self) -> Option<Self> {
        match self {
            Self::Mhz1_4 => Some(Self::Mhz3),
            Self::Mhz3 => Some(Self::Mhz5),
            Self::Mhz5 => Some(Self::Mhz10),
            Self::Mhz10 | Self::Mhz15 => Some(Self::Mhz20),
            Self::Mhz20 => None,
        }
    }

    /// N_RB (TS 36.101, table 5.6-1).
    pub const fn blocks(self) -> u16 {
        match self {
            Self::Mhz1_4 => 6,
            Self::Mhz3 => 15,
            Self::Mhz5 => 25,
            Self::Mhz10 => 50,
            Self::Mhz15 => 75,
            Self::Mhz20 => 100,
        }
    }

    /// Without the subcarrier at DC.
    pub fn occupied_hz(self) -> f64 {
        f64::from(self.blocks()) * BLOCK_HZ
    }

    /// Usual for a receiver of this channel (TS 36.104, annex E.5.1).
    pub const fn fft_size(self) -> u32 {
        match self {
            Self::Mhz1_4 => 128,
            Self::Mhz3 => 256,
            Self::Mhz5 => 512,
            Self::Mhz10 => 1024,
            Self::Mhz15 => 1536,
            Self::Mhz20 => 2048,
        }
    }

    /// Limits the resolution of delays.
    pub fn sample_rate_hz(self) -> f64 {
        f64::from(self.fft_size()) * SUBCARRIER_HZ
    }

    // Clause: TS 36.213, 7.1.6.1: resource block groups
    // Simplified: resource allocation of type 0 alone
    /// P in resource blocks (TS 36.213, table 7.1.6.1-1).
    pub const fn group_size(self) -> u16 {
        match self.blocks() {
            ..=10 => 1,
            11..=26 => 2,
            27..=63 => 3,
            _ => 4,
        }
    }

    /// The last group can be smaller than the others (TS 36.213, 7.1.6.1).
    pub fn band(self) -> Band {
        Band::new(self.blocks(), self.group_size(), BLOCK_HZ)
    }

    /// `None` at 1.4 MHz, where only wideband reports exist (TS 36.213, table 7.2.1-3).
    pub const fn subband_size(self) -> Option<u16> {
        match self.blocks() {
            ..=7 => None,
            8..=26 => Some(4),
            27..=63 => Some(6),
            _ => Some(8),
        }
    }

    /// TS 36.211, table 6.7-1.
    pub const fn control_symbols(self) -> std::ops::RangeInclusive<u8> {
        if self.blocks() > 10 { 1..=3 } else { 2..=4 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: channel bandwidths (standard's table)
    // Tests the feature: resource block groups (standard's table)
    #[test]
    fn bandwidths_have_the_values_of_the_tables() {
        let all = Bandwidth::ALL;
        assert_eq!(all.map(Bandwidth::blocks), [6, 15, 25, 50, 75, 100]);
        assert_eq!(all.map(Bandwidth::group_size), [1, 2, 2, 3, 4, 4]);
        assert_eq!(all.map(|one| one.band().groups()), [6, 8, 13, 17, 19, 25]);
        assert_eq!(all.map(Bandwidth::subband_size), [None, Some(4), Some(4), Some(6), Some(8), Some(8)]);
        assert_eq!(all.map(|one| *one.control_symbols().start()), [2, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn blocks_fit_the_channel_and_the_fft() {
        for bandwidth in Bandwidth::ALL {
            assert!(bandwidth.occupied_hz() < bandwidth.hz());
            assert!(u32::from(bandwidth.blocks()) * SUBCARRIERS < bandwidth.fft_size());
        }
        assert!((Bandwidth::Mhz20.sample_rate_hz() - 30.72e6).abs() < 1.0);
    }
}
