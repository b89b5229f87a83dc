//! Configuration of a link: service, radio channel, noise and receiver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::service::Service;
use crate::channel::{Geometry, Profile, Pulse, doppler_hz};
use crate::coding::turbo;
use crate::error::{Error, Result};
use crate::receiver::Estimation;
use crate::spreading::scrambling;

/// Radio channel between terminal and base station, with interference from other cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Air {
    /// Multipath profile: delays and mean powers of the paths.
    pub profile: Profile,
    /// Speed of the terminal in km/h. Default: the speed of the profile.
    pub speed_kmh: Option<f64>,
    /// Carrier frequency in GHz, which with the speed determines the Doppler frequency.
    pub carrier_ghz: f64,
    /// Pulse shape of the chips, which distributes a path over chips.
    pub pulse: Pulse,
    /// Interference from other cells. Default: no interference.
    pub other_cells: Option<OtherCells>,
}

impl Default for Air {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            speed_kmh: None,
            carrier_ghz: 2.0,
            pulse: Pulse::default(),
            other_cells: None,
        }
    }
}

/// Interference that is received from terminals in other cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherCells {
    /// Mean power of all interference from other cells, relative to the noise power, in dB.
    pub over_noise_db: f64,
    /// Number of interfering terminals with equal mean power. Each has its own scrambling code and
    /// channel, and the spreading of the service. With 0, interference is additional noise.
    #[serde(default)]
    pub terminals: u32,
}

/// Parameters of the base station's receiver: antennas, rake, channel estimation and decoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Receiver {
    /// Number of receive antennas, 1 or 2, which fade independently. The fingers of all antennas
    /// are combined.
    pub antennas: u32,
    /// Number of rake fingers per antenna, which are at the strongest delays.
    pub fingers: u32,
    /// Range of the rake's delays in chips, 1 to 1000; 80 chips are 20.8 us.
    pub window_chips: u32,
    /// Method by which the coefficients of the rake fingers are estimated.
    pub estimation: Estimation,
    /// Parameters of the turbo decoder, which are used if the service has a turbo code.
    pub turbo: turbo::Settings,
    /// Whether the decoder stops its iterations when all CRCs of a block are correct. Applies only
    /// if a block is a single code block with CRCs.
    pub early_stop: bool,
}

impl Default for Receiver {
    fn default() -> Self {
        Self {
            antennas: 1,
            fingers: 3,
            window_chips: 80,
            estimation: Estimation::default(),
            turbo: turbo::Settings::default(),
            early_stop: true,
        }
    }
}

/// Complete description of a link that can be simulated at one Eb/N0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Service of the link: its transport channels and their spreading.
    pub service: Service,
    /// Energy per information bit over noise density at each antenna, in dB. The energy is all that
    /// is received of DPDCH and DPCCH over all paths, divided by the number of bits in the data
    /// channel's PDUs (TS 25.104, 8.1). The noise does not include other cells.
    pub eb_n0_db: f64,
    /// Radio channel from the terminal to the base station.
    #[serde(default)]
    pub air: Air,
    /// Parameters of the base station's receiver.
    #[serde(default)]
    pub receiver: Receiver,
    /// Scrambling code of the terminal, 0 to 16777215.
    #[serde(default)]
    pub scrambling_code: u32,
}

impl Link {
    pub fn new(service: Service, eb_n0_db: f64) -> Self {
        Self { service, eb_n0_db, air: Air::default(), receiver: Receiver::default(), scrambling_code: 0 }
    }

    pub fn doppler_hz(&self) -> f64 {
        let speed = self.air.speed_kmh.unwrap_or_else(|| self.air.profile.speed_kmh());
        doppler_hz(speed, self.air.carrier_ghz)
    }

    /// Checks that every value of the link is in its range and that the rake reaches all taps.
    ///
    /// # Errors
    ///
    /// Returns an error if a value cannot be simulated.
    pub fn check(&self) -> Result<()> {
        self.service.check().map_err(|e| e.under("service"))?;
        self.check_air().map_err(|e| e.under("air"))?;
        self.check_receiver().map_err(|e| e.under("receiver"))?;
        require((-100.0..=100.0).contains(&self.eb_n0_db), "eb_n0_db", || {
            format!("-100 to 100 dB, not {}", self.eb_n0_db)
        })?;
        require(self.scrambling_code < scrambling::CODES, "scrambling_code", || {
            format!("0 to 16777215 (24 bits), not {}", self.scrambling_code)
        })
    }

