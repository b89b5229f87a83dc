//! TS 36.213, 5.1.1.1: a phone sends `P0 + alpha PL` on each resource block, and at most its largest power on
//! all. The base station grants no more resource blocks than this allows, by the last power headroom report
//! or else the actual power, but always four, with less power on each if necessary.

/// In dBm per resource block unless stated otherwise.
#[derive(Clone, Copy, Debug)]
pub struct PowerControl {
    /// On all resource blocks together.
    pub largest_dbm: f64,
    /// P0; the received power if `alpha` is 1.
    pub target_dbm: f64,
    /// dB per dB of path loss.
    pub alpha: f64,
    /// With interference, per resource block.
    pub noise_dbm: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// On each resource block.
    pub block_mw: f32,
    /// Largest number that the power allows.
    pub blocks: u16,
}

impl PowerControl {
    // Clause: TS 36.213, 5.1.1.1: power of PUSCH
    // Simplified: open loop
    /// `snr` is at 1 mW on each resource block; with too little power for `least`, each gets less.
    pub fn of(&self, snr: f32, least: u16) -> Power {
        let wanted_dbm = self.wanted_dbm(self.path_loss_db(snr));
        let possible_dbm = self.largest_dbm - 10.0 * libm::log10(f64::from(least));
        let headroom = libm::pow(10.0, (self.largest_dbm - wanted_dbm) / 10.0);
        Power {
            block_mw: libm::pow(10.0, wanted_dbm.min(possible_dbm) / 10.0) as f32,
            blocks: (headroom.min(f64::from(u16::MAX)) as u16).max(least),
        }
    }

    /// `snr` is at 1 mW on each resource block.
    pub fn path_loss_db(&self, snr: f32) -> f64 {
        -10.0 * libm::log10(f64::from(snr)) - self.noise_dbm
    }

    /// On each resource block, before the limit of the largest power.
    pub fn wanted_dbm(&self, path_loss_db: f64) -> f64 {
        self.target_dbm + self.alpha * path_loss_db
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTROL: PowerControl =
        PowerControl { largest_dbm: 23.0, target_dbm: -80.0, alpha: 0.8, noise_dbm: -113.0 };

    /// At 1 mW.
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
