use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Distance, Probability};

use super::bandwidth::Bandwidth;
use nodeb_air::cell::interference::{FixedLevel, Hexagonal, InterferenceSpec};
use nodeb_air::cell::path_loss::PathLossSpec;
use nodeb_air::cell::plan::Cell;
use nodeb_air::cell::shadowing::Shadowing;

/// Negligible.
const SILENCE_DBM: f64 = -300.0;

/// At 290 K.
pub const THERMAL_DBM_HZ: f64 = -174.0;

params! {
    /// Base station of an LTE cell and its surroundings.
    ///
    /// Defaults: TR 36.814, table A.2.1.1-2 (case 1), unless another source is named.
    pub struct Site {
        /// Distance from the base station to the corners of its cell.
        pub radius: Distance = Distance::from_metres(289),
        /// Total transmit power of the base station in dBm, spread evenly over all resource blocks.
        pub power_dbm: f64 = 46.0,
        /// Antenna gain of the base station in dB, minus cable losses.
        pub antenna_gain_db: f64 = 14.0,
        /// Path loss between the base station and a phone as a function of their distance.
        pub path_loss: PathLossSpec,
        /// Shadowing, which varies the path loss from place to place.
        pub shadowing: Shadowing,
        /// Interference from other cells.
        pub interference: InterferenceSpec,
        /// Noise figure of the phone in dB, added to thermal noise of -174 dBm/Hz.
        pub noise_figure_db: f64 = 9.0,
    }
}

impl Checked for Site {
    fn check(&self, check: &mut Check) {
        check.range("radius", self.radius, Distance::from_metres(10)..=Distance::from_metres(100_000));
        for (key, value) in [
            ("power_dbm", self.power_dbm),
            ("antenna_gain_db", self.antenna_gain_db),
            ("noise_figure_db", self.noise_figure_db),
        ] {
            check.range(key, value, -200.0..=200.0);
        }
        check.within("path_loss", |check| self.path_loss.check(check));
        check.within("shadowing", |check| self.shadowing.check(check));
        check.within("interference", |check| self.interference.check(check));
    }
}

impl Site {
    /// Noise is that of the resource blocks of `bandwidth`.
    pub fn cell(&self, bandwidth: Bandwidth) -> Cell {
        let noise_hz = 10.0 * libm::log10(bandwidth.occupied_hz());
        Cell {
            radius: self.radius,
            power_dbm: self.power_dbm,
            hs_share: Probability(1.0),
            antenna_gain_db: self.antenna_gain_db,
            path_loss: self.path_loss.clone(),
            shadowing: self.shadowing.clone(),
            interference: self.interference.clone(),
            noise_dbm: THERMAL_DBM_HZ + self.noise_figure_db + noise_hz,
            // Subcarriers are orthogonal: the own cell's power does not interfere.
            orthogonality: Some(Probability(1.0)),
        }
    }

    /// Phones send 1 mW on each resource block, where `noise_dbm` is noise and interference; path loss and
    /// shadowing are those of the downlink.
    pub fn uplink(&self, noise_dbm: f64) -> Cell {
        let interference = match &self.interference {
            // The other sites remain, as shadowing depends on their number, but do not transmit.
            InterferenceSpec::Hexagonal(grid) => {
                InterferenceSpec::Hexagonal(Hexagonal { load: Probability(0.0), ..grid.clone() })
            }
            InterferenceSpec::Fixed(_) => InterferenceSpec::Fixed(FixedLevel { level_dbm: SILENCE_DBM }),
        };
        Cell { power_dbm: 0.0, interference, noise_dbm, ..self.cell(Bandwidth::Mhz20) }
    }
}