    fn check_air(&self) -> Result<()> {
        let air = &self.air;
        air.profile.check().map_err(|e| e.under("profile"))?;
        let speed = air.speed_kmh.unwrap_or(0.0);
        require((0.0..=1000.0).contains(&speed), "speed_kmh", || format!("0 to 1000 km/h, not {speed}"))?;
        require((0.1..=10.0).contains(&air.carrier_ghz), "carrier_ghz", || {
            format!("0.1 to 10 GHz, not {}", air.carrier_ghz)
        })?;
        let Some(cells) = &air.other_cells else { return Ok(()) };
        require((-100.0..=100.0).contains(&cells.over_noise_db), "other_cells.over_noise_db", || {
            format!("-100 to 100 dB, not {}", cells.over_noise_db)
        })?;
        require(cells.terminals <= 64, "other_cells.terminals", || {
            format!("at most 64, beyond which interference is noise (terminals = 0), not {}", cells.terminals)
        })
    }

    fn check_receiver(&self) -> Result<()> {
        let receiver = &self.receiver;
        require((1..=2).contains(&receiver.antennas), "antennas", || {
            format!("1 or 2 antennas, not {}", receiver.antennas)
        })?;
        require(receiver.fingers > 0, "fingers", || "at least one finger".into())?;
        require((1..=1000).contains(&receiver.window_chips), "window_chips", || {
            format!("1 to 1000 chips, not {}", receiver.window_chips)
        })?;
        // The delays are checked here in chips, because the sizes of buffers allocated later depend
        // on them.
        let latest = self.air.profile.taps().iter().map(|tap| tap.delay_ns * 3.84e-3).fold(0.0, f64::max);
        let window = f64::from(receiver.window_chips);
        require(latest < window, "window_chips", || {
            format!(
                "the rake reaches {window} chips, but a tap is {latest:.0} chips after the first; \
                 expected at least {:.0}",
                latest.floor() + 1.0
            )
        })?;
        receiver.estimation.check()?;
        receiver.turbo.check().map_err(|e| e.under("turbo"))
    }

    pub(super) fn geometry(&self) -> Geometry {
        Geometry::new(&self.air.profile, self.air.pulse)
    }
}

fn require(holds: bool, key: &str, message: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::config(key, message())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::Tap;

    #[test]
    fn invalid_values_are_rejected_with_their_key() {
        let good = Link::new(Service::costamagna(64).unwrap(), 3.0);
        good.check().unwrap();
        let explain = |change: &dyn Fn(&mut Link)| {
            let mut link = good.clone();
            change(&mut link);
            link.check().unwrap_err().to_string()
        };
        let far = Profile::Taps(vec![
            Tap { delay_ns: 0.0, power_db: 0.0 },
            Tap { delay_ns: 30_000.0, power_db: 0.0 },
        ]);
        let error = explain(&|link| link.air.profile = far.clone());
        assert!(error.contains("receiver.window_chips") && error.contains("at least 116"), "{error}");
        assert!(explain(&|link| link.eb_n0_db = f64::NAN).starts_with("eb_n0_db"));
        assert!(explain(&|link| link.receiver.antennas = 3).starts_with("receiver.antennas: 1 or 2"));
        assert!(explain(&|link| link.receiver.turbo.scale = 0.0).starts_with("receiver.turbo.scale"));
        assert!(explain(&|link| link.air.profile = Profile::Taps(vec![])).starts_with("air.profile.taps"));
        assert!(explain(&|link| link.scrambling_code = 1 << 24).starts_with("scrambling_code"));
        let nowhere = Profile::Taps(vec![Tap { delay_ns: f64::INFINITY, power_db: 0.0 }]);
        assert!(explain(&|link| link.air.profile = nowhere.clone()).contains("taps[0].delay_ns"));
    }

    #[test]
    fn link_survives_serialisation() {
        let mut link = Link::new(Service::costamagna(384).unwrap(), 1.5);
        link.air.profile = Profile::Taps(vec![Tap { delay_ns: 0.0, power_db: 0.0 }]);
        let text = serde_json::to_string(&link).unwrap();
        assert_eq!(serde_json::from_str::<Link>(&text).unwrap(), link);
        assert!(serde_json::to_string(&schemars::schema_for!(Link)).unwrap().contains("eb_n0_db"));
    }
}
