//! Fading around a given mean SNR, without positions and without interference between paths.

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::params;
use nodeb_base::rng::Streams;
use nodeb_base::units::Speed;

use super::super::doppler::JakesSequence;
use super::super::profile::{Paths, Profile, Tap, check_taps};
use super::{ChannelFacts, ChannelParams, from_db};
use crate::numerology::Numerology;

params! {
    /// Parameters of fading around a mean SNR. With the flat profile the SNR is exponentially
    /// distributed.
    pub struct Fading {
        /// Mean SNR in dB: on `hsdpa` that of HS-PDSCH before despreading, on `lte` that of a resource element.
        pub mean_snr_db: f64 = 5.0,
        /// Power-delay profile by its name: delays and mean powers of the paths.
        pub profile: Profile = Profile::Flat,
        /// User-defined paths, which replace the named profile.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub taps: Vec<Tap>,
        /// Speed of the user, which determines the rate of fading.
        pub speed: Speed = Speed::from_kmh(3),
    }
}

impl Checked for Fading {
    fn check(&self, check: &mut Check) {
        check.range("mean_snr_db", self.mean_snr_db, -200.0..=200.0);
        check_speed(self.speed, check);
        check_taps(&self.taps, check);
        check.idle(!self.taps.is_empty(), &keys!(self; profile), BY_TAPS);
    }
}

/// Above 500 km/h the channel would change within a TTI.
pub fn check_speed(speed: Speed, check: &mut Check) {
    check.require(speed <= Speed::from_kmh(500), "speed", || {
        format!(
            "{speed} is out of range, as the channel would change within a TTI; expected at most 500 km/h"
        )
    });
}

/// Explanation for users who set a named profile and user-defined taps together: the taps replace
/// the profile.
pub const BY_TAPS: &str = "the paths are those of `taps`";

impl ChannelParams for Fading {
    fn facts(&self) -> ChannelFacts {
        ChannelFacts { fades: true, ..ChannelFacts::default() }
    }
}

impl Fading {
    pub fn build(&self, id: u64, streams: &Streams, numerology: Numerology) -> Fader {
        Fader {
            mean: from_db(self.mean_snr_db),
            paths: Paths::new(self.profile, &self.taps, self.speed, id, streams, numerology),
        }
    }
}

#[derive(Debug)]
pub struct Fader {
    mean: f32,
    paths: Paths,
}

impl Fader {
    /// Per chip: the mean SNR times the sum of the paths' power gains.
    pub fn snr(&mut self, sequence: &JakesSequence, tti: u64) -> f32 {
        self.mean * self.paths.gains(sequence, tti, |gains| gains.iter().sum::<f32>())
    }
}
