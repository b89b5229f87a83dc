//! Power control of PUSCH, and the SNR that it leaves (TS 36.213, 5.1.1.1).
//!
//! A phone sends `P0 + alpha PL` on each resource block, and at most its largest power on all of them. The base station
//! grants no more resource blocks than this power allows. It computes their number from the phone's last power headroom
//! report or, without such reports, from the phone's actual power. Four resource blocks are always allowed,
//! with less power on each if necessary.

/// Transmit power of phones, in dBm per resource block unless stated otherwise.
#[derive(Clone, Copy, Debug)]
pub struct PowerControl {
    /// Largest power on all resource blocks together.
    pub largest_dbm: f64,
    /// P0. If `alpha` is 1, it is the power that the base station receives.
    pub target_dbm: f64,
    /// Share of the path loss that phones compensate, in dB per dB.
    pub alpha: f64,
    /// Noise and interference at the base station, in dBm per resource block.
    pub noise_dbm: f64,
}

/// Transmit power of a phone per resource block, and the number of resource blocks that it allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// Power on each resource block in mW.
    pub block_mw: f32,
    /// Largest number of resource blocks that the power allows.
    pub blocks: u16,
}

impl PowerControl {
    // Clause: TS 36.213, 5.1.1.1: power of PUSCH
    // Simplified: open loop
    /// Returns the power of a phone that has the linear SNR `snr` when it sends 1 mW on each resource block. The number
    /// of resource blocks is at least `least`: if the power does not suffice for so many, each gets less.
    pub fn of(&self, snr: f32, least: u16) -> Power {
        let wanted_dbm = self.wanted_dbm(self.path_loss_db(snr));
        let possible_dbm = self.largest_dbm - 10.0 * libm::log10(f64::from(least));
        let headroom = libm::pow(10.0, (self.largest_dbm - wanted_dbm) / 10.0);
        Power {
            block_mw: libm::pow(10.0, wanted_dbm.min(possible_dbm) / 10.0) as f32,
            blocks: (headroom.min(f64::from(u16::MAX)) as u16).max(least),
        }
    }

    /// Returns the path loss in dB of a phone that has the linear SNR `snr` when it sends 1 mW on each resource block.
    pub fn path_loss_db(&self, snr: f32) -> f64 {
        -10.0 * libm::log10(f64::from(snr)) - self.noise_dbm
    }

    /// Returns the transmit power in dBm on each resource block by power control at a path loss in dB, before it is
    /// limited by the phone's largest power.
    pub fn wanted_dbm(&self, path_loss_db: f64) -> f64 {
        self.target_dbm + self.alpha * path_loss_db
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTROL: PowerControl =
        PowerControl { largest_dbm: 23.0, target_dbm: -80.0, alpha: 0.8, noise_dbm: -113.0 };

    /// Returns the SNR at 1 mW of a phone with a path loss in dB.
    fn snr(path_loss_db: f64) -> f32 {
        10f64.powf((-path_loss_db - CONTROL.noise_dbm) / 10.0) as f32
    }

    // Tests the feature: power of PUSCH (closed form)
    #[test]
    fn headroom_limits_blocks_and_then_power() {
        // -80 + 0.8 * 100 = 0 dBm on each block: 23 dBm are enough for 199 blocks.
        let near = CONTROL.of(snr(100.0), 4);
        assert!((near.block_mw - 1.0).abs() < 1e-4 && near.blocks == 199, "{near:?}");
        // 20 dBm on each block: 23 dBm are not quite enough for two, but four are the least. They get 17 dBm each.
        let far = CONTROL.of(snr(125.0), 4);
        assert!((10.0 * far.block_mw.log10() - 16.979).abs() < 1e-3 && far.blocks == 4, "{far:?}");
    }
}
